import * as v from "valibot";
import { type Checker, checker, hasMethods, implementing, says, textUpTo, wholeNumber } from "../core/check.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { authSchema, type RouterAuth } from "./auth/auth-options.ts";
import type { InsightSource } from "./insight-source.ts";
import type { Redact } from "./redaction.ts";
import type { McpSource } from "./serve-mcp.ts";
import type { PageSource } from "./serve-page.ts";

/** What the router needs of a `Metrics`. */
export interface MetricsSource {
  /** The media type of `text`. */
  readonly contentType: string;
  /** All numbers, or those of the tasks with some labels. */
  text(filter?: { readonly labels?: Readonly<Record<string, string>> | undefined }): Promise<string>;
}

/** Options of `createRouter`. */
export interface RouterOptions {
  /** Who may do what. It is required, because whoever may write may run every task. */
  readonly auth: RouterAuth;
  /** Names without ports, such as `scheduler.example.org`, that requests may have in their `Host`, besides those of
   *  loopback; others get 403. Default: any name; with `auth: "none"`, those of loopback alone, because else a page of
   *  any site could reach the router through a name of its own. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Gets what fails and is no fault of the request; no answer shows it. Default: `console`. */
  readonly logger?: Logger | undefined;
  /** The path that the router is mounted at, such as `/scheduler`, where the router cannot see it: behind a proxy, or a
   *  framework that takes it off the URL. It is for addresses that the router answers with; where the URL still has the
   *  path, mount the router: `new Hono().route("/scheduler", router)`. Default: what stands before the route in the
   *  URL. */
  readonly basePath?: string | undefined;
  /** Hides secrets of payloads and returned values, from callers of both scopes. Default: nothing is hidden. */
  readonly redact?: Redact | undefined;
  /** What `GET /metrics` answers, for those who may read: a `Metrics` of `escapement/metrics`. Default: there is no
   *  such route. */
  readonly metrics?: MetricsSource | undefined;
  /** What answers `GET /forecast`, `POST /plan` and `POST /apply`: an `insight()` of `escapement/insight`. Default:
   *  that of the `dashboard`; without either, there are no such routes. */
  readonly insight?: InsightSource | undefined;
  /** The page that is served at the mount: a `dashboard()` of `escapement/dashboard`. Default: none. */
  readonly dashboard?: PageSource | undefined;
  /** What answers POST `/mcp`, for agents: an `mcp()` of `escapement/mcp`. Default: there is no such route. */
  readonly mcp?: McpSource | undefined;
  /** Streams of events at a time; whoever comes then gets 503. Default: 200. */
  readonly maxEventStreams?: number | undefined;
  /** Where waits and sessions get the time from. Default: `systemClock`. */
  readonly clock?: Clock | undefined;
}

/** The schemas are made at the first call, because importing must cost nothing. */
let check: Checker<RouterOptions> | undefined;

const AUTH = 'write { auth: { tokens: [{ token, scope: "write" }] } }';

/** @returns the options, with tokens as headers carry them
 *  @throws {OptionsError} with one issue per problem */
export function checkRouterOptions(scheduler: unknown, options: RouterOptions): RouterOptions {
  if (typeof scheduler !== "function" && !isClient(scheduler)) {
    const message = mustBe("a Scheduler, or a function that returns one", scheduler);
    throw optionError("createRouter()", "scheduler", message);
  }
  check ??= checker(schema(), {
    synonyms: { token: AUTH, tokens: AUTH, bearer: AUTH, bearertoken: AUTH, apikey: AUTH },
  });
  return check(options, "createRouter()");
}

/** What a function has made for a request. What is wrong with it is no fault of the request, so that the error is none
 *  that an answer shows. @throws {TypeError} for what is no scheduler */
export function assertClient(scheduler: SchedulerClient): SchedulerClient {
  if (isClient(scheduler)) return scheduler;
  throw new TypeError(`the function of createRouter() ${mustBe("one that returns a Scheduler", scheduler)}`);
}

function isClient(value: unknown): boolean {
  return hasMethods(value, ["getSchedules", "addJob", "health"]);
}

/** The name of a host as it is compared: in lower case. */
function hostName(): v.GenericSchema<string> {
  return v.pipe(
    textUpTo(253),
    v.regex(/^([^\s/:]+|\[[^\]]+\])$/, says("the name of a host, without a port")),
    v.transform((name) => name.toLowerCase()),
  );
}

function schema(): v.GenericSchema<unknown, RouterOptions> {
  return v.strictObject({
    auth: authSchema(),
    allowedHosts: v.optional(v.array(hostName(), says("a list of names of hosts"))),
    logger: v.optional(implementing<Logger>("a Logger", ["debug", "info", "warn", "error"])),
    // A path that follows brings its own slash, and the address `//jobs` would name a host.
    basePath: v.optional(
      v.pipe(
        textUpTo(1024),
        v.regex(/^(\/|$)/, says("a path that begins with a slash")),
        v.transform((path) => path.replace(/\/+$/, "")),
      ),
    ),
    redact: v.optional(v.custom<Redact>((value) => typeof value === "function", says("a function of a value"))),
    metrics: v.optional(implementing<MetricsSource>("a Metrics", ["text"])),
    insight: v.optional(implementing<InsightSource>("an insight()", ["forecast", "plan", "apply"])),
    dashboard: v.optional(implementing<PageSource>("a dashboard()", ["document"])),
    mcp: v.optional(implementing<McpSource>("an mcp()", ["handle"])),
    maxEventStreams: v.optional(wholeNumber(1)),
    clock: v.optional(implementing<Clock>("a Clock", ["now", "sleep", "yield"])),
  });
}
