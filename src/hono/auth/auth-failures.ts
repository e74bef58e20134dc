import type { Context } from "hono";
import type { Clock } from "../../core/clock.ts";
import { hostKind } from "../../core/host.ts";
import type { Logger } from "../../core/logger.ts";
import { problemResponse } from "../../core/problem.ts";
import {
  AUTH_ADDRESS_LENGTH_MAX,
  AUTH_ADDRESSES_MAX,
  AUTH_FAILURE_REFILL_MS,
  AUTH_FAILURES_LOG_MS,
  AUTH_FAILURES_MAX,
} from "./limits.ts";

/** What {@link AuthFailures} needs. */
export interface AuthFailuresOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: what the server tells. */
  readonly clientAddress?: ((request: Request) => string) | undefined;
}

/**
 * Wrong tokens: their number, their lines in the log, and the limit of each address. Who has a right token is not
 * counted, and so never locked out by others of the same address.
 */
export class AuthFailures {
  /** Since the router was made. */
  count = 0;
  readonly #options: AuthFailuresOptions;
  /** When all failures of an address are forgiven, the address that failed longest ago first. */
  readonly #forgivenAt = new Map<string, number>();
  #loggedCount = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: AuthFailuresOptions) {
    this.#options = options;
  }

  /** Counts a request with a wrong token. @returns the answer for an address that sent too many; null for others */
  add(c: Context): Response | null {
    const { clock, clientAddress } = this.#options;
    const now = clock.now();
    const address = String(clientAddress?.(c.req.raw) ?? addressOf(c)).slice(0, AUTH_ADDRESS_LENGTH_MAX);
    this.count++;
    this.#log(address, now);
    const waitMs = this.#waitMs(address, now);
    if (waitMs <= 0) return null;
    const headers = { "retry-after": String(Math.ceil(waitMs / 1000)) };
    return problemResponse(429, "tooManyAttempts", { detail: "this address sent too many wrong tokens", headers });
  }

  #log(address: string, now: number): void {
    // A clock that was set back must not silence the log.
    if (Math.abs(now - this.#loggedAtMs) < AUTH_FAILURES_LOG_MS) return;
    const count = this.count - this.#loggedCount;
    this.#loggedCount = this.count;
    this.#loggedAtMs = now;
    const message = `escapement: wrong tokens sent to the router: ${count}, the last by ${JSON.stringify(address)}`;
    this.#options.logger.warn(message);
  }

  /** Takes an attempt of the address: 0 or less if it had one, else the milliseconds until it has one. */
  #waitMs(address: string, now: number): number {
    const wholeMs = AUTH_FAILURES_MAX * AUTH_FAILURE_REFILL_MS;
    // A clock that was set back must not make the wait longer.
    const known = Math.min(this.#forgivenAt.get(address) ?? now, now + wholeMs);
    const next = Math.max(now, known) + AUTH_FAILURE_REFILL_MS;
    const waitMs = next - now - wholeMs;
    this.#forgivenAt.delete(address);
    this.#forgivenAt.set(address, waitMs > 0 ? known : next);
    if (this.#forgivenAt.size > AUTH_ADDRESSES_MAX) {
      const [oldest = ""] = this.#forgivenAt.keys();
      this.#forgivenAt.delete(oldest);
    }
    return waitMs;
  }
}

/** The address of the client as the server tells it: that of Node's adapter, of Deno, of Bun, or Cloudflare's. Empty
 *  where none does. */
function addressOf({ env, req }: Context): string {
  const { incoming, remoteAddr, requestIP } = Object(env) as ServerFacts;
  const address = incoming?.socket?.remoteAddress ?? remoteAddr?.hostname ?? requestIP?.call(env, req.raw)?.address;
  return address ?? (hostKind() === "worker" ? req.header("cf-connecting-ip") : undefined) ?? "";
}

interface ServerFacts {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  readonly remoteAddr?: { readonly hostname?: string };
  readonly requestIP?: (request: Request) => { readonly address: string } | null;
}
