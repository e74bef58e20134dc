import * as v from "valibot";
import { type Checker, checker, hasMethods, implementing } from "../core/check.ts";
import type { Logger } from "../core/logger.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import { tickOptionsSchema } from "../scheduler/options/option-schemas.ts";
import type { TickOptions } from "../scheduler/options/options.ts";
import type { TickReport } from "../scheduler/views/tick-report.ts";

/** What the handler needs of a `Scheduler`. */
export interface TickingScheduler {
  /** Does what is due, and answers with a report. */
  tick(options?: TickOptions): Promise<TickReport>;
}

/** What requests must carry. */
type CronSecret = string | readonly string[] | null | undefined;

/** Options of `createCronHandler`. */
export interface CronHandlerOptions {
  /**
   * The scheduler that does the ticks, or a function that makes one, called for each request. It is a function where
   * requests must not share a connection (Workers), and where the connection is known only when a request comes. It may
   * also add the schedules that the program declares.
   */
  readonly scheduler: TickingScheduler | (() => TickingScheduler | Promise<TickingScheduler>);
  /**
   * What a request must carry as `Authorization: Bearer SECRET`. Of a list, each counts, so that a secret can be
   * replaced without a pause. Null lets everybody in: only for functions that have no public address. A function is
   * asked at each request, so that a build can import the module without the secret.
   */
  readonly secret: CronSecret | (() => CronSecret);
  /** Options of each tick. Default: `{}`, which is 30 s. Give a `maxDuration` below the limit of the platform. */
  readonly tick?: TickOptions | undefined;
  /** Gets the error of a tick that failed, which no answer shows. Default: `console`. */
  readonly logger?: Logger | undefined;
}

/** The schemas are made at the first call, because importing must cost nothing. */
let check: Checker<unknown> | undefined;

/**
 * @returns gives the secrets; null when everybody may call. Throws an `OptionsError` when a function gave no secret
 * @throws {OptionsError} with one issue per problem
 */
export function checkCronOptions(options: CronHandlerOptions): () => readonly string[] | null {
  check ??= checker(schema(), {
    instead: (value) =>
      typeof value === "function" || hasMethods(value, ["tick"]) ? "pass it as { scheduler }" : null,
  });
  check(options, "createCronHandler()");
  const { secret } = options;
  if (typeof secret !== "function") return () => secretsOf(secret);
  return () => {
    const given = secret();
    check?.({ ...options, secret: given }, "createCronHandler()");
    return secretsOf(given);
  };
}

function secretsOf(secret: CronSecret): readonly string[] | null {
  return secret === null ? null : [secret ?? []].flat().map((one) => one.trim());
}

/** @throws {OptionsError} when the function that makes the scheduler has made something else */
export function assertTicks(scheduler: TickingScheduler): TickingScheduler {
  if (hasMethods(scheduler, ["tick"])) return scheduler;
  const message = mustBe("a function that returns a Scheduler", scheduler).replace("got", "it returned");
  throw optionError("createCronHandler()", "scheduler", message);
}

function schema(): v.GenericSchema {
  const scheduler = implementing<TickingScheduler>("a Scheduler, or a function that makes one", ["tick"]);
  return v.strictObject({
    scheduler: v.union([v.function(), scheduler], ({ input }) =>
      mustBe("a Scheduler, or a function that makes one", input),
    ),
    secret: v.custom<CronHandlerOptions["secret"]>(
      (given) => typeof given === "function" || isSecret(given),
      ({ input }) =>
        mustBe(
          "text without spaces, a list of such texts, null, or a function that gives one",
          input,
          input === "" ? "" : "secret",
          adviceOn(input),
        ),
    ),
    tick: v.optional(tickOptionsSchema()),
    logger: v.optional(implementing<Logger>("a Logger", ["debug", "info", "warn", "error"])),
  });
}

/** A header carries visible characters of ASCII as they are, and nothing else surely. Spaces around them come from
 *  files. */
const SENDABLE = /^[!-~]+$/;

function isSecret(value: unknown): boolean {
  if (value === null) return true;
  const secrets: readonly unknown[] = Array.isArray(value) ? [...value] : [value];
  return secrets.length > 0 && secrets.every((secret) => typeof secret === "string" && SENDABLE.test(secret.trim()));
}

function adviceOn(value: unknown): string {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isMissing = given.every((secret) => secret === undefined || secret === "");
  return isMissing
    ? "is the environment variable set? A function without a public address may have secret: null"
    : "a header carries nothing but visible characters of ASCII";
}
