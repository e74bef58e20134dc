import * as v from "valibot";
import { type Checker, checker, durationMs, instantMs, objectOf } from "../core/check.ts";
import { systemClock, yieldToEventLoop } from "../core/clock.ts";
import { type Duration, durationText, toDurationMs } from "../core/duration.ts";
import { inTurns, mapInTurns } from "../core/in-turns.ts";
import { printAsJSON } from "../core/inspect.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import { type InstantLike, instantOf, instantText, type Temporal } from "../core/temporal.ts";
import { checkTrigger } from "../scheduler/options/check-options.ts";
import type { TriggerLike } from "../triggers/short-trigger.ts";
import { type CountedSchedule, countFires, type ForecastRange } from "./count-fires.ts";

/** Most buckets of a forecast: a week of minutes has 10,080. */
const BUCKETS_MAX = 20_000;
/** How far around the busiest bucket an emptier one is looked for, in buckets. */
const EMPTIER_WITHIN = 30;
/** How many of the last runs tell how long a run usually takes. */
const RUNS_SEEN = 1000;

const DAY_MS = 86_400_000;

/** A schedule as a forecast needs it. A `Schedule` is one. */
export interface ForecastedSchedule {
  readonly id: string;
  readonly taskId: string;
  /** The rule by which it fires. Default zone of crontab text: `"UTC"`. */
  readonly trigger: TriggerLike;
  /** Fire times before this one are left out. Default: none are. */
  readonly nextFireTime?: Temporal.Instant | null | undefined;
  /** How long a run usually takes. Default: what the last runs of its task took, where they are known. */
  readonly runTime?: Duration | undefined;
}

/** What a forecast asks a scheduler. Every `SchedulerClient` is one. */
export interface ScheduleSource {
  /** The active schedules. */
  getSchedules(filter: { state: "active"; limit: number }): AsyncIterable<ForecastedSchedule>;
  /** The newest jobs that have ended, for their run times. */
  getRuns(filter: { state: "ended"; limit: number }): PromiseLike<{ readonly items: readonly EndedRun[] }>;
}

interface EndedRun {
  readonly taskId: string;
  readonly runTime: Temporal.Duration | null;
}

/** Options of {@link forecast}. */
export interface ForecastOptions {
  /** Default: now. */
  readonly from?: InstantLike | undefined;
  /** Default: a day after `from`. It is not included. */
  readonly until?: InstantLike | undefined;
  /** How long a bucket is. Default: a minute. */
  readonly bucket?: Duration | undefined;
}

/** The load to come. */
export interface Forecast {
  /** How many times the schedules fire. */
  readonly total: number;
  /** One after the other, each from its `from` until that of the next one, which is not included. */
  readonly buckets: readonly ForecastBucket[];
  /** The bucket with the most fires; null when nothing fires. */
  readonly busiest: ForecastBucket | null;
  /** The one with the fewest fires of those around the busiest one; null when none has fewer. */
  readonly emptier: ForecastBucket | null;
  /** The same in words. */
  readonly text: string;
  toJSON(): Record<string, unknown>;
}

/**
 * A part of a {@link Forecast}.
 *
 * @example
 * const { busiest } = await forecast(scheduler);
 * console.log(`${busiest?.fires} fires from ${busiest?.from} on`);
 */
export class ForecastBucket {
  /** How often schedules fire in it. */
  readonly fires: number;
  /** How many jobs run on average, as far as run times are known, with two digits after the point. */
  readonly expectedRunning: number;
  readonly #fromMs: number;

  static {
    printAsJSON(ForecastBucket.prototype);
  }

  constructor(fromMs: number, fires: number, expectedRunning: number) {
    this.fires = fires;
    this.expectedRunning = expectedRunning;
    this.#fromMs = fromMs;
  }

  get from(): Temporal.Instant {
    return instantOf(this.#fromMs);
  }

  toJSON(): Record<string, unknown> {
    return { from: instantText(this.#fromMs), fires: this.fires, expectedRunning: this.expectedRunning };
  }
}

/** The schema is made at the first call, because importing must cost nothing. */
let check: Checker<CheckedForecast> | undefined;

interface CheckedForecast {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly bucketMs: number;
}

/**
 * How often the schedules of a scheduler will fire, bucket by bucket, and how many jobs will run: the active schedules,
 * by their rules. Jitter, overlaps, pauses and what is added meanwhile are left out. Schedules with one rule are
 * computed once.
 * @param source a scheduler, or a list of schedules
 * @param options.from default: now
 * @param options.until default: a day after `from`
 * @param options.bucket default: a minute. There are 20,000 buckets at most
 * @throws {OptionsError} for unknown or invalid options, and for more than 10 million fire times of different rules
 * @throws {StoreUnavailableError} where the scheduler cannot read its schedules
 * @example
 * const { busiest, emptier, text } = await forecast(scheduler, { until: "2030-01-31T09:00:00Z" });
 */
export async function forecast(
  source: ScheduleSource | readonly ForecastedSchedule[],
  options: ForecastOptions = {},
): Promise<Forecast> {
  const where = "forecast()";
  check ??= checker(
    (): v.GenericSchema<unknown, CheckedForecast> =>
      objectOf({
        from: v.optional(instantMs),
        until: v.optional(instantMs),
        bucket: v.optional(durationMs(1), { minutes: 1 }),
      }),
  );
  const { from = systemClock.now(), until = from + DAY_MS, bucketMs } = check(options, where);
  const count = Math.ceil((until - from) / bucketMs);
  if (count < 1) throw optionError(where, "until", "must be later than from");
  if (count > BUCKETS_MAX) {
    throw optionError(where, "bucket", `must be so long that there are at most ${BUCKETS_MAX} buckets; got ${count}`);
  }
  const schedules = await schedulesOf(source, where);
  const range = { from, until, bucketMs, count };
  const byTask = await inTurns(countFires(schedules, range, where));
  const fires = new Float64Array(count);
  const running = new Float64Array(count);
  for (const { buckets, runMs } of byTask) {
    for (let index = 0; index < count; index++) fires[index] = (fires[index] ?? 0) + (buckets[index] ?? 0);
    addRunning(running, buckets, runMs, bucketMs);
    await yieldToEventLoop();
  }
  return forecastOf(fires, running, range);
}

/** Each fire fills the bucket that it is in, and those after it, as long as its run lasts. */
function addRunning(running: Float64Array, fires: Float64Array, runMs: number, bucketMs: number): void {
  if (!(runMs > 0)) return;
  for (const [index, count] of fires.entries()) {
    if (count === 0) continue;
    for (let rest = runMs, place = index; rest > 0 && place < running.length; rest -= bucketMs, place++) {
      running[place] = (running[place] ?? 0) + (count * Math.min(rest, bucketMs)) / bucketMs;
    }
  }
}

async function schedulesOf(
  source: ScheduleSource | readonly ForecastedSchedule[],
  where: string,
): Promise<CountedSchedule[]> {
  if (Array.isArray(source)) {
    const list: readonly ForecastedSchedule[] = source;
    return mapInTurns(list, (one, place) => counted(one, NO_TIMES, `${where}[${place}]`));
  }
  if (typeof (source as ScheduleSource | null)?.getSchedules !== "function") {
    throw optionError(where, "", mustBe("a scheduler, or a list of schedules", source));
  }
  const scheduler = source as ScheduleSource;
  const runMs = medians((await scheduler.getRuns({ state: "ended", limit: RUNS_SEEN })).items);
  const schedules: CountedSchedule[] = [];
  for await (const schedule of scheduler.getSchedules({ state: "active", limit: RUNS_SEEN })) {
    try {
      schedules.push(counted(schedule, runMs, where));
    } catch {
      // This program does not know the trigger, so that the schedule does not fire here either.
    }
    if (schedules.length % RUNS_SEEN === 0) await yieldToEventLoop();
  }
  return schedules;
}

const NO_TIMES: ReadonlyMap<string, number> = new Map();

function counted(schedule: ForecastedSchedule, runMs: ReadonlyMap<string, number>, where: string): CountedSchedule {
  const trigger = checkTrigger(schedule?.trigger, where, "UTC", { id: schedule?.id });
  const { taskId, nextFireTime, runTime } = schedule;
  const startMs = nextFireTime?.epochMilliseconds ?? Number.NEGATIVE_INFINITY;
  const given = runTime === undefined ? runMs.get(taskId) : toDurationMs(runTime, "runTime");
  return { taskId, trigger, startMs, runMs: given ?? 0 };
}

/** How long a run of each task usually takes, in milliseconds. */
function medians(runs: readonly EndedRun[]): Map<string, number> {
  const byTask = new Map<string, number[]>();
  for (const { taskId, runTime } of runs) {
    if (runTime === null) continue;
    const times = byTask.get(taskId) ?? [];
    byTask.set(taskId, times);
    times.push(runTime.total("milliseconds"));
  }
  return new Map(
    [...byTask].map(([taskId, times]) => [taskId, times.sort((a, b) => a - b)[times.length >> 1] ?? 0] as const),
  );
}

function forecastOf(fires: Float64Array, running: Float64Array, { from, until, bucketMs }: ForecastRange): Forecast {
  const rounded = (value: number): number => Math.round(value * 100) / 100;
  const buckets = Array.from(fires, (count, index) => {
    return new ForecastBucket(from + index * bucketMs, count, rounded(running[index] ?? 0));
  });
  const total = fires.reduce((sum, count) => sum + count, 0);
  const most = fires.reduce((best, count, index) => (count > (fires[best] ?? 0) ? index : best), 0);
  const busiest = total === 0 ? null : (buckets[most] ?? null);
  const emptier = busiest === null ? null : (buckets[emptierThan(fires, most)] ?? null);
  const text = textOf(total, busiest, emptier, bucketMs);
  return {
    ...{ total, buckets, busiest, emptier, text },
    toJSON: () => ({
      ...{ from: instantText(from), until: instantText(until), bucket: durationText(bucketMs), total },
      buckets: buckets.map((bucket) => bucket.toJSON()),
      busiest: busiest?.toJSON() ?? null,
      emptier: emptier?.toJSON() ?? null,
      text,
    }),
  };
}

/** The nearest bucket with the fewest fires; -1 where none has fewer. */
function emptierThan(fires: Float64Array, most: number): number {
  let best = most;
  for (let distance = 1; distance <= EMPTIER_WITHIN; distance++) {
    for (const index of [most + distance, most - distance]) {
      if ((fires[index] ?? Number.POSITIVE_INFINITY) < (fires[best] ?? 0)) best = index;
    }
  }
  return best === most ? -1 : best;
}

function textOf(
  total: number,
  busiest: ForecastBucket | null,
  emptier: ForecastBucket | null,
  bucketMs: number,
): string {
  if (busiest === null) return "Nothing fires.";
  const span = bucketMs === 60_000 ? "one minute" : bucketMs === 3_600_000 ? "one hour" : durationText(bucketMs);
  const fires = `${firesText(busiest.fires)} in ${span}, of ${numberText(total)} in all`;
  const most = `Busiest: ${timeText(busiest.from)} UTC, ${fires}.`;
  if (emptier === null) return most;
  return `${most} ${timeText(emptier.from)} UTC has ${firesText(emptier.fires)}.`;
}

function timeText(instant: Temporal.Instant): string {
  return String(instant).slice(0, 19).replace("T", " ").replace(/:00$/, "");
}

function firesText(count: number): string {
  return `${numberText(count)} ${count === 1 ? "fire" : "fires"}`;
}

function numberText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
