import { optionError } from "../core/option-errors.ts";
import { CompiledBatch, type CompiledCron } from "../cron/compiled-cron.ts";
import { CronTrigger, partsOf } from "../triggers/cron.ts";
import { IntervalTrigger, periodOf } from "../triggers/interval.ts";
import type { Trigger } from "../triggers/trigger.ts";

/** A schedule of a forecast; times in milliseconds. */
export interface CountedSchedule {
  readonly taskId: string;
  readonly trigger: Trigger;
  /** Fire times before this instant are left out; minus infinity for none. */
  readonly startMs: number;
  /** How long a run takes; 0 where that is unknown. */
  readonly runMs: number;
}

/** The fires of the schedules of one task with one run time. */
export interface TaskFires {
  readonly runMs: number;
  /** How many fires each bucket has. */
  readonly buckets: Float64Array;
}

/** The time of a forecast, in buckets of one length. */
export interface ForecastRange {
  readonly from: number;
  readonly until: number;
  readonly bucketMs: number;
  readonly count: number;
}

/** Most fire times that are computed. */
const FIRES_MAX = 10_000_000;

/** Questions to all crontab rules at once. Those that fire more often are expanded, each by itself. */
const BATCH_ROUNDS = 4;
/** Fire times of a rule that are expanded at once. */
const EXPANDED = 4096;
/** Fire times of any other rule before it is compared with others, which costs as much as some hundred of them. */
const FIRES_UNCOMPARED = 32;

/** Schedules and rules of one step. */
const RULES_OF_STEP = 500;
/** Fire times of one step. */
const FIRES_OF_STEP = 10_000;

/** Counts the fire times in [from, until), in steps of a millisecond or two.
 *  @throws {OptionsError} for too many of them */
export function* countFires(
  schedules: readonly CountedSchedule[],
  range: ForecastRange,
  where: string,
): Generator<void, TaskFires[]> {
  const counter = new FireCounter(range, where);
  const others: { readonly schedule: CountedSchedule; readonly buckets: Float64Array }[] = [];
  for (const [place, schedule] of schedules.entries()) {
    if (place % RULES_OF_STEP === 0) yield;
    const { trigger, startMs } = schedule;
    const buckets = counter.bucketsOf(schedule);
    if (trigger instanceof CronTrigger) {
      const { compiled, floorMs, endMs } = partsOf(trigger);
      counter.addCron(compiled, buckets, Math.max(startMs, floorMs + 1), endMs);
    } else if (trigger.constructor === IntervalTrigger) counter.addPeriod(trigger as IntervalTrigger, startMs, buckets);
    else others.push({ schedule, buckets });
  }
  yield* counter.countCrons();
  yield* counter.countPeriods();
  yield* counter.countOthers(others);
  return counter.fires;
}

/** The schedules of one crontab rule. Nearly always all of their fires count, and in the same buckets. */
interface CronGroup {
  readonly buckets: Float64Array;
  weight: number;
  /** How many have other buckets. */
  others: Map<Float64Array, number> | null;
  /** Those that start or end by themselves; once the first fire time is known, only those of which not all count. */
  bounded: Bounded[] | null;
}

interface Bounded {
  readonly buckets: Float64Array;
  readonly startMs: number;
  readonly endMs: number;
}

class FireCounter {
  readonly #range: ForecastRange;
  readonly #where: string;
  readonly #tasks = new Map<string, Map<number, TaskFires>>();
  readonly #crons = new Map<CompiledCron, CronGroup>();
  /** By buckets, then by period, first fire time and end. */
  readonly #periods = new Map<Float64Array, Map<string, CountedPeriod>>();
  #left = FIRES_MAX;
  #leftAtStep = FIRES_MAX;

  constructor(range: ForecastRange, where: string) {
    this.#range = range;
    this.#where = where;
  }

  get fires(): TaskFires[] {
    return [...this.#tasks.values()].flatMap((byTime) => [...byTime.values()]);
  }

  bucketsOf({ taskId, runMs }: CountedSchedule): Float64Array {
    let byTime = this.#tasks.get(taskId);
    if (byTime === undefined) {
      byTime = new Map();
      this.#tasks.set(taskId, byTime);
    }
    let fires = byTime.get(runMs);
    if (fires === undefined) {
      fires = { runMs, buckets: new Float64Array(this.#range.count) };
      byTime.set(runMs, fires);
    }
    return fires.buckets;
  }

  /** Equal rules share their compiled form, unless there are thousands. */
  addCron(cron: CompiledCron, buckets: Float64Array, startMs: number, endMs: number): void {
    const { from, until } = this.#range;
    const isWhole = startMs <= from && endMs >= until - 1;
    let group = this.#crons.get(cron);
    if (group === undefined) {
      group = { buckets, weight: 0, others: null, bounded: null };
      this.#crons.set(cron, group);
    }
    if (isWhole) addWeight(group, buckets, 1);
    else {
      group.bounded ??= [];
      group.bounded.push({ buckets, startMs, endMs });
    }
  }

  addPeriod(trigger: IntervalTrigger, startMs: number, buckets: Float64Array): void {
    const { from, until } = this.#range;
    const rule = trigger.startingAtMs(from);
    const firstMs = rule.nextMs(Math.max(from, startMs) - 1);
    if (firstMs === null || firstMs >= until) return;
    const { intervalMs, endMs } = periodOf(rule);
    let periods = this.#periods.get(buckets);
    if (periods === undefined) {
      periods = new Map();
      this.#periods.set(buckets, periods);
    }
    const key = `${intervalMs} ${firstMs} ${endMs}`;
    const period = periods.get(key);
    if (period === undefined) periods.set(key, { firstMs, intervalMs, endMs, weight: 1 });
    else period.weight++;
  }

  /** A few questions to all rules at once: most rules of a day fire once or twice. */
  *countCrons(): Generator<void, void> {
    const crons = [...this.#crons.keys()];
    const groups = [...this.#crons.values()];
    for (let place = 0; place < crons.length; place += RULES_OF_STEP) {
      const end = place + RULES_OF_STEP;
      yield* this.#countSome(crons.slice(place, end), groups.slice(place, end));
    }
  }

  *#countSome(crons: readonly CompiledCron[], groups: readonly CronGroup[]): Generator<void, void> {
    const { from, until } = this.#range;
    const batch = new CompiledBatch(crons);
    const after = new Float64Array(crons.length).fill(from - 1);
    for (let round = 0, alive = crons.length; round < BATCH_ROUNDS && alive > 0; round++) {
      yield;
      batch.nextMs(after, after);
      alive = 0;
      for (const [place, group] of groups.entries()) {
        const at = after[place] ?? Number.NaN;
        if (at < until) {
          if (round === 0) this.#settle(group, at);
          this.#fire(group, at);
          if (this.#isStep()) yield;
          alive++;
        } else after[place] = Number.NaN;
      }
    }
    const times = new Float64Array(EXPANDED);
    for (const [place, group] of groups.entries()) {
      let next = (after[place] ?? Number.NaN) + 1;
      while (next < until) {
        const count = crons[place]?.expandInto(times, next, until - 1) ?? 0;
        for (let index = 0; index < count; index++) {
          this.#fire(group, times[index] ?? 0);
          if (this.#isStep()) yield;
        }
        next = count < EXPANDED ? until : (times[count - 1] ?? until) + 1;
      }
    }
  }

  *countPeriods(): Generator<void, void> {
    const { from, until, bucketMs } = this.#range;
    for (const [buckets, periods] of this.#periods) {
      for (const { firstMs, intervalMs, endMs, weight } of periods.values()) {
        for (let at = firstMs; at < until && at <= endMs; at += intervalMs) {
          this.#count();
          if (this.#isStep()) yield;
          const index = Math.floor((at - from) / bucketMs);
          buckets[index] = (buckets[index] ?? 0) + weight;
        }
      }
    }
  }

  *countOthers(
    others: readonly { readonly schedule: CountedSchedule; readonly buckets: Float64Array }[],
  ): Generator<void, void> {
    const { from, until } = this.#range;
    const rest = new Map<Float64Array, Map<string, { readonly rule: Trigger; readonly at: number; weight: number }>>();
    for (const { schedule, buckets } of others) {
      const rule = schedule.trigger.startingAtMs(from);
      const after = Math.max(from, schedule.startMs) - 1;
      const at = yield* this.#walk(rule, after, buckets, 1, FIRES_UNCOMPARED);
      if (at === null || at >= until) continue;
      const byRule = rest.get(buckets) ?? new Map();
      rest.set(buckets, byRule);
      const key = `${at} ${JSON.stringify(schedule.trigger.toJSON())}`;
      const alike = byRule.get(key);
      if (alike === undefined) byRule.set(key, { rule, at, weight: 1 });
      else alike.weight++;
    }
    for (const [buckets, byRule] of rest) {
      for (const { rule, at, weight } of byRule.values()) yield* this.#walk(rule, at, buckets, weight, FIRES_MAX);
    }
  }

  /** Counts some fire times. Returns the last one; null where there are no more. */
  *#walk(
    rule: Trigger,
    afterMs: number,
    buckets: Float64Array,
    weight: number,
    most: number,
  ): Generator<void, number | null> {
    yield;
    const { from, until, bucketMs } = this.#range;
    let last = afterMs;
    for (let count = 0; count < most; count++) {
      const at = rule.nextMs(last);
      if (at === null || !(at < until && at > last)) return null;
      this.#count();
      // Each is a question to a rule of any kind, and costs more than a fire of crontab.
      if (count % FIRES_UNCOMPARED === 0) yield;
      const index = Math.floor((at - from) / bucketMs);
      buckets[index] = (buckets[index] ?? 0) + weight;
      last = at;
    }
    return last;
  }

  /** Those that start no later than with the first fire time, and that do not end, are as those without bounds. */
  #settle(group: CronGroup, firstMs: number): void {
    if (group.bounded === null) return;
    const { until } = this.#range;
    const left: Bounded[] = [];
    for (const one of group.bounded) {
      if (one.startMs <= firstMs && one.endMs >= until - 1) addWeight(group, one.buckets, 1);
      else left.push(one);
    }
    group.bounded = left.length === 0 ? null : left;
  }

  #fire({ buckets, weight, others, bounded }: CronGroup, at: number): void {
    this.#count(1 + (others?.size ?? 0) + (bounded?.length ?? 0));
    const { from, bucketMs } = this.#range;
    const index = Math.floor((at - from) / bucketMs);
    buckets[index] = (buckets[index] ?? 0) + weight;
    if (others !== null) for (const [more, count] of others) more[index] = (more[index] ?? 0) + count;
    if (bounded === null) return;
    for (const { buckets: own, startMs, endMs } of bounded) {
      if (at >= startMs && at <= endMs) own[index] = (own[index] ?? 0) + 1;
    }
  }

  /** Whether enough was counted for a step. */
  #isStep(): boolean {
    if (this.#leftAtStep - this.#left < FIRES_OF_STEP) return false;
    this.#leftAtStep = this.#left;
    return true;
  }

  #count(fires = 1): void {
    this.#left -= fires;
    if (this.#left >= 0) return;
    const message = `lies so far ahead that the schedules fire more than ${FIRES_MAX} times; choose an earlier one`;
    throw optionError(this.#where, "until", message);
  }
}

interface CountedPeriod {
  readonly firstMs: number;
  readonly intervalMs: number;
  readonly endMs: number;
  weight: number;
}

function addWeight(group: CronGroup, buckets: Float64Array, weight: number): void {
  if (buckets === group.buckets) group.weight += weight;
  else {
    group.others ??= new Map();
    group.others.set(buckets, (group.others.get(buckets) ?? 0) + weight);
  }
}
