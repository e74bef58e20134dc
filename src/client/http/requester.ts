import * as v from "valibot";
import { type Clock, sleepFor } from "../../core/clock.ts";
import {
  DeserializationError,
  EscapementError,
  SchedulerStateError,
  StoreUnavailableError,
} from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import type { RetryPolicy } from "../../records/policies.ts";
import { type AbortSource, ClientEnd, throwIfAborted } from "./closing.ts";
import { errorOf } from "./problem.ts";
import type { Sending, Transport } from "./transport.ts";

/** What is asked of a router. */
export interface RouterRequest extends Pick<Sending, "method"> {
  readonly path: string;
  /** Entries that are undefined or null are left out. */
  readonly query?: Readonly<Record<string, QueryValue | readonly string[] | null | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The id that the call is about, for errors. */
  readonly about?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether the call may be made once more when its answer was lost. Default: true. */
  readonly isRepeatable?: boolean;
  /** Whether the call ends what it is about, so that a repetition does not find it any more. Default: true for
   *  DELETE. */
  readonly isRemoval?: boolean;
  /** How long the router may take beyond the usual time, in milliseconds. */
  readonly waitMs?: number;
  /** How long the call is repeated: a `short` one asks five times at most, because whoever asks wants an answer soon;
   *  an `endless` one goes on until its signal or the client ends it. Default: as the options say. */
  readonly patience?: "short" | "endless";
}

/** What a router answered, other than an error. */
export interface RouterAnswer {
  readonly status: number;
  /** What the body is as JSON; null for none. */
  readonly body: unknown;
  /** What the answer asks to wait, in milliseconds; null for nothing. */
  readonly retryAfterMs: number | null;
}

/** How a {@link Requester} works. */
export interface RequesterOptions {
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Resolves when writes may be sent: a client that listens hears of what it does. */
  readonly mayWrite: () => Promise<void>;
}

/** Longest pause that an answer may ask for, in milliseconds. When it asks for a longer one, the call fails. */
const RETRY_AFTER_MS_MAX = 60_000;

/** Most attempts of a call that wants an answer soon. */
const SHORT_ATTEMPTS_MAX = 5;

/** Shortest pause of an endless call once it has used up the attempts of the options, in milliseconds. The options may
 *  have no pauses at all. */
const ENDLESS_PAUSE_MS_MIN = 1000;

/** Statuses after which the same call may succeed. */
const PASSING: readonly number[] = [408, 425, 429, 502, 503, 504];

/** The codes of errors that say that what a call is about does not exist. */
const LOOKUPS: readonly string[] = ["scheduleLookup", "taskLookup", "jobLookup"];

/** Makes calls, and repeats those that may be repeated when they fail for a reason that passes. */
export class Requester {
  readonly #transport: Transport;
  readonly #options: RequesterOptions;
  readonly #closing = new ClientEnd();

  constructor(transport: Transport, options: RequesterOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** How long a call and its repetitions take at most, in milliseconds. */
  get repetitionMs(): number {
    const { retry, timeoutMs } = this.#options;
    return retry.maxAttempts * (timeoutMs + Math.max(retry.backoff.maxMs, RETRY_AFTER_MS_MAX));
  }

  /** Ends all calls, and refuses further ones. */
  close(): void {
    this.#closing.close(new SchedulerStateError(`the client of ${this.#transport.url} is closed`));
  }

  /** @throws what the router answered as a problem @throws {StoreUnavailableError} @throws the signal's reason */
  async call(call: RouterRequest): Promise<RouterAnswer> {
    const { retry, mayWrite } = this.#options;
    const { signal, isRepeatable = true, isRemoval = call.method === "DELETE", patience } = call;
    const maxAttempts = patience === "short" ? Math.min(SHORT_ATTEMPTS_MAX, retry.maxAttempts) : retry.maxAttempts;
    const isEndless = patience === "endless";
    if (call.method !== "GET") await mayWrite();
    for (let tries = 1; ; tries++) {
      throwIfAborted(this.#closing);
      throwIfAborted(signal);
      const outcome = await this.#try(call);
      if (!("error" in outcome)) return outcome;
      const { error, passes, retryAfterMs } = outcome;
      // Somebody has removed what this call was to remove: most likely this call itself, whose answer was lost.
      if (isRemoval && tries > 1 && isLookup(error)) return { status: 204, body: null, retryAfterMs };
      const isLast = tries >= maxAttempts || (retryAfterMs ?? 0) > RETRY_AFTER_MS_MAX;
      if (!passes || !isRepeatable || (isLast && !isEndless)) throw error;
      if (isEndless && tries === maxAttempts) this.#tellOfOutage(call, error);
      await this.pause(this.#pauseMs(tries, retryAfterMs ?? 0), signal);
    }
  }

  #tellOfOutage(call: RouterRequest, error: unknown): void {
    this.#options.logger.warn(`escapement: ${nameOf(call)} fails, and is made again until it is answered`, error);
  }

  /** @param tries how many attempts have failed @param askedMs the pause that the router asks for, in milliseconds */
  #pauseMs(tries: number, askedMs: number): number {
    const { retry, random } = this.#options;
    const leastMs = tries >= retry.maxAttempts ? ENDLESS_PAUSE_MS_MIN : 0;
    return Math.max(leastMs, Math.min(askedMs, RETRY_AFTER_MS_MAX), backoffMs(retry.backoff, tries, random));
  }

  /** The answer to a call, read by a schema. @throws {DeserializationError} for an answer of another form */
  async read<T>(call: RouterRequest, schema: v.GenericSchema<unknown, T>): Promise<T> {
    const { body } = await this.call(call);
    return this.parse(call, body, schema);
  }

  /** The body of an answer, read by a schema. */
  parse<T>(call: RouterRequest, body: unknown, schema: v.GenericSchema<unknown, T>): T {
    const result = v.safeParse(schema, body, { abortEarly: true });
    if (result.success) return result.output;
    const [issue] = result.issues;
    const path = v.getDotPath(issue) ?? "";
    throw new DeserializationError(
      `the answer to ${nameOf(call)} is not what a router of this version sends: ${path === "" ? "" : `${path}: `}` +
        `${issue.message}; is ${this.#transport.url} the address that a router is mounted at?`,
    );
  }

  /** Waits, until the client is closed at most. @throws the signal's reason */
  async pause(durationMs: number, signal?: AbortSignal): Promise<void> {
    const wakeUp = new AbortController();
    const wake = (): void => wakeUp.abort();
    const signals: AbortSource[] = [this.#closing, ...(signal === undefined ? [] : [signal])];
    for (const one of signals) one.addEventListener("abort", wake, { once: true });
    if (durationMs > 0 && signals.every(({ aborted }) => !aborted)) {
      await sleepFor(this.#options.clock, durationMs, wakeUp.signal);
    }
    for (const one of signals) one.removeEventListener("abort", wake);
    for (const one of signals) throwIfAborted(one);
  }

  async #try(call: RouterRequest): Promise<RouterAnswer | CallFailure> {
    const { method, body, headers = {}, signal, waitMs = 0 } = call;
    const sending: Sending = {
      method,
      path: `${call.path}${queryText(call.query)}`,
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const signals = [signal, this.#closing];
    try {
      const { response, text } = await this.#transport.send(sending, this.#options.timeoutMs + waitMs, signals);
      const { status } = response;
      const retryAfterMs = retryAfterOf(response, this.#options.clock);
      if (status >= 200 && status < 300) return { status, body: jsonOf(text, response, call), retryAfterMs };
      const error = errorOf(status, text, call.about ?? "", nameOf(call));
      return { error, passes: PASSING.includes(status), retryAfterMs };
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      return { error, passes: true, retryAfterMs: null };
    }
  }
}

/** Why a call failed, and whether the reason passes. */
interface CallFailure {
  readonly error: unknown;
  readonly passes: boolean;
  readonly retryAfterMs: number | null;
}

/** Exponential, with "full jitter", as for jobs. */
function backoffMs(backoff: RetryPolicy["backoff"], tries: number, random: RandomSource): number {
  const { initialMs, factor, maxMs, jitter } = backoff;
  const pause = Math.min(maxMs, initialMs === 0 ? 0 : initialMs * factor ** (tries - 1));
  return Math.round(jitter === "full" ? random() * pause : pause);
}

function isLookup(error: unknown): boolean {
  return error instanceof EscapementError && LOOKUPS.includes(error.code);
}

/** What `Retry-After` says: seconds, or a date. */
export function retryAfterOf({ headers }: Response, clock: Clock): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - clock.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** @throws {StoreUnavailableError} for JSON that was cut @throws {DeserializationError} for what never was JSON */
function jsonOf(text: string, { headers }: Response, call: RouterRequest): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A connection that ends each answer by closing itself does not tell an end from a loss.
    if (/^application\/json\b/i.test(headers.get("content-type") ?? "")) {
      throw new StoreUnavailableError(`the answer to ${nameOf(call)} was cut off`, { cause });
    }
    throw new DeserializationError(`the answer to ${nameOf(call)} is not JSON; is url the address of a router?`, {
      cause,
    });
  }
}

type QueryValue = string | number | boolean;

function queryText(query: RouterRequest["query"] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

function nameOf({ method, path }: RouterRequest): string {
  return `${method} ${path}`;
}
