import { type Clock, sleepFor } from "../../core/clock.ts";
import {
  EVENT_BEAT_MS,
  EVENT_CHUNK_LENGTH,
  EVENT_LOG_LENGTH_MAX,
  EVENT_STREAM_BEATS,
  EVENT_STREAM_QUEUE_MAX,
} from "./limits.ts";
import { beatText, type EventMessage, isWanted, type ResetReason, resetText, type WantedEvents } from "./messages.ts";

/** What an {@link EventReader} needs of the streams that it is one of. */
export interface EventReaderOptions {
  readonly clock: Clock;
  readonly wanted: WantedEvents;
  /** The position after the newest event. */
  readonly position: () => string;
  /** What is sent first. */
  readonly opening: string;
  /** Aborted when the client is gone, where the runtime says so. */
  readonly signal: AbortSignal;
  /** Called once, when the stream has ended. */
  readonly onEnd: (reader: EventReader) => void;
}

/**
 * One stream: what waits for a client to read it, and the body that the client reads.
 *
 * The body is pulled: nothing is made into bytes before the client asks for more, so that a slow client costs a bounded
 * queue. In Workers, a request may do nothing for another one but resolve a promise that the other one awaits. So
 * `push` and `end` only note what is to be done, and wake the reader; the rest happens where the reader's own request
 * goes on.
 */
export class EventReader {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: EventReaderOptions;
  readonly #life = new AbortController();
  readonly #encoder = new TextEncoder();
  #queue: { readonly text: string; readonly isEvent: boolean }[] = [];
  #eventCount = 0;
  #length = 0;
  #isBeatDue = false;
  #hasEnded = false;
  #isCancelled = false;
  #aliveAt: number;
  #wake: (() => void) | null = null;

  constructor(options: EventReaderOptions) {
    this.#options = options;
    this.#aliveAt = options.clock.now();
    this.#add(options.opening, false);
    // No chunk is made ahead, because the queue is here.
    this.body = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#cancel() },
      { highWaterMark: 0 },
    );
    options.signal.addEventListener("abort", this.#leave, { once: true });
    void this.#live();
  }

  /** Whether the stream has given no heartbeat for so long that its request must be gone: Workers end the timers of
   *  a request with the request, and tell nobody. */
  get isDead(): boolean {
    return this.#options.clock.now() > this.#aliveAt + 3 * EVENT_BEAT_MS;
  }

  /** Sends an event, if the reader wants it. Never waits. */
  push({ record, text }: EventMessage): void {
    if (this.#hasEnded || !isWanted(record, this.#options.wanted)) return;
    this.#add(text, true);
    if (this.#eventCount > EVENT_STREAM_QUEUE_MAX || this.#length > EVENT_LOG_LENGTH_MAX) {
      this.reset("slow");
    }
    this.#notify();
  }

  /** Tells the client to read the present state anew, in the place of what waits. Never waits. */
  reset(reason: ResetReason): void {
    if (this.#hasEnded) return;
    this.#drop();
    this.#add(resetText(reason, this.#options.position()), false);
    this.#notify();
  }

  /** Ends the stream once the client has read what waits. Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.onEnd(this);
    this.#notify();
  }

  /** Wakes the reader once: Workers warn of each promise of a request that is gone. */
  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** The client is gone, or must come again. Called by the stream's own request alone. */
  readonly #leave = (): void => {
    this.#drop();
    this.end();
    this.#rest();
  };

  #cancel(): void {
    this.#isCancelled = true;
    this.#leave();
  }

  /** Lets go of what would keep the stream's request busy. */
  #rest(): void {
    this.#options.signal.removeEventListener("abort", this.#leave);
    this.#life.abort();
  }

  async #live(): Promise<void> {
    const { clock } = this.#options;
    for (let beat = 1; !this.#hasEnded; beat++) {
      await sleepFor(clock, EVENT_BEAT_MS, this.#life.signal);
      this.#aliveAt = clock.now();
      if (beat === EVENT_STREAM_BEATS) return this.#leave();
      this.#isBeatDue = true;
      this.#notify();
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#queue.length === 0 && !this.#isBeatDue && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isCancelled) return;
    if (this.#queue.length > 0) {
      controller.enqueue(this.#encoder.encode(this.#take()));
    } else if (this.#hasEnded) {
      this.#rest();
      controller.close();
    } else {
      controller.enqueue(this.#encoder.encode(beatText(this.#options.position())));
    }
    this.#isBeatDue = false;
  }

  #add(text: string, isEvent: boolean): void {
    this.#queue.push({ text, isEvent });
    this.#length += text.length;
    if (isEvent) this.#eventCount++;
  }

  /** The next piece of what waits. */
  #take(): string {
    let count = 0;
    let chunk = "";
    for (const { text, isEvent } of this.#queue) {
      if (count > 0 && chunk.length + text.length > EVENT_CHUNK_LENGTH) break;
      chunk += text;
      count++;
      if (isEvent) this.#eventCount--;
    }
    this.#queue = this.#queue.slice(count);
    this.#length -= chunk.length;
    return chunk;
  }

  #drop(): void {
    this.#queue = [];
    this.#length = 0;
    this.#eventCount = 0;
  }
}
