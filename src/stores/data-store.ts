import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { ConflictPolicy, JobOutcome } from "../records/policies.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import type { SchedulerProfile, SchedulerRecord } from "../records/scheduler.ts";
import type { TaskRecord } from "../records/task.ts";
import type { Serializer } from "../serializers/serializer.ts";

/** What a store says about itself. */
export interface StoreCapabilities {
  /** Whether other processes may write to the same data, so that a scheduler must look for changes by itself. */
  readonly sharedByProcesses: boolean;
}

/**
 * Where tasks, schedules, jobs and results live. The contract suite `dataStoreContract` of `escapement/testing` holds
 * what the comments here say.
 *
 * - Stores own no clock and publish nothing: methods take `now` (epoch milliseconds) where they need it, and return
 *   what changed.
 * - Every method is one atomic step: all of it happened, or nothing.
 * - Every write is safe to repeat with the same arguments when its fate is unknown.
 * - Records that go in or come out are never touched again: a store keeps and returns its own copies (or frozen ones).
 * - Lease times: a lease is live while `acquiredUntil > now`.
 * - Failures of the store itself reject with `StoreUnavailableError`.
 */
export interface DataStore extends AsyncDisposable {
  /** Turns payloads and return values into the text that the records carry, and back. */
  readonly serializer: Serializer;
  readonly capabilities: StoreCapabilities;

  /** Opens the store. Idempotent; every other method may rely on it. The schema is brought up to date here, or by the
   *  first call that needs it: a scheduler's first look can read the schema's version on its way.
   *  @throws {StoreUnavailableError} when it cannot be opened, or is not a database; also, as that first call may, when
   *  its schema is newer than this library, or cannot be brought up to date */
  open(now: number): Promise<void>;
  /** Releases connections that the store itself opened. Idempotent. Same as `Symbol.asyncDispose`. */
  close(): Promise<void>;

  // ---- tasks

  /** Adds tasks, or replaces the settings of those that exist. One answer per task, in order. */
  putTasks(tasks: readonly TaskRecord[]): Promise<("added" | "updated" | "unchanged")[]>;
  /** All tasks, by id. */
  getTasks(): Promise<TaskRecord[]>;
  getTask(id: string): Promise<TaskRecord | null>;
  /** Removes a task that no schedule and no unfinished job refers to. */
  removeTask(id: string): Promise<"removed" | "inUse" | "missing">;

  // ---- the hot path

  /**
   * Reads what there is to do; writes nothing. One read, whatever the number of schedules and jobs. See {@link Seen}.
   * @throws {StoreUnavailableError}
   */
  look(request: LookRequest): Promise<LookReport>;
  /**
   * One step of a scheduler, one write that counts as a whole or not at all, in this order:
   *
   * 1. *Releases* of jobs that it holds: each counts only when the stored `fence` and `acquiredBy` are the release's.
   *    `finish` removes the job and keeps its result (unless `expiresAt <= now`); `retry` puts it back with the new
   *    `runAt` and `failedAttempts`; `giveUp` puts it back as it was. One that is to be cancelled, or that was given up
   *    after it `hasStarted`, is not put back: *recovery* ends it, or takes it back. `start` says that the job is about
   *    to start: it keeps its lease, and `startedFence` becomes its fence.
   * 2. *Recovery*, if `recover`, of jobs whose lease is no longer live, whoever held it. One that may have started
   *    goes back to the queue with `recoveries` + 1, or when `recoveries` has reached `maxRecoveries`, ends as
   *    `abandoned`. One that was lost before (`recoveries` > 0) and whose `startedFence` is not its fence has not
   *    started, because such a job starts only after a `start`: it goes back as it was. When `cancelRequested` is set,
   *    it ends as `cancelled`. Also with put-backs of jobs that recovery is to end or to take back.
   * 3. *Additions*, as {@link addJobs} adds them.
   * 4. *Plans*, by compare-and-swap. A plan counts when the schedule's `fence` and `nextFireTime` are what the planner
   *    saw (`fence`, `expected`), it is not paused, and `expected <= now`. Then the schedule's jobs are added, one for
   *    each of the plan's fires (one whose `(scheduleId, fireTime)` an unfinished job has already is left out) with the
   *    payload, executor, priority, metadata and limits that the schedule has; `nextFireTime`, `lastFireTime` and
   *    `paused` are replaced, `fence` grows by 1, and the favourite becomes this scheduler (`isFavourite`) or nobody.
   *    Otherwise nothing of the plan happens. Of several plans of one schedule in a step only the first can count.
   * 5. *Acquisition* of at most `jobs.limit` jobs: unleased, `runAt <= now`, `(executor, taskId)` among `jobs.queues`,
   *    `cancelRequested` not set, in order of priority (higher first), `runAt`, then addition. Of one task no more than
   *    its `maxRunningJobs` are ever under live leases (counted over everybody's; a task without a record has no
   *    limit); a task at its limit takes no place from others. Each gets `acquiredBy`, `acquiredUntil` = `until`,
   *    `fence` + 1. `runAt <= now` may also have been found by an earlier call, or when the job was added: a clock that
   *    is behind does not take it back. Nothing is acquired while a lease, of any queue, waits for recovery.
   * 6. A look, whose answer is part of the report.
   *
   * Repeated with the same `stepId` and `isRepetition` (and perhaps another `now` and `until`), it does what the
   * earlier tries did not, and answers what they did as far as that can be known:
   *
   * - A release is `released` when the job is as an earlier try of the step left it: put back by it and not touched
   *   since, or leased by it again. When the job is gone it is `released` if a result of it is kept, and `missing` if
   *   not: who knows that an earlier try was sent takes that for `released`.
   * - Additions and fires are never made twice, see {@link addJobs}. `addedJobIds` names the jobs of the plan that
   *   exist.
   * - `committed` is true when the schedule is as an earlier try left it. It may be false for a plan that one committed
   *   when others have changed the schedule since.
   * - `acquired` holds what any try of the step leased and still holds, also while a lease waits for recovery, topped
   *   up to the limit.
   * - What was recovered may be told by the earlier try alone.
   *
   * @throws {StoreUnavailableError} its fate is unknown: repeat it with the same `stepId` and `isRepetition`
   * @throws any other error when the store refuses something in it: then nothing of the step happened
   */
  step(request: StepRequest): Promise<StepReport>;

  // ---- schedules

  /**
   * Adds schedules in one commit; one answer per schedule, in order. Where the id exists, `conflictPolicy` decides:
   * - `doNothing`: the stored one stays; change `kept`.
   * - `replace`: every field but `createdAt`, `lastFireTime` and `fence` is replaced; when `triggerRule` is equal, the
   *   stored `trigger` (its anchor) and `nextFireTime` stay too. `fence` grows by 1. Change `replaced`.
   * - `error`: nothing of the whole call is written; `conflictId` names the first id that is in use.
   * An id that comes twice in one call counts as existing the second time.
   */
  addSchedules(additions: readonly ScheduleAddition[]): Promise<ScheduleAdditionReport>;
  getSchedule(id: string): Promise<ScheduleRecord | null>;
  /** A page of schedules by id. */
  getSchedules(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>>;
  /** Replaces the given fields and adds 1 to `fence`: plans made before no longer count. With `expectedFence` nothing
   *  happens unless the stored fence is equal. Null when missing or not equal. */
  updateSchedule(id: string, changes: ScheduleChanges, expectedFence?: number): Promise<ScheduleRecord | null>;
  /** Removes a schedule; jobs that it made stay. False when missing. */
  removeSchedule(id: string): Promise<boolean>;

  // ---- jobs and results

  /**
   * Adds jobs in one commit; one answer per job, in order. A job whose `(taskId, idempotencyKey)` or `(scheduleId,
   * fireTime)` an unfinished job has is not added: the answer is the existing one with `isNew: false`. A job whose `id`
   * exists, as a job or as a result, is not added again and answers with `isNew: true`, since it is the repetition of
   * an unknown write. So does one whose job ended without a result that is kept, for 10 minutes (as long as there is
   * room to remember it).
   */
  addJobs(jobs: readonly JobRecord[]): Promise<JobAddition[]>;
  getJob(id: string): Promise<JobRecord | null>;
  /** A page of unfinished jobs by id. */
  getJobs(filter: JobFilter): Promise<RecordPage<JobRecord>>;
  /** Extends leases that still are the caller's (equal `fence` and `acquiredBy`, live or not yet taken by another), and
   *  shortens none, because an extension may arrive late.
   *  Leases of the caller that it does not name (by job and fence), and that steps of its `incarnation` up to
   *  `settledStepId` made, run nowhere: a try of such a step arrived late. They are given up, and count as no recovery;
   *  the lease of one that is to be cancelled ends at `now` instead, so that *recovery* ends it. */
  extendLeases(extension: LeaseExtension): Promise<LeaseExtensionReport>;
  /** Gives up the leases on jobs that dead runs of an identity left: those of all incarnations but `incarnation`, from
   *  which a try that arrives late takes nothing, and those that count as alive. For a scheduler that starts. Jobs go
   *  the way of *recovery* (see {@link step}). */
  giveUpLeases(request: LeaseSurrender): Promise<RecoveryReport>;
  /** Cancels a job: a queued one ends as `cancelled` at once (the result is kept unless it expires at once), a leased
   *  one gets `cancelRequested`, which its holder learns when it extends its lease. */
  cancelJob(id: string, now: number): Promise<CancelReport>;
  /** The runs of schedulers that count as alive at `now` (`aliveUntil > now`), by identity, then incarnation. */
  getSchedulers(now: number): Promise<SchedulerRecord[]>;
  /** The result of a job; null when there is none, or it has expired at `now`. */
  getJobResult(jobId: string, now: number): Promise<JobResultRecord | null>;
  /** A page of results that have not expired at `now`, by job id. */
  getJobResults(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>>;
  /** Removes expired results, and schedules that have no fire time left and no unfinished job; at most `limit` of
   *  each. */
  cleanup(request: { readonly now: number; readonly limit: number }): Promise<CleanupReport>;
}

export interface RecordPage<T> {
  readonly items: T[];
  /** Pass it as `cursor` for the next page; null at the end. */
  readonly cursor: string | null;
}

interface PageRequest {
  readonly limit: number;
  /** Where the previous page ended, or null for the first page. */
  readonly cursor: string | null;
}

export interface ScheduleFilter extends PageRequest {
  readonly taskId?: string;
  readonly paused?: boolean;
}

export interface JobFilter extends PageRequest {
  readonly taskId?: string;
  readonly scheduleId?: string;
}

export interface JobResultFilter extends PageRequest {
  readonly taskId?: string;
  readonly scheduleId?: string;
  readonly outcome?: JobOutcome;
}

export interface ScheduleAddition {
  readonly schedule: ScheduleRecord;
  readonly conflictPolicy: ConflictPolicy;
}

export type ScheduleAdditionReport =
  | { readonly conflictId: string }
  | {
      readonly conflictId: null;
      readonly results: readonly {
        readonly change: "added" | "replaced" | "kept";
        readonly schedule: ScheduleRecord;
      }[];
    };

export type ScheduleChanges = Partial<Omit<ScheduleRecord, "id" | "createdAt" | "fence">>;

export interface JobAddition {
  readonly job: JobRecord;
  readonly isNew: boolean;
}

/** A (executor, task) pair whose jobs a worker can run. */
export interface JobQueue {
  readonly executor: string;
  readonly taskId: string;
}

export type JobRelease = { readonly jobId: string; readonly fence: number } & (
  | { readonly kind: "finish"; readonly result: JobResultRecord }
  | { readonly kind: "retry"; readonly runAt: number; readonly failedAttempts: number }
  | { readonly kind: "giveUp"; readonly hasStarted?: boolean }
  | { readonly kind: "start" }
);

/** What a caller of {@link DataStore.look} or {@link DataStore.step} wants to see, and as whom. */
export interface View {
  readonly now: number;
  /** Identity of the scheduler. */
  readonly schedulerId: string;
  /** What it could run, and most jobs to acquire in a step; null when it runs none. */
  readonly jobs: { readonly queues: readonly JobQueue[]; readonly limit: number } | null;
  /** Which schedules to show; null when it fires none. */
  readonly schedules: ScheduleWindow | null;
}

export interface ScheduleWindow {
  /** Schedules whose `nextFireTime` is at most this; later than `now` for a look ahead. */
  readonly dueBy: number;
  readonly limit: number;
  /** Most `bytes` of the schedules that are shown, together; the first one is shown whatever its size. */
  readonly bytesMax: number;
  /** Only schedules that come after this one, in order of `nextFireTime`, then id; null for all. */
  readonly after: readonly [nextFireTime: number, id: string] | null;
}

export interface LookRequest extends View {
  /** Tasks whose stored record may differ, for a caller that has not looked yet; null for one that has. */
  readonly tasks: readonly TaskRecord[] | null;
}

/** What there is to do. Without `jobs` in the view, `hasReady` is false, and `nextRunAt` and `leaseEndsAt` are null;
 *  without `schedules`, `due` is empty and `nextFireAt` null. */
export interface Seen {
  /** Schedules that are not paused and have a fire time in the window, by `nextFireTime`, then id. */
  readonly due: readonly LookedSchedule[];
  /** The earliest `nextFireTime` of a schedule that is not paused, comes after `after`, and is not in `due`. */
  readonly nextFireAt: number | null;
  /** The earliest `runAt`, later than `now`, of a waiting job of any queue. */
  readonly nextRunAt: number | null;
  /** The earliest end of a lease on a job, whoever holds it. */
  readonly leaseEndsAt: number | null;
  /** Whether there are jobs of the queues, beyond those of this step, that could be acquired now, were the limit
   *  higher: `runAt <= now`, and their task has room. It may say either while a lease waits for recovery (`leaseEndsAt
   *  <= now`). */
  readonly hasReady: boolean;
}

export interface LookReport extends Seen {
  /** Ids of the request's `tasks` whose stored record is missing or differs, in order. */
  readonly staleTaskIds: readonly string[];
}

/** What a planner needs of a schedule. */
export interface LookedSchedule extends Omit<ScheduleRecord, "payload" | "metadata"> {
  readonly nextFireTime: number;
  /** The scheduler that committed its last plan and can run its jobs, while it is alive (`aliveUntil > now`); null for
   *  nobody, as it may be after a change of the schedule. Others leave it a moment's advantage, because one commit is
   *  cheaper than a race. */
  readonly favourite: string | null;
  /** Size of the stored row, payload and metadata included, about: what a job of it costs at most. */
  readonly bytes: number;
}

export interface StepRequest extends View {
  /** Names the step: the scheduler's incarnation, then text that grows with every step. The same for all tries of one
   *  step. */
  readonly stepId: string;
  /** Whether an earlier try may have been committed without an answer. */
  readonly isRepetition: boolean;
  /** When the leases of acquired jobs end. */
  readonly until: number;
  readonly releases: readonly JobRelease[];
  readonly additions: readonly JobRecord[];
  /** Whether to look for leases that have ended: when the last known `leaseEndsAt <= now`. */
  readonly recover: boolean;
  readonly plans: readonly SchedulePlan[];
  /** Says that the run of the scheduler is alive, where no extension does: for one that ticks. */
  readonly sign?: SignOfLife;
}

/** What a run of a scheduler says of itself. */
export interface SignOfLife {
  readonly incarnation: string;
  readonly aliveUntil: number;
  readonly profile: SchedulerProfile;
}

/** What a scheduler wants to become of a due schedule. It counts by compare-and-swap, see {@link DataStore.step}. */
export interface SchedulePlan {
  readonly scheduleId: string;
  /** As the planner saw it. */
  readonly fence: number;
  /** `nextFireTime` as the planner saw it. */
  readonly expected: number;
  readonly fires: readonly PlannedJob[];
  readonly nextFireTime: number | null;
  readonly lastFireTime: number | null;
  readonly paused: boolean;
  /** Whether the scheduler can run the schedule's jobs itself. */
  readonly isFavourite: boolean;
}

/** What the planner knows of a job; all else comes from the schedule. */
export interface PlannedJob {
  readonly jobId: string;
  readonly createdAt: number;
  readonly fireTime: number;
  readonly scheduledFireTime: number;
  readonly runAt: number;
  readonly startDeadline: number | null;
  readonly missedCount: number | null;
  readonly firstMissedTime: number | null;
  readonly lastMissedTime: number | null;
}

export interface StepReport extends Seen, RecoveryReport {
  /** Per release, in order. */
  readonly releases: readonly ReleaseStatus[];
  /** Per addition, in order. */
  readonly additions: readonly JobAddition[];
  /** Per plan, in order. */
  readonly plans: readonly PlanReport[];
  /** In the order of acquisition. */
  readonly acquired: readonly JobRecord[];
}

export interface PlanReport {
  readonly committed: boolean;
  /** The plan's jobs that exist. */
  readonly addedJobIds: readonly string[];
}

/** `released`; `fenced`: somebody else holds or held the job since; `missing`: there is no such job (any more). */
export type ReleaseStatus = "released" | "fenced" | "missing";

/** A job that went back to the queue, with what the event about it says. */
export interface RecoveredJob {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  /** The number of the last attempt that was lost. */
  readonly attempt: number;
}

export interface RecoveryReport {
  /** Jobs that went back to the queue. */
  readonly recovered: readonly RecoveredJob[];
  /** Jobs that ended as `abandoned` or `cancelled`. */
  readonly ended: readonly JobResultRecord[];
}

/** A job that a scheduler holds. */
export interface HeldJob {
  readonly jobId: string;
  readonly fence: number;
  /** Whether it has started: then `startedFence` becomes its fence. */
  readonly hasStarted?: boolean;
}

export interface LeaseExtension {
  readonly now: number;
  readonly schedulerId: string;
  /** Begins the ids of the steps of this run of the scheduler, and of no other run. */
  readonly incarnation: string;
  /** The last step whose answer is known; null before the first. Ids of steps grow, as text, in the order of
   *  sending. */
  readonly settledStepId: string | null;
  /** When the leases of `jobs` end. */
  readonly until: number;
  readonly jobs: readonly HeldJob[];
  /** Until when this run of the scheduler counts as alive (see {@link DataStore.getSchedulers}); null leaves that as it
   *  is. Only a resident one is a favourite (see {@link LookedSchedule.favourite}). */
  readonly aliveUntil: number | null;
  /** Goes with `aliveUntil`. Default: a resident scheduler of which nothing else is known. */
  readonly profile?: SchedulerProfile;
}

export interface LeaseSurrender {
  readonly now: number;
  readonly schedulerId: string;
  readonly incarnation: string;
  /** Both as in {@link LeaseExtension}. */
  readonly aliveUntil: number | null;
  readonly profile?: SchedulerProfile;
}

export interface LeaseExtensionReport {
  /** Jobs whose lease is not the caller's any more. */
  readonly lost: readonly string[];
  /** Jobs whose lease was extended, and that somebody asked to cancel. */
  readonly cancelRequested: readonly string[];
  /** Other resident runs of the same identity that count as alive; absent for none, and without `aliveUntil`. */
  readonly twins?: readonly Twin[];
}

/** Another run of a scheduler under the same identity. */
export interface Twin {
  readonly incarnation: string;
  readonly aliveUntil: number;
}

export type CancelReport =
  | { readonly status: "cancelled"; readonly result: JobResultRecord }
  | { readonly status: "requested"; readonly taskId: string; readonly acquiredBy: string }
  | { readonly status: "missing" };

export interface CleanupReport {
  readonly removedResults: number;
  readonly removedScheduleIds: readonly string[];
}
