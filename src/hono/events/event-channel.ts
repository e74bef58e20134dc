import type { Clock } from "../../core/clock.ts";
import type { Subscription } from "../../scheduler/events/event-hub.ts";
import type { SchedulerEvent } from "../../scheduler/events/scheduler-event.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import { EventLog } from "./event-log.ts";
import { EventReader } from "./event-reader.ts";
import { EVENT_KEPT_MS } from "./limits.ts";
import { openingText, resetText, type WantedEvents } from "./messages.ts";

/**
 * The streams of one scheduler. The scheduler is listened to from the first stream on, by one listener for all streams.
 * An event becomes text once, and all streams share the text.
 *
 * When the scheduler stops, all streams end. Clients that come again after the next start are told to read the present
 * state anew, because nobody knows what they have missed.
 */
export class EventChannel {
  readonly #client: SchedulerClient;
  readonly #clock: Clock;
  readonly #readers = new Set<EventReader>();
  #subscription: Subscription | null = null;
  /** Made with the subscription, because Workers draw no random numbers before the first request. */
  #log: EventLog | null = null;
  #lastEndMs = 0;

  constructor(client: SchedulerClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A stream that begins now, or after the position in `Last-Event-ID`. @param onEnd called once, when it has ended
   *  @throws {SchedulerStateError} when the scheduler has stopped */
  open({ headers, signal }: Request, wanted: WantedEvents, onEnd: (reader: EventReader) => void): EventReader {
    const log = this.#listen();
    const brought = headers.get("last-event-id") ?? "";
    const missed = brought === "" ? [] : log.after(brought);
    const reset = missed === null ? resetText("lost", log.position) : "";
    const reader = new EventReader({
      clock: this.#clock,
      wanted,
      position: () => log.position,
      opening: openingText(brought === "" ? log.position : null) + reset,
      signal,
      onEnd: (ended) => {
        this.#readers.delete(ended);
        this.#lastEndMs = this.#clock.now();
        onEnd(ended);
      },
    });
    this.#readers.add(reader);
    for (const message of missed ?? []) reader.push(message);
    return reader;
  }

  /** Ends all streams, and listens to the scheduler no more, until the next stream. Idempotent. */
  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = null;
    this.#log = null;
    for (const reader of this.#readers) reader.end();
  }

  #listen(): EventLog {
    if (this.#log !== null) return this.#log;
    const log = new EventLog();
    const onGap = (): void => {
      log.forget();
      for (const reader of this.#readers) reader.reset("lost");
    };
    this.#subscription = this.#client.subscribe(null, (event) => this.#publish(event, log), {
      onGap,
      onStop: () => this.close(),
    });
    this.#log = log;
    return log;
  }

  #publish(event: SchedulerEvent, log: EventLog): void {
    // Whoever was here would have come again by now.
    if (this.#readers.size === 0 && this.#clock.now() > this.#lastEndMs + EVENT_KEPT_MS) {
      this.close();
      return;
    }
    const message = log.add(event);
    for (const reader of this.#readers) {
      if (reader.isDead) reader.end();
      else reader.push(message);
    }
  }
}
