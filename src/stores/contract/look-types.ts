import type { OverdueRecord, ResolvedOverdueRecord } from "../../records/overdue.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";

// What `DataStore.look` is asked, and what it answers. Times are epoch milliseconds.

/** A pair of executor and task whose jobs a worker can run. */
export interface JobQueue {
  readonly executor: string;
  readonly taskId: string;
}

/** Which jobs a scheduler could run now, and how many. */
export interface JobCapacity {
  /** Whose jobs it could run. */
  readonly queues: readonly JobQueue[];
  /** The most jobs to acquire in a commit. */
  readonly limit: number;
  /** The most jobs to acquire in a commit for an executor, over all its queues. An executor that is not named is
   *  bounded by `limit` alone. Absent for none. */
  readonly bounds?: ReadonlyMap<string, number>;
}

/** Who calls `DataStore.look` or `DataStore.commit`, and what the caller wants to see. */
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

/** What a look is asked: one read of what is due. */
export interface LookRequest extends View {
  /** Tasks whose stored record may be outdated; null when there are none. */
  readonly tasks: readonly TaskRecord[] | null;
  /** Whether to find out if results or windows of `once` are to be removed, see rule V11. Default: false. */
  readonly asksForExpired?: boolean;
  /** Goes with `asksForExpired`: counts only rows that expired at least this long ago, in milliseconds. Default: 0. */
  readonly expiredForMs?: number;
  /** Asks for what the clock of the store's own machine says; see rule V14. Default: false. */
  readonly asksForNow?: boolean;
  /** Asks whether an uptime of a scheduler ends after this instant; see rule V13. */
  readonly uptimeAfter?: number;
  /** Asks for the texts of `zoneRules` that schedules have: at most `limit`, in order, beginning after a text. */
  readonly zoneRules?: { readonly after: string; readonly limit: number };
  /** Schedules that a program declares, each once, to find out which of them are stored as they are declared. */
  readonly declared?: readonly ScheduleDeclaration[];
}

/** A schedule as a program declares it with the policy `update`. */
export type ScheduleDeclaration = Pick<ScheduleRecord, "id" | "declaration" | "version">;

/** What there is to do. See rules V1 to V9 of docs/store-contract.md. */
export interface Seen {
  /** Schedules that are not paused and have a fire time in the window, by `nextFireTime`, then id. */
  readonly due: readonly LookedSchedule[];
  /** The earliest `nextFireTime` of a schedule that is not paused, comes after the window's `after`, and is not in
   *  `due`. */
  readonly nextFireAt: number | null;
  /** The earliest `runAt` of the waiting jobs, of any queue, that are to run later than `now`. */
  readonly nextRunAt: number | null;
  /** When the first of the waiting jobs, of any queue, misses its start, or has missed it. See rule D5. */
  readonly nextMissAt: number | null;
  /** The earliest end of a lease on a job, whoever holds the lease. */
  readonly leaseEndsAt: number | null;
  /** Whether a commit with a higher limit would acquire more jobs of the queues now. The value means nothing while a
   *  lease waits for recovery (`leaseEndsAt <= now`). See rule V8. */
  readonly hasReady: boolean;
  /** The version of the blackouts; absent while there was none, and without schedules. See rule B3. */
  readonly blackouts?: number;
  /** When the first pause ends, of a schedule, a task or a key, in the past too; absent for no such pause. See rules
   *  S17 and T15. */
  readonly pauseEndsAt?: number;
  /** What a commit with `overdue` has to do; absent for nothing, and without a `Ledger`. See rules O10 to O12. */
  readonly overdue?: SeenOverdue;
}

/** What a look saw. */
export interface LookReport extends Seen {
  /** Ids of the request's `tasks` that differ from their stored records, in order. See rule V10. */
  readonly staleTaskIds: readonly string[];
  /** Whether a clean-up has results or windows to remove; false unless asked for. */
  readonly hasExpired: boolean;
  /** In epoch milliseconds; absent unless asked for, and for a store without a clock. */
  readonly storeNow?: number;
  /** Whether an uptime ends after the instant of `uptimeAfter`; false unless asked for, and without a `Ledger`. */
  readonly hasUptimeAfter?: boolean;
  /** Each text once; absent unless asked for, and in a store without `DataStore.zoneRules`. */
  readonly zoneRules?: readonly string[];
  /** The stored schedules that `addSchedules` would leave as they are; absent unless asked for. See rule V12. */
  readonly unchanged?: readonly ScheduleRecord[];
}

/** What a planner needs of a schedule. */
export interface LookedSchedule
  extends Omit<
    ScheduleRecord,
    | "payload"
    | "metadata"
    | "name"
    | "skippedCount"
    | "failures"
    | "lastFailure"
    | "revision"
    | "declaration"
    | "version"
    | "concurrencyKey"
    | "failureExpirationMs"
    | "pausedUntil"
    | "pauseReason"
    | "pausedBy"
    | "pauseAfterFailures"
    | "expectStartMs"
    | "expectFinishMs"
  > {
  readonly nextFireTime: number;
  /** The preferred scheduler: it committed the schedule's last plan, can run its jobs, and is alive. Null for nobody.
   *  Other schedulers let it plan first, because one commit is cheaper than a race. See rules P10 and P11. */
  readonly preferredScheduler: string | null;
  /** Since when the job of the earliest fire time waits that waits for its first start although it is due, while no
   *  job of the schedule is under a lease; absent for none. A store may leave it out of a schedule whose `coalesce` is
   *  `all`, or whose `overlap` is not `queue`. See rules V15 and P17. */
  readonly missedSince?: number;
  /** The approximate size of the stored row in bytes, payload and metadata included. A job of the schedule costs at
   *  most about as much. */
  readonly bytes: number;
}

// What looks and commits say of overdue occurrences.

/** What a commit with `overdue` has to do. */
export interface SeenOverdue {
  /** The earliest time at which an overdue occurrence may become due; null for never. See rules O10 and O11. */
  readonly nextAt: number | null;
  /** Whether overdue occurrences are open. */
  readonly isOpen: boolean;
}

/** An overdue occurrence that a commit raised and resolved is in both. */
export interface OverdueReport {
  /** Occurrences that the commit found overdue. */
  readonly raised: readonly OverdueRecord[];
  /** Occurrences that are overdue no longer, and why. */
  readonly resolved: readonly ResolvedOverdueRecord[];
}
