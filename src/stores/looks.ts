import type { ScheduleRecord } from "../records/schedule.ts";
import type { TaskRecord } from "../records/task.ts";
import type { SeenAlarms } from "./alarms.ts";

// What `DataStore.look` is asked, and what it answers. Times are epoch milliseconds.

/** A pair of executor and task whose jobs a worker can run. */
export interface JobQueue {
  readonly executor: string;
  readonly taskId: string;
}

/** Which jobs a scheduler could run now, and how many. */
export interface JobCapacity {
  readonly queues: readonly JobQueue[];
  /** The most jobs to acquire in a step. */
  readonly limit: number;
  /** The most jobs to acquire in a step for an executor, over all its queues. An executor that is not named is bounded
   *  by `limit` alone. Absent for none. */
  readonly bounds?: ReadonlyMap<string, number>;
}

/** Who calls `DataStore.look` or `DataStore.step`, and what the caller wants to see. */
export interface View {
  readonly now: number;
  /** Identity of the scheduler. */
  readonly schedulerId: string;
  /** What the scheduler could run now; null for a scheduler that runs no jobs. */
  readonly jobs: JobCapacity | null;
  /** Which schedules to show; null for a scheduler that fires none. */
  readonly schedules: ScheduleWindow | null;
}

/** Which due schedules a look shows: one page of them. */
export interface ScheduleWindow {
  /** Schedules whose `nextFireTime` is not later than this instant are shown. It is later than `now` for a look
   *  ahead. */
  readonly dueBy: number;
  /** Most schedules to show. */
  readonly limit: number;
  /** Most `bytes` that the shown schedules have together. The first schedule is shown whatever its size. */
  readonly bytesMax: number;
  /** The schedule after which the page begins, in order of `nextFireTime`, then id; null for the first page. */
  readonly after: readonly [nextFireTime: number, id: string] | null;
}

export interface LookRequest extends View {
  /** Tasks to compare with their stored records: those that the store may not have as they are. Null when there are
   *  none. */
  readonly tasks: readonly TaskRecord[] | null;
  /** Whether to find out if results or windows of `once` are to be removed. Default: false. */
  readonly asksForExpired?: boolean;
  /** Goes with `asksForExpired`: only what has been to be removed for so long counts, in milliseconds. Default: 0. */
  readonly expiredForMs?: number;
  /** Asks for the texts of `zoneRules` that schedules have: at most `limit`, in order, beginning after a text. */
  readonly zoneRules?: { readonly after: string; readonly limit: number };
}

/** What there is to do. Without `jobs` in the view, `hasReady` is false, and `nextRunAt`, `nextMissAt` and
 *  `leaseEndsAt` are null; without `schedules`, `due` is empty and `nextFireAt` null. */
export interface Seen {
  /** Schedules that are not paused and have a fire time in the window, by `nextFireTime`, then id. */
  readonly due: readonly LookedSchedule[];
  /** The earliest `nextFireTime` of a schedule that is not paused, comes after the window's `after`, and is not in
   *  `due`. */
  readonly nextFireAt: number | null;
  /** The earliest `runAt` of the waiting jobs, of any queue, that are to run later than `now`. */
  readonly nextRunAt: number | null;
  /** When the first of the jobs that wait, of any queue and for whatever, misses its start, or has missed it: a
   *  millisecond after its `startDeadline`. See `DataStore.step`. */
  readonly nextMissAt: number | null;
  /** The earliest end of a lease on a job, whoever holds the lease. */
  readonly leaseEndsAt: number | null;
  /** Whether the queues have more jobs, besides those that this step acquired, that could be acquired now if the limit
   *  were higher: their `runAt <= now`, their task has room, and this step has not acquired as many jobs for their
   *  executor as its bound allows. The value means nothing while a lease waits for
   *  recovery (`leaseEndsAt <= now`). */
  readonly hasReady: boolean;
  /** What a step with `alarms` has to do. Absent for nothing, without a `Ledger`, and for a view without jobs and
   *  schedules. A store that knows of no schedule that expects anything may learn up to 10 s late, by `now`, that
   *  somebody else has added one. */
  readonly alarms?: SeenAlarms;
}

export interface LookReport extends Seen {
  /** Ids of the request's `tasks` that `DataStore.putTasks` would not leave as they are, or that are `outdated`,
   *  in order. */
  readonly staleTaskIds: readonly string[];
  /** Whether there are results that have expired at `now`, or windows, which `DataStore.cleanup` would remove;
   *  false unless asked for. */
  readonly hasExpired: boolean;
  /** Each text once; absent unless asked for, and in a store without `DataStore.zoneRules`. */
  readonly zoneRules?: readonly string[];
}

/** What a planner needs of a schedule. */
export interface LookedSchedule
  extends Omit<
    ScheduleRecord,
    | "payload"
    | "metadata"
    | "name"
    | "skippedCount"
    | "declaration"
    | "version"
    | "concurrencyKey"
    | "expectStartMs"
    | "expectFinishMs"
  > {
  readonly nextFireTime: number;
  /** The scheduler that committed the schedule's last plan and can run its jobs, while that scheduler is alive
   *  (`aliveUntil > now`). Null for nobody; a change of the schedule may also make it null. Other schedulers leave the
   *  favourite a moment's advantage, because one commit is cheaper than a race. */
  readonly favourite: string | null;
  /** The approximate size of the stored row in bytes, payload and metadata included. A job of the schedule costs at
   *  most about as much. */
  readonly bytes: number;
}
