import type { EventBroker, Unsubscribe } from "../../brokers/event-broker.ts";
import type { AbortSignal } from "../../core/abort-signal.ts";
import { OptionsError } from "../../core/errors.ts";
import { isThenable, type Logger } from "../../core/logger.ts";
import { listOf, mustBe, optionError, shown } from "../../core/option-errors.ts";
import { didYouMean } from "../../core/suggest.ts";
import { EVENT_TYPES, type EventRecord, type EventType } from "../../records/events.ts";
import { EventStream } from "./event-stream.ts";
import { type SchedulerEvent, toEvent } from "./scheduler-event.ts";

/** A subscription to events. `unsubscribe` ends it, and so does the end of the block where it was declared with
 *  `using`. */
export interface Subscription extends Disposable {
  /** Ends the subscription: its listener is not called any more. Idempotent. */
  readonly unsubscribe: () => void;
}

/** Which events to receive: those of one type (`"jobReleased"`), of several types (`["jobAdded", "jobReleased"]`), or
 *  of all types (null). */
export type EventFilter<T extends EventType> = T | readonly T[] | null;

/** Options of {@link EventHub.subscribe}. */
export interface SubscribeOptions {
  /** Call the listener for the first event only. Default: false */
  once?: boolean | undefined;
  /** Called each time that events may have been missed, because the event broker had lost its connection and has it
   *  again. Whoever shows a state that events keep up to date reads that state anew. Default: nobody is told */
  onGap?: (() => unknown) | undefined;
  /** Called each time that the scheduler stops, after its last event. Default: nobody is told */
  onStop?: (() => unknown) | undefined;
}

/** What a hub needs of a broker. */
type HubBroker = Pick<EventBroker, "publish" | "subscribe" | "onGap">;

/** Options of {@link EventHub.events}. */
export interface EventsOptions {
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
  /** Called when a slow reader lets the buffer (10,000 events) run over, with the number of events that were dropped
   *  since the last call. The oldest events are dropped first. Default: a warning in the log. */
  onDropped?: ((count: number) => void) | undefined;
}

/** The listeners of one scheduler, behind one subscription to the broker. */
export class EventHub {
  readonly #broker: HubBroker;
  readonly #logger: Logger;
  readonly #onInterest: () => void;
  readonly #byType = new Map<EventType, Set<(event: SchedulerEvent) => void>>();
  readonly #watchers = new Map<EventType, (record: EventRecord) => void>();
  readonly #closeListeners = new Set<(reason: unknown) => void>();
  readonly #gapListeners = new Set<() => unknown>();
  /** What the scheduler itself does after a gap. */
  #gapWatcher: (() => void) | null = null;
  /** Ends what the hub has of the broker; empty while the hub is closed. */
  #unsubscribes: Unsubscribe[] = [];
  /** The numbers of the calls that publish at present. */
  readonly #publishing = new Set<number>();
  #publishCount = 0;
  #failuresInRow = 0;
  #whenPublished: { readonly after: number; readonly resolve: () => void }[] = [];

  /** @param onInterest called when {@link types} may have changed */
  constructor(broker: HubBroker, logger: Logger, onInterest: () => void = () => {}) {
    this.#broker = broker;
    this.#logger = logger;
    this.#onInterest = onInterest;
  }

  /** The types of events that somebody listens to. */
  get types(): EventType[] {
    return [...this.#byType].filter(([, listeners]) => listeners.size > 0).map(([type]) => type);
  }

  /** Starts to receive. Idempotent. */
  open(): void {
    if (this.#unsubscribes.length > 0) return;
    // A broker may still deliver what was under way when the hub was closed, or fail to unsubscribe.
    const isOpen = (): boolean => this.#unsubscribes === unsubscribes;
    const unsubscribes = [
      this.#broker.subscribe((record) => {
        if (isOpen()) this.#dispatch(record);
      }),
    ];
    this.#unsubscribes = unsubscribes;
    const endGaps = this.#broker.onGap?.(() => {
      if (isOpen()) this.missed();
    });
    if (endGaps !== undefined) unsubscribes.push(endGaps);
  }

  /** Events may have been missed: whoever goes by them is told to look. */
  missed(): void {
    this.#gapWatcher?.();
    for (const listener of [...this.#gapListeners]) this.#call(listener, undefined, "onGap");
  }

  /** Stops to receive, and ends every iteration and wait. Listeners stay, and hear of the next run.
   *  @param failure why events end too early; iterations and waits reject with it. Default: they end as planned */
  close(failure?: unknown): void {
    for (const unsubscribe of this.#unsubscribes.splice(0)) {
      try {
        unsubscribe();
      } catch (error) {
        // Whoever waits for events, and the store, must be told to end all the same.
        this.#logger.warn("escapement: the event broker failed to unsubscribe", error);
      }
    }
    this.#unsubscribes = [];
    for (const listener of [...this.#closeListeners]) listener(failure);
    this.#watchers.clear();
    this.#gapWatcher = null;
  }

  /** Publishes events. A failure of the broker is logged and never reaches the caller; it only delays other
   *  schedulers. */
  publish(events: readonly EventRecord[]): void {
    if (events.length === 0) return;
    const call = ++this.#publishCount;
    this.#publishing.add(call);
    try {
      this.#broker.publish(events).then(
        () => this.#published(call),
        (error: unknown) => this.#notPublished(call, error),
      );
    } catch (error) {
      this.#notPublished(call, error);
    }
  }

  /** A mark for {@link flush}: events that are published from now on come after it. */
  get mark(): number {
    return this.#publishCount;
  }

  /** Resolves when the broker has taken the events that were published so far, or has failed to take them.
   *  @param after a mark: earlier events are not waited for. Whoever published them may be gone */
  async flush(after = 0): Promise<void> {
    if (!this.#isPublishing(after)) return;
    await new Promise<void>((resolve) => this.#whenPublished.push({ after, resolve }));
  }

  #isPublishing(after: number): boolean {
    for (const call of this.#publishing) if (call > after) return true;
    return false;
  }

  /** Sets the function by which the scheduler itself watches the records of a type. There is one watcher per type. */
  watch<T extends EventType>(type: T, watcher: (record: EventRecord<T>) => void): void {
    this.#watchers.set(type, watcher as unknown as (record: EventRecord) => void);
  }

  /** Sets the function by which the scheduler itself looks after what it may have missed. */
  watchGaps(watcher: () => void): void {
    this.#gapWatcher = watcher;
  }

  subscribe<T extends EventType>(
    types: EventFilter<T>,
    listener: (event: SchedulerEvent<T>) => unknown,
    options: SubscribeOptions = {},
  ): Subscription {
    if (typeof listener !== "function") {
      throw new OptionsError("subscribe(types, listener): listener must be a function", [
        { path: "listener", message: "not a function" },
      ]);
    }
    const list = typeList(types);
    const { onGap, onStop } = options;
    // Each subscription gets a function of its own, so that two may share a listener.
    const gapListener = onGap && ((): unknown => onGap());
    const stopListener = onStop && ((): void => this.#call(onStop, undefined, "onStop"));
    const unsubscribe = (): void => {
      for (const type of list) this.#byType.get(type)?.delete(receive);
      if (gapListener !== undefined) this.#gapListeners.delete(gapListener);
      if (stopListener !== undefined) this.#closeListeners.delete(stopListener);
      this.#onInterest();
    };
    const receive = (event: SchedulerEvent): void => {
      if (options.once === true) unsubscribe();
      this.#call(listener, event as unknown as SchedulerEvent<T>, event.type);
    };
    if (gapListener !== undefined) this.#gapListeners.add(gapListener);
    if (stopListener !== undefined) this.#closeListeners.add(stopListener);
    for (const type of list) {
      const listeners = this.#byType.get(type) ?? new Set();
      listeners.add(receive);
      this.#byType.set(type, listeners);
    }
    this.#onInterest();
    return { unsubscribe, [Symbol.dispose]: unsubscribe };
  }

  /** The next event of the given types. Rejects with the signal's reason when the signal is aborted. */
  nextEvent<T extends EventType>(
    types: EventFilter<T>,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<SchedulerEvent<T>> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const end = (): void => {
        subscription.unsubscribe();
        signal?.removeEventListener("abort", abort);
        this.#closeListeners.delete(close);
      };
      const abort = (): void => {
        end();
        reject(signal?.reason);
      };
      const close = (failure: unknown): void => {
        end();
        reject(failure ?? new DOMException("the scheduler stopped", "AbortError"));
      };
      const subscription = this.subscribe(types, (event) => {
        end();
        resolve(event);
      });
      signal?.addEventListener("abort", abort, { once: true });
      this.#closeListeners.add(close);
    });
  }

  /** Events as they come, from this call on, until the signal is aborted, the scheduler stops, or the loop is left. */
  events<T extends EventType>(
    types: EventFilter<T> = null,
    options: EventsOptions = {},
  ): AsyncIterableIterator<SchedulerEvent<T>> {
    const { signal, onDropped } = options;
    const stream = new EventStream<T>({
      onEnd: () => {
        subscription.unsubscribe();
        signal?.removeEventListener("abort", end);
        this.#closeListeners.delete(close);
      },
      onDropped: (count) => this.#reportDropped(onDropped, count),
    });
    const end = (): void => stream.end();
    const close = (failure: unknown): void => stream.end(failure);
    const subscription = this.subscribe(types, (event) => stream.push(event));
    signal?.addEventListener("abort", end, { once: true });
    this.#closeListeners.add(close);
    if (signal?.aborted === true) end();
    return stream;
  }

  #published(call: number): void {
    this.#failuresInRow = 0;
    this.#ended(call);
  }

  /** Logs the first failures in a row, and then ever fewer of them: a broker may be out for hours, and every commit
   *  publishes. */
  #notPublished(call: number, error: unknown): void {
    const count = ++this.#failuresInRow;
    const isPowerOfTwo = (count & (count - 1)) === 0;
    const times = count === 1 ? "" : ` ${count} times in a row`;
    if (isPowerOfTwo) {
      this.#logger.warn(
        `escapement: the event broker failed to publish${times}; other schedulers notice with a delay`,
        error,
      );
    }
    this.#ended(call);
  }

  #ended(call: number): void {
    this.#publishing.delete(call);
    if (this.#whenPublished.length === 0) return;
    const waiting = this.#whenPublished;
    this.#whenPublished = waiting.filter(({ after }) => this.#isPublishing(after));
    for (const { after, resolve } of waiting) if (!this.#isPublishing(after)) resolve();
  }

  #dispatch(record: EventRecord): void {
    this.#watchers.get(record.type)?.(record);
    const listeners = this.#byType.get(record.type);
    if (listeners === undefined || listeners.size === 0) return;
    const event = toEvent(record);
    for (const listener of [...listeners]) listener(event);
  }

  #reportDropped(onDropped: EventsOptions["onDropped"], count: number): void {
    if (onDropped === undefined) {
      this.#logger.warn(`escapement: a slow reader of events() missed ${count} events`);
      return;
    }
    try {
      onDropped(count);
    } catch (error) {
      this.#logger.error("escapement: onDropped of events() failed", error);
    }
  }

  /** A listener's failure is logged and never reaches the scheduler's loops. */
  #call<E>(listener: (event: E) => unknown, event: E, name: string): void {
    const report = (error: unknown): void => this.#logger.error(`escapement: a listener of ${name} failed`, error);
    try {
      const result = listener(event);
      if (isThenable(result)) result.then(undefined, report);
    } catch (error) {
      report(error);
    }
  }
}

function typeList<T extends EventType>(types: EventFilter<T>): readonly EventType[] {
  const list = types === null ? EVENT_TYPES : typeof types === "string" ? [types] : listOf(types, "types");
  if (list === null) throw optionError("types", "", mustBe("an event type, a list of them, or null", types));
  for (const type of list) {
    if (EVENT_TYPES.includes(type)) continue;
    const name: string = typeof type === "string" ? type : "";
    const isEnd = /complete|fail|finish|done|success|error/i.test(name);
    const otherwise = isEnd ? 'did you mean "jobReleased"?' : `there are ${EVENT_TYPES.join(", ")}`;
    const advice = didYouMean(name, EVENT_TYPES, otherwise);
    throw new OptionsError(`there is no event type ${shown(type)}; ${advice}`, [
      { path: "types", message: "unknown event type" },
    ]);
  }
  return list;
}
