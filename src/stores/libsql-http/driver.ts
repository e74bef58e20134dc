import type { AbortSignal } from "../../core/abort-signal.ts";
import { canParseUrl } from "../../core/can-parse-url.ts";
import { shownUrl } from "../libsql/address.ts";
import { adviceFor, failureKind } from "../libsql/failures.ts";
import type { Row, SqlDriver, SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { batchBody, batchRowsOf, executeBody, HranaError, rowsOf } from "./hrana.ts";

/** What the driver needs of `fetch`. The global one fits, and so does one that is bound to a service. */
export type HttpFetch = (url: string, request: HttpRequest) => Promise<HttpResponse>;

/** What is sent: as much of `RequestInit` as `fetch` needs. */
export interface HttpRequest {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

/** What is answered: as much of a `Response` as the driver reads. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/**
 * Runs statements on a server that speaks Hrana 3 over HTTP: one request for each statement or batch. The driver keeps
 * nothing between requests, so an answer of one request of a Worker is never waited for by another request.
 *
 * A server may name a `base_url` for what follows on the same stream. Here a stream ends with its first request, so
 * nothing follows, and the token never goes to an address that an answer names.
 */
export class HranaHttpDriver implements SqlDriver {
  readonly isLocal = false;
  readonly failureKind: SqlDriver["failureKind"] = failureKind;
  readonly adviceFor: (error: unknown) => string = adviceFor;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #fetch: HttpFetch;
  readonly #timeoutMs: number;

  /** @param url the address of the pipeline */
  constructor(url: string, options: { authToken: string | null; fetch: HttpFetch | null; timeoutMs: number }) {
    this.#url = url;
    this.#headers = { "content-type": "application/json" };
    if (options.authToken !== null) this.#headers.authorization = `Bearer ${options.authToken}`;
    // The global one is looked up for each request, since tracers and tests replace it.
    this.#fetch = options.fetch ?? ((address, request) => fetch(address, request));
    this.#timeoutMs = options.timeoutMs;
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    return rowsOf(await this.#post(executeBody(statement)));
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    return batchRowsOf(await this.#post(batchBody(statements)), statements.length);
  }

  async #post(body: string): Promise<string> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    const ask = this.#fetch;
    let url = this.#url;
    for (let redirects = 0; ; redirects++) {
      // Redirects are not left to `fetch`: it would turn some into a GET, and would take the token along with others.
      const request = { method: "POST", headers: this.#headers, body, redirect: "manual", signal } as const;
      const response = await ask(url, request);
      const text = await response.text();
      if (response.status === 200) return text;
      if (response.status < 300 || response.status > 399) throw failureOf(response.status, text);
      url = redirected(url, response, redirects);
    }
  }
}

function failureOf(status: number, text: string): HranaError {
  const shown = text.trim().slice(0, ANSWER_SHOWN_LENGTH_MAX);
  return new HranaError("SERVER_ERROR", `Server returned HTTP status ${status}${shown === "" ? "" : `: ${shown}`}`);
}

/** Where a request goes that was redirected: to the same host, never from TLS to plain text.
 *  @throws {HranaError} when it must not, or may become another method there */
function redirected(from: string, { status, headers }: HttpResponse, redirects: number): string {
  const given = headers.get("location");
  const location = given !== null && canParseUrl(given, from) ? given : null;
  const [here, there] = [new URL(from), new URL(location ?? "", from)];
  const isSafe = there.hostname === here.hostname && (there.protocol === "https:" || there.protocol === here.protocol);
  const keepsMethod = status === 307 || status === 308;
  if (location !== null && isSafe && keepsMethod && redirects < REDIRECTS_MAX) return there.href;
  const target = location === null ? "nowhere" : shownUrl(there.href);
  throw new HranaError("URL_REDIRECTED", `Server returned HTTP status ${status}, a redirect to ${target}`);
}

// Bounds of the driver for Hrana over HTTP, with units and reasons.

/** Redirects that one request follows. Each is a further subrequest of a Worker, which has 50 of them. */
const REDIRECTS_MAX = 3;

/** Most characters of an answer that an error shows, because errors end up in logs. */
const ANSWER_SHOWN_LENGTH_MAX = 200;
