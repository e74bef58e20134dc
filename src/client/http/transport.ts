import { OptionsError, StoreUnavailableError } from "../../core/errors.ts";
import { mustBe } from "../../core/option-errors.ts";
import type { AbortSource } from "./closing.ts";
import { LinkedSignal } from "./linked-signal.ts";

/** What sends requests. The global `fetch` fits, and so do `router.fetch` and a service binding of Workers. */
export type ClientFetch = (request: Request) => Response | Promise<Response>;

/** A token that a header can carry. A line break at the end comes from a file. */
const TOKEN = /^\s*[!-~]+\s*$/;

export function isToken(value: unknown): value is string {
  return typeof value === "string" && TOKEN.test(value);
}

/** What a value that is no token must be. It does not show the value, which may be nearly one. */
export function mustBeToken(value: unknown): string {
  return mustBe("text that a header can carry: ASCII without spaces", value, value === "" ? "" : "token");
}

/** Longest time-out of a request, in milliseconds: timers of hosts overflow at 2^31 ms, which is 24.8 days. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/** Where requests go, and what they carry. */
export interface TransportOptions {
  /** The address that the router is mounted at, without a slash at its end. */
  readonly url: string;
  readonly token: string | (() => string | Promise<string>) | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: ClientFetch | null;
}

/** One request. */
export interface Sending {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its query; ids in it are encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Sends requests to a router, with the token. */
export class Transport {
  readonly url: string;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.url = options.url;
    this.#options = options;
  }

  /** The answer to a request, whose body is not read yet. @throws {StoreUnavailableError} when there is none
   *  @throws the signal's reason */
  async open(sending: Sending, signal: AbortSignal): Promise<Response> {
    const { method, path, headers, body } = sending;
    const request = new Request(`${this.url}${path}`, {
      method,
      headers: { accept: "application/json", ...this.#options.headers, ...(await this.#authorization()), ...headers },
      // The token must not go to an address that an answer names.
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    signal.throwIfAborted();
    try {
      return await unlessAborted(this.#fetch(request), signal);
    } catch (cause) {
      throw failureOf(this.url, cause, signal);
    }
  }

  /** Sends a request and reads its answer to the end.
   *  @param timeoutMs how long that may take, in milliseconds
   *  @throws {StoreUnavailableError} @throws the signal's reason */
  async send(
    sending: Sending,
    timeoutMs: number,
    signals: readonly (AbortSource | undefined)[],
  ): Promise<{ response: Response; text: string }> {
    const timeout = AbortSignal.timeout(Math.min(timeoutMs, TIMEOUT_MS_MAX));
    const linked = new LinkedSignal([...signals, timeout]);
    try {
      const response = await this.open(sending, linked.signal);
      return { response, text: await unlessAborted(response.text(), linked.signal) };
    } catch (error) {
      if (signals.some((signal) => signal?.aborted === true)) throw error;
      if (error instanceof StoreUnavailableError || error instanceof OptionsError) throw error;
      if (!timeout.aborted) throw failureOf(this.url, error, linked.signal);
      throw new StoreUnavailableError(`${this.url} has not answered within ${timeoutMs} ms`, { cause: error });
    } finally {
      linked.unlink();
    }
  }

  async #authorization(): Promise<Record<string, string>> {
    const { token } = this.#options;
    if (token === null) return {};
    return { authorization: `Bearer ${typeof token === "function" ? await this.#told(token) : token}` };
  }

  /** @throws {StoreUnavailableError} when the function fails, because it may have asked a server for the token
   *  @throws {OptionsError} for what is no token */
  async #told(token: () => string | Promise<string>): Promise<string> {
    let value: unknown;
    try {
      value = await token();
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new StoreUnavailableError(`the function token of connect() failed: ${reason}`, { cause });
    }
    if (isToken(value)) return value.trim();
    // Headers would refuse it with a message that shows it.
    const message = `must tell ${mustBeToken(value).replace(/^must be /, "")}`;
    throw new OptionsError(`connect(): token ${message}`, [{ path: "token", message }]);
  }

  async #fetch(request: Request): Promise<Response> {
    // The global one is looked up for each request, because tracers and tests replace it.
    const { fetch: ask = null } = this.#options;
    return ask === null ? fetch(request) : ask(request);
  }
}

/** What a promise settles to, unless the signal is aborted earlier. A `fetch` that a program brings may ignore its
 *  signal. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function failureOf(url: string, cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const reason = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause : cause).message : String(cause);
  return new StoreUnavailableError(`${url} cannot be reached: ${reason}`, { cause });
}
