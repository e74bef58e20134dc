import { optionError } from "../core/option-errors.ts";
import { CronTrigger } from "../triggers/cron.ts";
import { CronBatch } from "../triggers/cron-batch.ts";
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

interface Range {
  readonly from: number;
  readonly until: number;
  readonly bucketMs: number;
  readonly count: number;
}

/** Most fire times that are computed. */
const FIRES_MAX = 10_000_000;

/** Questions to all crontab rules at once. Rules that fire more often are compared, which costs each as much as some
 *  hundred fire times do, and then those that are alike are computed once. */
const BATCH_ROUNDS = 32;

/** A schedule, where its fires are counted. */
interface Counted extends CountedSchedule {
  readonly buckets: Float64Array;
}

/** Counts the fire times in [from, until). @throws {OptionsError} for too many of them */
export function countFires(schedules: readonly CountedSchedule[], range: Range, where: string): TaskFires[] {
  const { from, until, bucketMs, count } = range;
  const tasks = new Map<string, Map<number, TaskFires>>();
  const counted = schedules.map((schedule): Counted => ({ ...schedule, buckets: bucketsOf(tasks, schedule, count) }));
  let left = FIRES_MAX;
  const fire = (at: number, { buckets }: Counted, weight: number): void => {
    if (--left < 0) {
      const message = `lies so far ahead that the schedules fire more than ${FIRES_MAX} times; choose an earlier one`;
      throw optionError(where, "until", message);
    }
    const index = Math.floor((at - from) / bucketMs);
    buckets[index] = (buckets[index] ?? 0) + weight;
  };
  const crons = counted.filter(({ trigger }) => trigger instanceof CronTrigger);
  const others = counted.filter(({ trigger }) => !(trigger instanceof CronTrigger));
  const often = askTogether(crons, range, fire);
  for (const alike of groupsOf(often, others, from)) {
    const [{ schedule, afterMs } = { schedule: null, afterMs: 0 }] = alike;
    if (schedule === null) continue;
    const rule = schedule.trigger.startingAtMs(from);
    for (let at = rule.nextMs(afterMs); at !== null && at < until; ) {
      fire(at, schedule, alike.length);
      const next: number | null = rule.nextMs(at);
      if (next !== null && !(next > at)) break;
      at = next;
    }
  }
  return [...tasks.values()].flatMap((byTime) => [...byTime.values()]);
}

function bucketsOf(
  tasks: Map<string, Map<number, TaskFires>>,
  { taskId, runMs }: CountedSchedule,
  count: number,
): Float64Array {
  const byTime = tasks.get(taskId) ?? new Map<number, TaskFires>();
  tasks.set(taskId, byTime);
  const fires = byTime.get(runMs) ?? { runMs, buckets: new Float64Array(count) };
  byTime.set(runMs, fires);
  return fires.buckets;
}

/** A schedule, and the instant after which its fires are still to be counted. */
interface Rest {
  readonly schedule: Counted;
  readonly afterMs: number;
}

/** Counts fires of crontab rules round by round. Returns what fires on after the last round. */
function askTogether(
  crons: readonly Counted[],
  { from, until }: Range,
  fire: (at: number, schedule: Counted, weight: number) => void,
): Rest[] {
  const batch = new CronBatch(crons.map(({ trigger }) => trigger as CronTrigger));
  const after = Float64Array.from(crons, ({ startMs }) => Math.max(from, startMs) - 1);
  for (let round = 0, alive = crons.length; round < BATCH_ROUNDS && alive > 0; round++) {
    batch.nextMs(after, after);
    alive = 0;
    for (const [place, schedule] of crons.entries()) {
      const at = after[place] ?? Number.NaN;
      if (at < until) {
        fire(at, schedule, 1);
        alive++;
      } else after[place] = Number.NaN;
    }
  }
  return crons.flatMap((schedule, place) => {
    const afterMs = after[place] ?? Number.NaN;
    return Number.isNaN(afterMs) ? [] : [{ schedule, afterMs }];
  });
}

/** Schedules that fire alike from an instant on, and are counted in the same buckets. */
function groupsOf(often: readonly Rest[], others: readonly Counted[], from: number): Iterable<readonly Rest[]> {
  const rests = [...often, ...others.map((schedule) => ({ schedule, afterMs: Math.max(from, schedule.startMs) - 1 }))];
  const groups = new Map<Float64Array, Map<string, Rest[]>>();
  for (const rest of rests) {
    const { buckets, trigger } = rest.schedule;
    const byRule = groups.get(buckets) ?? new Map<string, Rest[]>();
    groups.set(buckets, byRule);
    const key = `${rest.afterMs} ${JSON.stringify(trigger.toJSON())}`;
    const alike = byRule.get(key) ?? [];
    byRule.set(key, alike);
    alike.push(rest);
  }
  return [...groups.values()].flatMap((byRule) => [...byRule.values()]);
}
