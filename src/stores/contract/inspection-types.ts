import type { OverdueRecord } from "../../records/overdue.ts";

// What a store tells people. Times are epoch milliseconds.

/** What a store tells of itself to people. */
export interface StoreInspection {
  /** The tasks that have unfinished jobs, by id. */
  readonly tasks: readonly TaskBacklog[];
  /** The unleased job with the earliest `runAt`, if that is not later than `now`; null when no job is due. See rule
   *  I8. */
  readonly oldestDueJob: { readonly id: string; readonly taskId: string; readonly runAt: number } | null;
  /** The schedule with the earliest `nextFireTime` of those that are not paused, if its `nextFireTime <= now`; null
   *  when no schedule is due. */
  readonly oldestDueSchedule: { readonly id: string; readonly taskId: string; readonly nextFireTime: number } | null;
  /** What the clock of the store's own machine says, in epoch milliseconds; null for a store without a clock. */
  readonly storeNow: number | null;
  /** What will slow the database down, unless somebody does something about it; absent for nothing. Left out of an
   *  inspection that counts schedules. */
  readonly warnings?: readonly StoreWarning[];
  /** The overdue occurrences that are open, at most 100, and how many there are; absent for none. A count may stop at
   *  10,000: `isCapped` then stands for that many or more. */
  readonly overdue?: {
    readonly open: readonly OverdueRecord[];
    readonly count: number;
    readonly isCapped?: true;
  };
  /** How many schedules there are; absent unless asked for, and where a store does not count them. */
  readonly schedules?: ScheduleCounts;
}

/** What somebody should do something about in a store that works. */
export interface StoreWarning {
  /** `"clockSkew"`: the store's clock and the scheduler's differ by more than a second. `"oldTransaction"`: a
   *  transaction that has been open for long keeps the database from removing dead rows. `"deadRows"`: a table has more
   *  dead rows than live ones. `"clockAhead"`: a scheduler was up in the future, by its clock. Stores may have
   *  others. */
  readonly code: string;
  /** What is the matter, and what to do. */
  readonly message: string;
}

/** What an inspection is to find out besides the rest. */
export interface InspectionOptions {
  /** Whether to count the schedules too. Default: false. */
  readonly countsSchedules?: boolean | undefined;
  /** How far jobs and schedules are counted, of each task and state. A store that knows its counts may count on.
   *  Default: 10,000 */
  readonly countMax?: number | undefined;
  /** Whether to reject while no write succeeds: after one that failed, the store tries one that is as large, until one
   *  succeeds. Default: false. */
  readonly checksWrites?: boolean | undefined;
}

/** How many schedules are in which state. */
export interface ScheduleCounts {
  /** Schedules that have a fire time and are not paused. */
  readonly active: number;
  /** Schedules that have a fire time and are paused. */
  readonly paused: number;
  /** Schedules that have no fire time left. */
  readonly ended: number;
  /** How many of the active ones are due. */
  readonly overdue: number;
  /** Whether one of the counts stopped at `countMax`, which then stands for that many or more. */
  readonly isCapped?: true;
}

/** How many unfinished jobs a task has. */
export interface TaskBacklog {
  readonly taskId: string;
  /** Jobs without a lease: those that are due, those that are to run later, and blocked ones. */
  readonly waiting: number;
  /** Jobs under a lease, live or not. */
  readonly running: number;
  /** How many of the waiting jobs are blocked by a limit or by their parents. Absent for none. */
  readonly blocked?: number;
  /** Whether the count of jobs that are not blocked stopped at `countMax`, so that there are as many or more. */
  readonly isQueuedCapped?: true;
  /** The same of blocked jobs. */
  readonly isBlockedCapped?: true;
}
