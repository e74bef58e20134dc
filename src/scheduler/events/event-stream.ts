import type { EventType } from "../../records/events.ts";
import { EVENT_BUFFER_MAX } from "./limits.ts";
import type { SchedulerEvent } from "./scheduler-event.ts";

/** What an {@link EventStream} reports to the hub that made it. */
export interface EventStreamOptions {
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void;
  /** Called with the number of events that were dropped since the last call. */
  readonly onDropped: (count: number) => void;
}

/** Events as an async iteration. Each event is kept until the reader asks for it. A reader that falls too far behind
 *  loses the oldest events, because memory is finite and the scheduler never waits for a reader. */
export class EventStream<T extends EventType> implements AsyncIterableIterator<SchedulerEvent<T>> {
  readonly #options: EventStreamOptions;
  readonly #buffer: SchedulerEvent<T>[] = [];
  readonly #waiting: Waiter<T>[] = [];
  #hasEnded = false;
  #failure: { readonly reason: unknown } | null = null;
  #dropped = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  push(event: SchedulerEvent<T>): void {
    const waiter = this.#waiting.shift();
    if (waiter !== undefined) {
      waiter.resolve({ value: event, done: false });
      return;
    }
    this.#buffer.push(event);
    if (this.#buffer.length <= EVENT_BUFFER_MAX) return;
    this.#buffer.shift();
    this.#dropped++;
  }

  /** Ends the stream: no more events come, but events that are kept may still be read. Idempotent.
   *  @param failure what the reader's next question rejects with after those. Default: the stream ends as planned */
  end(failure?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.onEnd();
    const waiting = this.#waiting.splice(0);
    if (failure !== undefined && waiting.length === 0) this.#failure = { reason: failure };
    for (const { resolve, reject } of waiting) {
      if (failure === undefined) resolve({ value: undefined, done: true });
      else reject(failure);
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<SchedulerEvent<T>>> {
    if (this.#dropped > 0) this.#options.onDropped(this.#dropped);
    this.#dropped = 0;
    const event = this.#buffer.shift();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    if (this.#hasEnded) return this.#ended();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #ended(): Promise<IteratorResult<SchedulerEvent<T>>> {
    const failure = this.#failure;
    this.#failure = null;
    return failure === null ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(failure.reason);
  }

  return(): Promise<IteratorResult<SchedulerEvent<T>>> {
    this.end();
    this.#buffer.length = 0;
    return Promise.resolve({ value: undefined, done: true });
  }
}

interface Waiter<T extends EventType> {
  readonly resolve: (result: IteratorResult<SchedulerEvent<T>>) => void;
  readonly reject: (reason: unknown) => void;
}
