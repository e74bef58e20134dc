import { type Clock, systemClock } from "../../core/clock.ts";
import { problemResponse } from "../../core/problem.ts";
import type { SchedulerClient } from "../../scheduler/scheduler-client.ts";
import { EventChannel } from "./event-channel.ts";
import type { EventReader } from "./event-reader.ts";
import { EVENT_RETRY_MS, EVENT_STREAMS_MAX } from "./limits.ts";
import type { WantedEvents } from "./messages.ts";

/** Options of {@link EventStreams}. */
export interface EventStreamsOptions {
  /** Streams at a time; whoever comes then gets 503. Default: 200. */
  readonly maxStreams?: number | undefined;
  /** Default: the host's clock. */
  readonly clock?: Clock | undefined;
}

/** The events of schedulers as Server-Sent Events, for many clients at a time. */
export class EventStreams {
  readonly #clock: Clock;
  readonly #maxStreams: number;
  readonly #readers = new Set<EventReader>();
  #isClosed = false;
  /** Weak, because a program may make a scheduler for each request. */
  readonly #channels = new WeakMap<SchedulerClient, EventChannel>();

  constructor({ maxStreams = EVENT_STREAMS_MAX, clock = systemClock }: EventStreamsOptions = {}) {
    this.#clock = clock;
    this.#maxStreams = maxStreams;
  }

  /** Ends all streams, once their clients have read what waits, and opens no more. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.end();
  }

  /** How many streams are open. */
  get size(): number {
    return this.#readers.size;
  }

  /**
   * Answers a request for the events of a scheduler with a stream that begins now, or after the position in
   * `Last-Event-ID`. The answer is 503 while there are as many streams as there may be.
   * @param wanted which events. Default: all
   * @throws {SchedulerStateError} when the scheduler has stopped
   */
  answer(client: SchedulerClient, request: Request, wanted: WantedEvents = {}): Response {
    // Nobody reads the body of an answer to HEAD, so that a stream would stay open.
    if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
    for (const reader of this.#readers) if (reader.isDead) reader.end();
    if (this.#isClosed) return problemResponse(503, "routerClosed", { detail: "the router was closed" });
    if (this.#readers.size >= this.#maxStreams) {
      return problemResponse(503, "tooManyStreams", {
        detail: `there are ${this.#maxStreams} streams of events already; close some, or come again later`,
        headers: { "retry-after": String(RETRY_AFTER_S) },
      });
    }
    const channel = this.#channels.get(client) ?? new EventChannel(client, this.#clock);
    this.#channels.set(client, channel);
    const reader = channel.open(request, wanted, (ended) => this.#readers.delete(ended));
    this.#readers.add(reader);
    if (request.signal.aborted) reader.end();
    return new Response(reader.body, { headers: HEADERS });
  }
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // A proxy that compresses or collects would hold events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

const RETRY_AFTER_S = Math.ceil((5 * EVENT_RETRY_MS) / 1000);
