import { type Clock, sleepFor } from "../../core/clock.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { EVENT_TYPES, type EventRecord, type EventType } from "../../records/events.ts";
import { errorOf } from "../http/problem.ts";
import { retryAfterOf } from "../http/requester.ts";
import type { Transport } from "../http/transport.ts";
import { eventOf } from "../wire/event.ts";
import { type SseBlock, SseParser } from "./sse-parser.ts";

/** How long a stream may be silent, in milliseconds: routers send a beat every 15 s. */
const SILENCE_MS_MAX = 45_000;

/** A position that a header can bring back. With another one, no request could be made. */
const POSITION = /^[!-~]{1,1024}$/;

/** Why a stream ended. */
export interface StreamFailure {
  readonly error: Error;
  /** Whether the router does not want this client, so that trying again soon is of no use. */
  readonly isRefusal: boolean;
}

/** How one opening of a stream went. */
export interface StreamEnd {
  readonly wasOpen: boolean;
  /** Null where the router ended the stream, as it does from time to time. */
  readonly failure: StreamFailure | null;
  /** The least pause before the next opening that the router asked for, in milliseconds; null for none. */
  readonly retryMs: number | null;
}

/** What is told of a stream besides its events. */
export interface StreamWatcher {
  readonly onOpen: () => void;
  /** Events are lost for good. */
  readonly onReset: () => void;
  readonly onRefused: (reason: string) => void;
}

/** A stream of events of some types, over as many openings as it takes: each goes on where the one before it ended. */
export class EventConnection {
  readonly types: readonly EventType[];
  /** Resolves when the first opening has succeeded or failed. */
  readonly tried: Promise<void>;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #life = new AbortController();
  #endTrial: () => void = () => {};
  #isTried = false;
  /** After the last event that came; null when nothing is known. */
  #position: string | null = null;
  #openedAt: string | null = null;
  /** The position up to which the events of this connection count, where another one takes its place. */
  #limit: string | null = null;
  #retryMs: number | null = null;

  constructor(transport: Transport, clock: Clock, types: readonly EventType[]) {
    this.#transport = transport;
    this.#clock = clock;
    this.types = types;
    this.tried = new Promise((resolve) => {
      this.#endTrial = () => {
        this.#isTried = true;
        resolve();
      };
    });
  }

  /** Where the stream began when it was last opened; null when nothing is known. */
  get openedAt(): string | null {
    return this.#openedAt;
  }
  /** Aborted when nobody wants the stream any more. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }
  get isLeft(): boolean {
    return this.#life.signal.aborted;
  }

  /** Whether {@link tried} has resolved. */
  get isTried(): boolean {
    return this.#isTried;
  }

  covers(types: readonly EventType[]): boolean {
    return types.every((type) => this.types.includes(type));
  }

  leave(): void {
    this.#life.abort();
    this.#endTrial();
  }

  /** Events after a position come from elsewhere. The stream is left as soon as it has come so far. */
  retireAt(position: string | null): void {
    this.#limit = position;
    if (comparedTo(this.#position, position) !== "before") this.leave();
  }

  /** Opens the stream once, and reads it to its end. Never rejects. */
  async run(onEvent: (record: EventRecord) => void, watcher: StreamWatcher): Promise<StreamEnd> {
    const attempt = new AbortController();
    const leave = (): void => attempt.abort();
    this.signal.addEventListener("abort", leave, { once: true });
    this.#openedAt = this.#position;
    let wasOpen = false;
    let refusal: StreamEnd | null = null;
    try {
      const response = await this.#within(this.#open(attempt.signal), attempt);
      if (response.status !== 200 || response.body === null) {
        refusal = await this.#refused(response);
      } else {
        for await (const blocks of this.#blocks(response.body, attempt)) {
          for (const block of blocks) {
            this.#move(block);
            if (!wasOpen) watcher.onOpen();
            wasOpen = true;
            this.#endTrial();
            this.#deliver(block, onEvent, watcher);
          }
        }
      }
      return refusal ?? { wasOpen, failure: null, retryMs: this.#retryMs };
    } catch (cause) {
      const error = cause instanceof Error ? cause : new StoreUnavailableError("the stream of events broke", { cause });
      return { wasOpen, failure: { error, isRefusal: false }, retryMs: this.#retryMs };
    } finally {
      this.signal.removeEventListener("abort", leave);
      attempt.abort();
      this.#endTrial();
    }
  }

  #open(signal: AbortSignal): Promise<Response> {
    const isEverything = this.types.length === EVENT_TYPES.length;
    const path = isEverything ? "/events" : `/events?${new URLSearchParams({ types: this.types.join(",") })}`;
    const position = this.#position;
    const headers = { accept: "text/event-stream", ...(position === null ? {} : { "last-event-id": position }) };
    return this.#transport.open({ method: "GET", path, headers }, signal);
  }

  async #refused(response: Response): Promise<StreamEnd> {
    const { status } = response;
    const error = errorOf(status, await response.text(), "", "GET /events");
    const passes = status >= 500 || status === 408 || status === 429;
    const retryMs = retryAfterOf(response, this.#clock);
    return { wasOpen: false, failure: { error, isRefusal: !passes }, retryMs };
  }

  /** The blocks of a body, piece by piece. */
  async *#blocks(body: ReadableStream<Uint8Array>, attempt: AbortController): AsyncGenerator<SseBlock[]> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const parser = new SseParser();
    try {
      for (;;) {
        const { done, value } = await this.#within(reader.read(), attempt);
        if (done) return;
        yield parser.push(decoder.decode(value, { stream: true }));
      }
    } finally {
      void reader.cancel().catch(() => {});
    }
  }

  #move({ id, retryMs }: SseBlock): void {
    if (id !== null) this.#position = POSITION.test(id) ? id : null;
    this.#openedAt ??= this.#position;
    if (retryMs !== null) this.#retryMs = retryMs;
  }

  #deliver({ event, data }: SseBlock, onEvent: (record: EventRecord) => void, watcher: StreamWatcher): void {
    if (this.isLeft) return;
    const isOver = this.#limit !== null && comparedTo(this.#position, this.#limit) === "after";
    if (event === "reset") watcher.onReset();
    else if (data !== null && !isOver) {
      const record = eventOf(data, watcher.onRefused);
      if (record !== null) onEvent(record);
    }
    if (this.#limit !== null && comparedTo(this.#position, this.#limit) !== "before") this.leave();
  }

  /** What a promise settles to, unless it takes too long, or nobody wants the stream any more. */
  async #within<T>(promise: Promise<T>, attempt: AbortController): Promise<T> {
    const rest = new AbortController();
    const stop = (): void => rest.abort();
    attempt.signal.addEventListener("abort", stop, { once: true });
    const silence = sleepFor(this.#clock, SILENCE_MS_MAX, rest.signal).then(() => {
      attempt.signal.throwIfAborted();
      if (rest.signal.aborted) return new Promise<never>(() => {});
      throw new StoreUnavailableError(`nothing has come for ${SILENCE_MS_MAX} ms`);
    });
    try {
      return await Promise.race([promise, silence]);
    } finally {
      attempt.signal.removeEventListener("abort", stop);
      stop();
    }
  }
}

/** How two positions of a stream, `epoch.seq`, lie. Those of different epochs cannot be compared, because they count
 *  the events of different processes. */
function comparedTo(position: string | null, other: string | null): "before" | "at" | "after" | "unknown" {
  const [epoch, seq] = partsOf(position);
  const [otherEpoch, otherSeq] = partsOf(other);
  if (epoch !== otherEpoch || Number.isNaN(seq) || Number.isNaN(otherSeq)) return "unknown";
  if (seq === otherSeq) return "at";
  return seq < otherSeq ? "before" : "after";
}

function partsOf(position: string | null): [epoch: string, seq: number] {
  const dot = position?.lastIndexOf(".") ?? -1;
  return position === null || dot === -1 ? ["", Number.NaN] : [position.slice(0, dot), Number(position.slice(dot + 1))];
}
