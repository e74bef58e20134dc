import { mapInTurns } from "../../core/in-turns.ts";
import { zonedOf } from "../../core/temporal.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { FireTimeRecord } from "../../stores/contract/ledger-types.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import type { Environment } from "../environment.ts";
import { KnownBlackouts } from "../firing/known-blackouts.ts";
import type { ScheduleInclude } from "../options/checked-options.ts";
import { verdictOfOutcome } from "../options/occurrence-verdicts.ts";
import type { OccurrenceFacts } from "../views/occurrence.ts";
import type { ScheduleExtras } from "../views/schedule.ts";
import { statsOfSchedules } from "./stats-of-jobs.ts";

/** What a list has of its schedules besides, in their order: at most one read for each kind of it. */
export async function extrasOf(
  { store, clock }: Environment,
  schedules: readonly ScheduleRecord[],
  { next, runs, stats = false }: ScheduleInclude,
): Promise<ScheduleExtras[]> {
  const triggers = schedules.map(({ trigger }) => readTrigger(trigger));
  const blackouts = next === undefined ? null : new KnownBlackouts(await store.getBlackouts());
  const ids = schedules.map(({ id }) => id);
  const counted = stats ? await statsOfSchedules(store, ids, clock.now()) : null;
  const occurrences = runs === undefined ? null : await lastOccurrences(store, schedules, triggers, runs);
  return mapInTurns(schedules, (schedule, place) => ({
    ...(next === undefined ? {} : { next: orNone(() => nextOf(schedule, triggers[place] ?? null, next, blackouts)) }),
    ...(occurrences === null ? {} : { runs: occurrences[place] ?? [] }),
    ...(counted === null ? {} : { stats: counted[place] }),
  }));
}

/** The fire times to come of a schedule, in epoch milliseconds. @param from no fire time before this one */
export function fireTimesOf(
  { nextFireTime, lastFireTime }: ScheduleRecord,
  trigger: Trigger,
  limit: number,
  from?: number,
): number[] {
  if (nextFireTime === null) return [];
  // A new trigger may start before the last fire time of the old trigger, and such fire times do not fire.
  const earliest = lastFireTime === null ? nextFireTime : Math.max(nextFireTime, lastFireTime + 1);
  const startMs = Math.max(from ?? earliest, earliest);
  const found = [...trigger.fireTimes({ from: zonedOf(startMs, "UTC"), limit })].map(msOf);
  // The next fire time may be one that a caller chose, and not one of the trigger.
  return startMs !== nextFireTime || found[0] === nextFireTime ? found : [nextFireTime, ...found].slice(0, limit);
}

function msOf({ epochMilliseconds }: { readonly epochMilliseconds: number }): number {
  return epochMilliseconds;
}

function nextOf(
  schedule: ScheduleRecord,
  trigger: Trigger | null,
  limit: number,
  known: KnownBlackouts | null,
): NonNullable<ScheduleExtras["next"]> {
  if (trigger === null) return [];
  const blackouts = known?.of(schedule) ?? null;
  const times = fireTimesOf(schedule, trigger, limit);
  return times.map((fireTime) => ({
    ...{ fireTime, shiftedFrom: trigger.shiftedFromMs(fireTime) },
    blackout: blackouts?.idAt(fireTime) ?? null,
  }));
}

/** What became of the last fire times. They follow from the rule, so that each is found by its key, however many fire
 *  times other schedules have had since. */
async function lastOccurrences(
  { ledger = null }: Environment["store"],
  schedules: readonly ScheduleRecord[],
  triggers: readonly (Trigger | null)[],
  limit: number,
): Promise<OccurrenceFacts[][]> {
  if (ledger === null) return schedules.map(() => []);
  const asked = schedules.map(({ id: scheduleId, lastFireTime }, place) => ({
    scheduleId,
    fireTimes: lastFireTime === null ? [] : pastOf(lastFireTime, triggers[place] ?? null, limit),
  }));
  const found = await ledger.getFireTimes(asked);
  return asked.map(({ scheduleId, fireTimes }, place) => {
    const timeZone = triggers[place]?.timeZone ?? "UTC";
    return fireTimes.flatMap((fireTime, index): OccurrenceFacts[] => {
      const record = found[place]?.[index] ?? null;
      return record === null ? [] : [{ scheduleId, timeZone, fireTime, ...factsOf(record) }];
    });
  });
}

/** The last fire times, the newest first. */
function pastOf(lastFireTime: number, trigger: Trigger | null, limit: number): number[] {
  const times = [lastFireTime];
  for (let last = lastFireTime; trigger !== null && times.length < limit; ) {
    const [before = last] = orNone(() => [trigger.previousMs(last) ?? last]);
    if (!(before < last)) break;
    times.push(before);
    last = before;
  }
  return times;
}

function factsOf(record: FireTimeRecord): Pick<OccurrenceFacts, "verdict" | "into" | "run"> {
  if (record.kind === "skip") return { verdict: record.verdict, into: record.into, run: null };
  const { jobId, scheduledFireTime, createdAt, attempts } = record;
  const run = { jobId, scheduledFireTime, createdAt, attempts };
  if (record.kind === "job") {
    return { verdict: "waiting", into: null, run: { ...run, startedAt: null, finishedAt: null } };
  }
  const { startedAt, finishedAt, outcome } = record;
  return { verdict: verdictOfOutcome(outcome), into: null, run: { ...run, startedAt, finishedAt } };
}

/** One trigger that cannot be read, or that throws, must not spoil a list. */
function orNone<T>(times: () => readonly T[]): readonly T[] {
  try {
    return times();
  } catch {
    return [];
  }
}

function readTrigger(json: string): Trigger | null {
  try {
    return parseTrigger(json);
  } catch {
    return null;
  }
}
