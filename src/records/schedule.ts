import type { CatchUp, CoalescePolicy, Labels, Metadata, RunOverlapPolicy } from "./policies.ts";
import type { ScheduleFailure } from "./schedule-failure.ts";

/** A schedule, in the form that stores keep. Times are epoch milliseconds. */
export interface ScheduleRecord {
  readonly id: string;
  /** A name for people, which need not be unique; null for none. */
  readonly name: string | null;
  readonly taskId: string;
  /** The trigger's JSON as text, with the trigger's anchor (its start). */
  readonly trigger: string;
  /** Canonical text of the trigger without its anchor. It is equal for triggers that are the same rule. */
  readonly triggerRule: string;
  /** Serialized payload, or null for none. */
  readonly payload: string | null;
  readonly executor: string;
  readonly priority: number;
  readonly coalesce: CoalescePolicy;
  /** How late a job may start, in milliseconds; null is unlimited. */
  readonly misfireGraceMs: number | null;
  /** Longest random delay of a fire, in milliseconds; 0 for none. */
  readonly maxJitterMs: number;
  /** Bounds of what is made up for; null for none. */
  readonly catchUp: CatchUp | null;
  /** How long results of its jobs are kept, in milliseconds. */
  readonly resultExpirationMs: number;
  readonly maxRecoveries: number;
  /** What a fire does while an earlier run of the schedule is unfinished. */
  readonly overlap: RunOverlapPolicy;
  readonly metadata: Metadata;
  /** The labels of the schedule, and of its jobs to come; absent for none; never empty. */
  readonly labels?: Labels;
  /** How long it is kept how a job failed, in milliseconds; absent is as `keptMsOf` says. */
  readonly failureExpirationMs?: number;
  /** The concurrency key of the schedule's jobs, see `JobRecord.concurrencyKey`; absent for none. */
  readonly concurrencyKey?: string;
  /** Within how many milliseconds after a fire time a job is to start; absent for no expectation. */
  readonly expectStartMs?: number;
  /** The same for its end. Not less than `expectStartMs`. */
  readonly expectFinishMs?: number;
  /** After how many failed runs in a row, of jobs that fire times made, the store pauses the schedule; absent for
   *  never. */
  readonly pauseAfterFailures?: number;
  readonly paused: boolean;
  /** When the pause ends by itself; absent for a pause without an end, and for none. */
  readonly pausedUntil?: number;
  /** Why it was paused; absent for no reason, and for no pause. */
  readonly pauseReason?: string;
  /** Who paused it; absent where nobody said so, and for no pause. */
  readonly pausedBy?: string;
  readonly createdAt: number;
  /** The next fire time, or null when the trigger is exhausted. */
  readonly nextFireTime: number | null;
  /** The time zone rules by which the next fire time was computed, such as `Europe/Berlin 2024 1f2e3d4c`; absent where
   *  no rule made it (a caller chose it), or no clock change can move it. */
  readonly zoneRules?: string;
  /** The last fire time that was processed; null before the first. */
  readonly lastFireTime: number | null;
  /** Until when the jobs of missed fire times are spread: the next one runs then at the earliest. Null for no pace that
   *  lasts. */
  readonly paceUntil: number | null;
  /** Grows with every commit of a plan and with every change, so that an outdated plan does not count. Begins at
   *  a random number. */
  readonly fence: number;
  /** Grows with every change, and with no plan. Begins at `createdAt`, so that it tells apart two schedules that had
   *  one id, one after the other. */
  readonly revision: number;
  /** How many fire times made no job, or lost their job to a newer one, because of `overlap`. */
  readonly skippedCount: number;
  /** How many runs have failed in a row, where the schedule counts them; absent for none. Stores count them. */
  readonly failures?: number;
  /** How a job of the schedule failed last; absent for none. Stores write it when such a job ends. */
  readonly lastFailure?: ScheduleFailure;
  /** A hash of what a program last declared about the schedule; absent when no program declared it. Edits leave it as
   *  it is. */
  readonly declaration?: string;
  /** The version of the program that declared it; absent when it has none. */
  readonly version?: number;
}
