import type { JobRecord } from "../../records/job.ts";
import type {
  OccurrenceRecord,
  ScheduleChangeRecord,
  SkipVerdict,
  TaskPauseRecord,
  UptimeRecord,
} from "../../records/ledger.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { StatsCounts, StatsFilter } from "./stats-types.ts";

/** How much a store remembers. */
export interface LedgerLimits {
  /** Most entries of one schedule; the oldest are removed by the clean-up. */
  readonly countMax: number;
  /** How long an entry is kept, in milliseconds. */
  readonly ageMsMax: number;
}

/**
 * What a store remembers of the fire times of its schedules (runs and skips), of changes of schedules and pauses of
 * tasks, of the uptimes of schedulers, and of how many jobs ended. The store writes it in the commits that it makes
 * anyway, and its clean-up bounds it. See rules H1 to H30 of docs/store-contract.md.
 */
export interface Ledger {
  /** How much is remembered of each schedule. */
  readonly limits: LedgerLimits;
  /** From which time on the ledger has all fire times of a schedule; null when nothing is known about the schedule.
   *  See rule H16. */
  getLedgerStart(scheduleId: string): Promise<number | null>;
  /** A page of entries of a schedule that touch [from, until], by fire time. See rules H14 and I2.
   *  @throws {OptionsError} for a cursor that is none of this store's */
  getOccurrences(filter: OccurrenceRecordFilter): Promise<{
    readonly items: readonly OccurrenceRecord[];
    /** Null when this page is the last. */
    readonly cursor: string | null;
  }>;
  /** What is known of single fire times of schedules, at most 10,000 in all; one answer per fire time, in order. See
   *  rule H25. */
  getFireTimes(asked: readonly AskedFireTimes[]): Promise<(FireTimeRecord | null)[][]>;
  /** The unfinished job of a fire time that is no repetition of another job; null when there is none. */
  getJobOfFireTime(scheduleId: string, fireTime: number): Promise<JobRecord | null>;
  /** A page of the changes of a schedule (the oldest kept ones first, or the newest first), beginning after `after` (a
   *  `seq`, in that order). See rules H12 and I1. */
  getScheduleChanges(filter: ChangeRecordFilter & { readonly scheduleId: string }): Promise<{
    readonly items: ScheduleChangeRecord[];
    readonly hasMore: boolean;
  }>;
  /** Pauses of a task and of its keys, at most `limit`, in the same order. */
  getTaskPauseHistory(filter: ChangeRecordFilter & { readonly taskId: string }): Promise<TaskPauseRecord[]>;
  /** The uptimes that touch [from, until], by `since`: at most 1,000, those that began last. */
  getUptimes(filter: { readonly from: number; readonly until: number }): Promise<UptimeRecord[]>;
  /** Takes back what a clock wrote that was ahead: what is to be cleaned up after an instant is due, and jobs that were
   *  added, failed or fell asleep after it are put off as long from it. With `hasUptimes`, the uptimes that begin after
   *  it are removed. */
  takeBackAfter(instant: number, hasUptimes: boolean): Promise<void>;
  /** How many jobs ended, in which way, and how long they took, by the hour or the day. See rules H27 to H30. */
  getStats(filter: StatsFilter): Promise<StatsCounts>;
}

/** Which entries of a schedule's history, and how many. */
export interface OccurrenceRecordFilter {
  readonly scheduleId: string;
  readonly from: number;
  readonly until: number;
  /** Only entries with one of these outcomes of jobs or verdicts of skips; absent for all. */
  readonly verdicts?: readonly (JobOutcome | SkipVerdict)[];
  /** `newest` is the opposite order. */
  readonly order: "oldest" | "newest";
  readonly limit: number;
  readonly cursor: string | null;
}

/** Fire times of a schedule, in any order. */
export interface AskedFireTimes {
  readonly scheduleId: string;
  readonly fireTimes: readonly number[];
}

/** The entry that has a fire time, or its unfinished job. */
export type FireTimeRecord = OccurrenceRecord | ({ readonly kind: "job" } & UnfinishedRun);

/** The unfinished job of a fire time. */
interface UnfinishedRun {
  readonly jobId: string;
  readonly scheduledFireTime: number;
  readonly createdAt: number;
  /** Failed ones, lost ones, and the one of the lease. */
  readonly attempts: number;
}

/** Which records of changes, and how many. */
export interface ChangeRecordFilter {
  /** `newest` is the opposite order. */
  readonly order: "oldest" | "newest";
  readonly limit: number;
  /** The `seq` after which the page begins, in its order; null for the first page. */
  readonly after: number | null;
}
