import * as v from "valibot";
import { type Checker, checker, durationMs, hasMethods, objectOf, says, wholeNumber } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { optionError, takes } from "../../core/option-errors.ts";
import type { SchedulerOptions } from "../../scheduler/options/scheduler-options.ts";
import type { DurableObjectStoreOptions } from "../../stores/durable-object/mod.ts";
import type { ObjectContext } from "./shapes.ts";

/** Options of `attachScheduler` and of `SchedulerDurableObject`. */
export interface AttachOptions {
  /** Options of the scheduler, such as `{ timeZone: "Europe/Berlin" }`. What an object has only one of is not among
   *  them. Default: `{}`. */
  readonly scheduler?: Omit<SchedulerOptions, "dataStore" | "eventBroker" | "identity" | "role" | "clock"> | undefined;
  /** Options of the store in the object's storage, such as `{ tablePrefix: "jobs_" }`. Default: `{}`. */
  readonly store?: DurableObjectStoreOptions | undefined;
  /** Bounds of the work that one alarm does. Default: `{}`. */
  readonly tick?: AlarmTickOptions | undefined;
}

/** Bounds of the work that one alarm does. */
export interface AlarmTickOptions {
  /** How long a tick may take. What still runs then is aborted and goes back to the queue, see `Scheduler.tick`; a task
   *  whose `timeout` is longer never runs. Default: 14 minutes, because the platform ends an alarm's work after 15; at
   *  most that. */
  readonly maxDuration?: Duration | undefined;
  /** The most jobs to start for one alarm; the next alarm follows at once. Default: unlimited. */
  readonly maxJobs?: number | undefined;
}

export interface CheckedAttachOptions {
  readonly scheduler: NonNullable<AttachOptions["scheduler"]>;
  readonly store: DurableObjectStoreOptions;
  readonly tick: { readonly maxDuration: Duration; readonly maxJobs?: number };
}

const TICK_MS_DEFAULT = 14 * 60_000;
/** Longest tick of an alarm: the platform ends an alarm after 15 minutes. */
const TICK_MS_MAX = 15 * 60_000;

/** Made at the first call, because importing must cost nothing. */
let check: Checker<ReadAttachOptions> | undefined;

interface ReadAttachOptions {
  readonly scheduler: object;
  readonly store: object;
  readonly tick: { readonly maxDurationMs: number; readonly maxJobs?: number | undefined };
}

const WHERE = "attachScheduler()";

/** @throws {OptionsError} when an argument is something else, or an option is unknown, of a wrong type or out of range;
 *  options of the scheduler and of the store are checked where these are made */
export function checkAttaching(ctx: ObjectContext, configure: unknown, options: AttachOptions): CheckedAttachOptions {
  if (!hasMethods(ctx, ["blockConcurrencyWhile"])) {
    throw optionError(WHERE, "", takes("the context of a Durable Object (ctx)", ctx));
  }
  if (typeof configure !== "function") {
    const message = takes("a function (scheduler) => void that registers the tasks", configure);
    throw optionError(WHERE, "configure", message);
  }
  check ??= checker(schema());
  const { scheduler, store, tick } = check(options, WHERE);
  const { maxDurationMs, maxJobs } = tick;
  return {
    scheduler,
    store,
    tick: { maxDuration: { milliseconds: maxDurationMs }, ...(maxJobs === undefined ? {} : { maxJobs }) },
  };
}

function schema(): v.GenericSchema<unknown, ReadAttachOptions> {
  const options = v.optional(
    v.custom<object>((value) => typeof value === "object" && value !== null),
    {},
  );
  const maxDuration = v.pipe(
    durationMs(1),
    v.maxValue(TICK_MS_MAX, says("at most 15 minutes, after which the platform ends an alarm's work")),
  );
  return v.strictObject({
    scheduler: options,
    store: options,
    tick: v.optional(
      objectOf({
        maxDuration: v.optional(maxDuration, { milliseconds: TICK_MS_DEFAULT }),
        maxJobs: v.optional(wholeNumber(1)),
      }),
      {},
    ),
  });
}
