import type { OverdueRecord } from "../records/overdue.ts";

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
  /** The overdue occurrences that are open, at most 100, and how many there are, counted to 10,000; absent for none. */
  readonly overdue?: { readonly open: readonly OverdueRecord[]; readonly count: number };
  /** How many schedules there are; absent unless asked for, and where a store does not count them. */
  readonly schedules?: ScheduleCounts;
}

/** What an inspection is to find out besides the rest. */
export interface InspectionOptions {
  readonly countsSchedules?: boolean;
  /** Whether to reject while no write succeeds: if the last write of the store failed, the store tries one. */
  readonly checksWrites?: boolean;
}

/** How many schedules are in which state. A store may count each to 10,000 only: 10,000 then means as many or more. */
export interface ScheduleCounts {
  /** Schedules that have a fire time and are not paused. */
  readonly active: number;
  /** Schedules that have a fire time and are paused. */
  readonly paused: number;
  /** Schedules that have no fire time left. */
  readonly ended: number;
  /** How many of the active ones are due. */
  readonly overdue: number;
}

/** How many unfinished jobs a task has. */
export interface TaskBacklog {
  readonly taskId: string;
  /** Jobs without a lease: those that are due, and those that are to run later. A store may count to 10,000 only:
   *  10,000 then means as many or more. */
  readonly waiting: number;
  /** Jobs under a lease, live or not. */
  readonly running: number;
  /** How many of the waiting jobs are held by a limit or by their parents; bounded as `waiting` is. Absent for none. */
  readonly held?: number;
}
