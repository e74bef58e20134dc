import * as v from "valibot";
import { canParseUrl } from "../core/can-parse-url.ts";
import {
  type Checker,
  checker,
  durationMs,
  implementing,
  numberFrom,
  objectOf,
  oneOf,
  says,
  wholeNumber,
} from "../core/check.ts";
import type { Clock } from "../core/clock.ts";
import type { Duration } from "../core/duration.ts";
import type { RandomSource } from "../core/ids.ts";
import type { Logger } from "../core/logger.ts";
import { isPlain, mustBe, shown } from "../core/option-errors.ts";
import type { RetryPolicy } from "../records/policies.ts";
import type { RetryOptions } from "../scheduler/options/options.ts";
import { type ClientFetch, isToken, mustBeToken, type TransportOptions } from "./http/transport.ts";

/** Options of `connect`. */
export interface ConnectOptions {
  /** The address that the router is mounted at, such as `https://example.org/scheduler`. */
  readonly url: string | URL;
  /** What requests carry as `Authorization: Bearer TOKEN`, or a function that tells it for each request. Default:
   *  nothing. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** More headers of each request, for a proxy that asks for them. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What sends the requests. Default: the global `fetch`. For a router in the same program: `router.fetch`; for a
   *  service binding: `(request) => env.SCHEDULER.fetch(request)`. */
  readonly fetch?: ClientFetch | undefined;
  /** How long one request may take, in all: some 24 days at most. Waits for a job are made of as many requests as they
   *  take. Default: 30 s. */
  readonly timeout?: Duration | undefined;
  /** How often a request is made at most when it fails for a reason that passes, and the pauses in between. Default: 12
   *  attempts, with pauses that grow from 200 ms to 5 s and have a random length up to that: some 20 s in all, and 36 s
   *  at most, so that a restart of the router is ridden out. Waits for the end of a job go on beyond that, until their
   *  signal ends them. */
  readonly retry?: RetryOptions | undefined;
  /** Gets interruptions of the events and of waits, and errors of listeners. Default: `console`. */
  readonly logger?: Logger | undefined;
  /** Where pauses get the time from. Default: `systemClock`. */
  readonly clock?: Clock | undefined;
  /** Numbers in [0, 1), for ids and for the length of pauses. Default: `Math.random`. */
  readonly random?: RandomSource | undefined;
}

/** Options as they are after the check. */
export interface CheckedConnection extends TransportOptions {
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
}

/** The schemas are made at the first call, because importing must cost nothing. */
let check: Checker<CheckedConnectOptions> | undefined;

interface CheckedConnectOptions {
  readonly url: string | URL;
  readonly token?: ConnectOptions["token"];
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: ClientFetch | undefined;
  readonly timeoutMs: number;
  readonly retry: {
    readonly maxAttempts: number;
    readonly backoff: { initialMs: number; factor: number; maxMs: number; jitter: "full" | "none" };
  };
}

/** @throws {OptionsError} with one issue per problem */
export function checkConnectOptions(options: ConnectOptions): CheckedConnection {
  check ??= checker(schema(), { takes: "{ url, token }", instead: adviceOn, synonyms: SYNONYMS });
  const { url, token, headers = {}, fetch = null, timeoutMs, retry } = check(options, "connect()");
  return {
    ...{ url: mountOf(url), headers, fetch, timeoutMs, retry },
    token: typeof token === "string" ? token.trim() : (token ?? null),
  };
}

const SYNONYMS = { uri: "url", address: "url", baseurl: "url", authtoken: "token", apikey: "token", secret: "token" };

function schema(): v.GenericSchema<unknown, CheckedConnectOptions> {
  return objectOf({
    url: v.custom<string | URL>(
      (value) => isAddress(value),
      ({ input }) =>
        mustBe("the address of a router: https: or http:, without a query", input, "", addressAdvice(input)),
    ),
    token: v.optional(
      v.custom<string | (() => string)>(
        (value) => typeof value === "function" || isToken(value),
        ({ input }) => mustBeToken(input),
      ),
    ),
    headers: v.optional(
      v.custom<Record<string, string>>(areHeaders, says("an object of headers, which are ASCII text")),
    ),
    fetch: v.optional(v.custom<ClientFetch>((value) => typeof value === "function", says("a function like fetch"))),
    timeout: v.optional(durationMs(1), { seconds: 30 }),
    retry: v.optional(
      objectOf({
        maxAttempts: v.optional(wholeNumber(1), 12),
        backoff: v.optional(
          objectOf({
            initial: v.optional(durationMs(), { milliseconds: 200 }),
            factor: v.optional(numberFrom(1), 2),
            max: v.optional(durationMs(), { seconds: 5 }),
            jitter: v.optional(oneOf(["full", "none"]), "full"),
          }),
          {},
        ),
      }),
      {},
    ),
    logger: v.optional(implementing<Logger>("a Logger, such as console", ["debug", "info", "warn", "error"])),
    clock: v.optional(implementing<Clock>("a Clock", ["now", "sleep", "yield"])),
    random: v.optional(v.function(says("a function that returns numbers from 0 to 1"))),
  }) as unknown as v.GenericSchema<unknown, CheckedConnectOptions>;
}

function areHeaders(value: unknown): boolean {
  if (!isPlain(value)) return false;
  try {
    new Headers(value as Record<string, string>);
    return Object.values(value).every((text) => typeof text === "string" && /^[ -~]*$/.test(text));
  } catch {
    return false;
  }
}

function isAddress(value: unknown): boolean {
  const text = value instanceof URL ? value.href : value;
  if (typeof text !== "string" || !/^https?:\/\//i.test(text) || !canParseUrl(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username === "" && password === "" && search === "" && hash === "";
}

/** The address without a slash at its end. */
function mountOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

function addressAdvice(value: unknown): string | null {
  if (typeof value !== "string") return value === undefined ? "is the environment variable set?" : null;
  if (/\/\/[^/]*@/.test(value)) return "pass the token as { token }, in place of a user and a password";
  if (/^(file|libsql|wss?):/i.test(value)) return "a store is opened by a Scheduler; connect() reaches a router";
  return value.includes("://") || value === "" ? null : `write ${shown(`https://${value}`)}`;
}

function adviceOn(value: unknown): string | null {
  if (typeof value === "string") return `write { url: ${shown(value)} }`;
  return value instanceof URL ? "write { url }" : null;
}
