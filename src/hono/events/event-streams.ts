import { type Clock, systemClock } from "../../core/clock.ts";
import { EVENT_KEPT_MS, EVENT_RETRY_MS, EVENT_STREAMS_MAX } from "../../core/limits.ts";
import { problemResponse } from "../../core/problem.ts";
import type { EventType } from "../../records/events.ts";
import type { Subscription } from "../../scheduler/events/event-hub.ts";
import type { SchedulerEvent } from "../../scheduler/events/scheduler-event.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import { EventLog } from "./event-log.ts";
import { EventReader } from "./event-reader.ts";
import { openingText, resetText } from "./messages.ts";

/** Options of {@link EventStreams}. */
export interface EventStreamsOptions {
  /** Streams at a time; whoever comes then gets 503. Default: 200. */
  readonly maxStreams?: number | undefined;
  /** Default: the host's clock. */
  readonly clock?: Clock | undefined;
}

/**
 * The events of a scheduler as Server-Sent Events, for many clients at a time.
 *
 * The scheduler is listened to from the first stream on, by one listener for all streams. An event becomes text once,
 * and all streams share the text. When the scheduler stops, all streams end. Clients that come again after the next
 * start are told to read the present state anew, because nobody knows what they have missed.
 */
export class EventStreams {
  readonly #client: SchedulerClient;
  readonly #clock: Clock;
  readonly #maxStreams: number;
  readonly #readers = new Set<EventReader>();
  #subscription: Subscription | null = null;
  #log: EventLog = new EventLog();
  #lastEndMs = 0;

  constructor(client: SchedulerClient, { maxStreams = EVENT_STREAMS_MAX, clock = systemClock }: EventStreamsOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#maxStreams = maxStreams;
  }

  /** How many streams are open. */
  get size(): number {
    return this.#readers.size;
  }

  /**
   * Answers a request for events with a stream that begins now, or after the position in `Last-Event-ID`. The answer is
   * 503 while there are as many streams as there may be.
   * @param options.types the types of the events. Default: all
   * @throws {SchedulerStateError} when the scheduler has stopped
   */
  answer(request: Request, { types = null }: { readonly types?: readonly EventType[] | null } = {}): Response {
    // Nobody reads the body of an answer to HEAD, so that a stream would stay open.
    if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
    for (const reader of this.#readers) if (reader.isDead) reader.end();
    if (this.#readers.size >= this.#maxStreams) {
      return problemResponse(503, "tooManyStreams", {
        detail: `there are ${this.#maxStreams} streams of events already; close some, or come again later`,
        headers: { "retry-after": String(RETRY_AFTER_S) },
      });
    }
    this.#listen();
    return new Response(this.#open(request, types).body, { headers: HEADERS });
  }

  /** Ends all streams, and listens to the scheduler no more, until the next stream. Idempotent. */
  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = null;
    for (const reader of this.#readers) reader.end();
  }

  #open(request: Request, types: readonly EventType[] | null): EventReader {
    const { headers, signal } = request;
    const brought = headers.get("last-event-id") ?? "";
    const log = this.#log;
    const missed = brought === "" ? [] : log.after(brought);
    const isLost = missed === null;
    const reader = new EventReader({
      clock: this.#clock,
      types: types === null ? null : new Set(types),
      position: () => log.position,
      opening: openingText(brought === "" ? log.position : null) + (isLost ? resetText("lost", log.position) : ""),
      signal,
      onEnd: (ended) => {
        this.#readers.delete(ended);
        this.#lastEndMs = this.#clock.now();
      },
    });
    this.#readers.add(reader);
    for (const message of missed ?? []) reader.push(message);
    if (signal.aborted) reader.end();
    return reader;
  }

  #listen(): void {
    if (this.#subscription !== null) return;
    this.#subscription = this.#client.subscribe(null, (event) => this.#publish(event));
    this.#log = new EventLog();
  }

  #publish(event: SchedulerEvent): void {
    // Whoever was here would have come again by now.
    if (this.#readers.size === 0 && this.#clock.now() > this.#lastEndMs + EVENT_KEPT_MS) {
      this.close();
      return;
    }
    const message = this.#log.add(event);
    for (const reader of this.#readers) reader.push(message);
    if (event.type === "schedulerStopped" && event.schedulerId === this.#client.identity) this.close();
  }
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // A proxy that compresses or collects would hold events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

const RETRY_AFTER_S = Math.ceil((5 * EVENT_RETRY_MS) / 1000);
