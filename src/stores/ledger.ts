import type { JobRecord } from "../records/job.ts";
import type {
  LifeRecord,
  OccurrenceRecord,
  ScheduleChangeRecord,
  SkipVerdict,
  TaskPauseRecord,
} from "../records/ledger.ts";
import type { JobOutcome } from "../records/policies.ts";

/** How much a store remembers. */
export interface LedgerLimits {
  /** Most entries of one schedule; the oldest are removed by the clean-up. */
  readonly countMax: number;
  /** How long an entry is kept, in milliseconds. */
  readonly ageMsMax: number;
}

/**
 * What a store remembers of the fire times of its schedules, of changes, and of the lives of schedulers. The store
 * writes it in the commits that it makes anyway:
 *
 * - *Runs.* When a job that a fire time made ends, in whatever way, the same commit leaves a `Run`. A job that repeats
 *   another one (`retryOf`) replaces the entry of that fire time when it ends. A job that gave way to a newer one
 *   (`overlap`) leaves a `replaced` skip of its fire time instead.
 * - *Skips.* A plan that counts leaves its `skips`, and `overlapSkipped` for the fire that made no job.
 * - *Changes.* Additions, changes and removals of schedules that come with a `ChangeNote` leave a record, in the same
 *   commit, if they changed anything. A repetition leaves no second one. Where a change moves the next fire time N
 *   while N <= `at`, the fire times in [N, effectiveFrom - 1] leave a skip without a count: `paused` if the schedule
 *   was paused before, else `replaced`; a removal leaves `removed`, or `paused`. A change that moves the next fire
 *   time, or that changes the rule, cuts the skips that reach beyond `effectiveFrom`: those of earlier changes, and
 *   those of plans of an earlier life of the schedule, which lives through these fire times again.
 * - *Each fire time once.* A skip leaves out, as if they were not its own, the fire times that have a run, or an
 *   unfinished job, of an earlier life of the schedule: it is then several entries without a count. A run takes the
 *   place of the entry of its fire time.
 * - *Lives.* Each sign of life (`aliveUntil`) extends the last life of the identity, or begins a new one if the last
 *   one had ended before.
 * - The clean-up removes what is older than `ageMsMax` and what is beyond `countMax`, a bounded part each time; changes
 *   beyond the newest 100 of a schedule or task; and all of a removed schedule when nothing of it is left within
 *   `ageMsMax`.
 */
export interface Ledger {
  readonly limits: LedgerLimits;
  /** From which instant on the ledger has all fire times of a schedule; it grows when the clean-up removes entries.
   *  Null when nothing is known about the schedule. */
  getLedgerStart(scheduleId: string): Promise<number | null>;
  /** A page of entries of a schedule that touch [from, until], by fire time. A cursor stays good while entries come and
   *  go. At most 10,000 entries are looked through for a page. @throws {OptionsError} for a cursor that is none of this
   *  store's */
  getOccurrences(filter: OccurrenceRecordFilter): Promise<{
    readonly items: readonly OccurrenceRecord[];
    /** Null when this page is the last. */
    readonly cursor: string | null;
  }>;
  /** The unfinished job of a fire time that is no repetition of another job; null when there is none. */
  getJobOfFireTime(scheduleId: string, fireTime: number): Promise<JobRecord | null>;
  /** Changes of a schedule (the oldest kept ones first, or the newest first), at most `limit`, beginning after `after`
   *  (a `seq`, in that order). */
  getScheduleChanges(filter: ChangeRecordFilter & { readonly scheduleId: string }): Promise<ScheduleChangeRecord[]>;
  /** Pauses of a task and of its keys, as above. */
  getTaskPauseHistory(filter: ChangeRecordFilter & { readonly taskId: string }): Promise<TaskPauseRecord[]>;
  /** The lives that touch [from, until], by `since`: at most 1,000, those that began last. */
  getLives(filter: { readonly from: number; readonly until: number }): Promise<LifeRecord[]>;
}

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

export interface ChangeRecordFilter {
  readonly order: "oldest" | "newest";
  readonly limit: number;
  readonly after: number | null;
}
