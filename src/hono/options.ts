import * as v from "valibot";
import { type Checker, checker, hasMethods, implementing, textUpTo } from "../core/check.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { mustBe, optionsError } from "../core/option-errors.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import type { Scope } from "./route.ts";

/** Who may do what: bearer tokens, a function that tells it from the request, or `"none"`, which lets everybody write. */
export type RouterAuth =
  | { readonly tokens: readonly { readonly token: string; readonly scope: Scope }[] }
  | ((request: Request) => Scope | null | Promise<Scope | null>)
  | "none";

/** What the router needs of a `Metrics`. */
export interface MetricsSource {
  /** The media type of `text`. */
  readonly contentType: string;
  /** All numbers. */
  text(): Promise<string>;
}

/** Options of `createRouter`. */
export interface RouterOptions {
  /** Who may do what. It is required, because whoever may write may run every task. */
  readonly auth: RouterAuth;
  /** Gets what fails and is no fault of the request; no answer shows it. Default: `console`. */
  readonly logger?: Logger | undefined;
  /** The path that the router is mounted at, such as `/scheduler`, where the router cannot see it: behind a proxy, or a
   *  framework that takes it off the URL. Default: what stands before the route in the URL. */
  readonly basePath?: string | undefined;
  /** What `GET /metrics` answers, for those who may read: a `Metrics` of `escapement/metrics`. Default: there is no
   *  such route. */
  readonly metrics?: MetricsSource | undefined;
  /** Where waits get the time from. Default: `systemClock`. */
  readonly clock?: Clock | undefined;
}

/** The schemas are made at the first call, because importing must cost nothing. */
let check: Checker<unknown> | undefined;

/** @throws {OptionsError} with one issue per problem */
export function checkRouterOptions(scheduler: unknown, options: RouterOptions): void {
  if (typeof scheduler !== "function") assertClient(scheduler as SchedulerClient);
  check ??= checker(schema());
  check(options, "createRouter()");
}

/** @throws {OptionsError} for what is no scheduler */
export function assertClient(scheduler: SchedulerClient): SchedulerClient {
  if (hasMethods(scheduler, ["getSchedules", "addJob", "health"])) return scheduler;
  const message = mustBe("a Scheduler, or a function that returns one", scheduler);
  throw optionsError("createRouter()", [{ path: "scheduler", message }]);
}

function schema(): v.GenericSchema {
  return v.strictObject({
    auth: v.custom<RouterAuth>(isAuth, ({ input }) =>
      mustBe('{ tokens: [{ token, scope }] }, a function, or "none"', input, "auth"),
    ),
    logger: v.optional(implementing<Logger>("a Logger", ["debug", "info", "warn", "error"])),
    basePath: v.optional(textUpTo(1024)),
    metrics: v.optional(implementing<MetricsSource>("a Metrics", ["text"])),
    clock: v.optional(implementing<Clock>("a Clock", ["now", "sleep", "yield"])),
  });
}

function isAuth(value: unknown): boolean {
  return value === "none" || typeof value === "function" || (typeof value === "object" && value !== null);
}
