import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { ConflictPolicy, JobOutcome } from "../records/policies.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
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

  /** Opens the store and brings its schema up to date. Idempotent; every other method may rely on it.
   *  @throws {StoreUnavailableError} when it cannot be opened, is not a database, or is newer than this library */
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

  // ---- schedules

  /**
   * Adds schedules in one commit; one answer per schedule, in order. Where the id exists, `conflictPolicy` decides:
   * - `doNothing`: the stored one stays; change `kept`.
   * - `replace`: every field but `createdAt` and `lastFireTime` is replaced; when `triggerRule` is equal, the stored
   *   `trigger` (its anchor) and `nextFireTime` stay too. Ends a lease on it (`fence` + 1). Change `replaced`.
   * - `error`: nothing of the whole call is written; `conflictId` names the first id that is in use.
   * An id that comes twice in one call counts as existing the second time.
   */
  addSchedules(additions: readonly ScheduleAddition[]): Promise<ScheduleAdditionReport>;
  getSchedule(id: string): Promise<ScheduleRecord | null>;
  /** A page of schedules by id. */
  getSchedules(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>>;
  /** Replaces the given fields and ends a lease on it (`fence` + 1): plans made before no longer count.
   *  With `expectedFence` nothing happens unless the stored fence is equal. Null when missing or not equal. */
  updateSchedule(id: string, changes: ScheduleChanges, expectedFence?: number): Promise<ScheduleRecord | null>;
  /** Removes a schedule; jobs that it made stay. False when missing. */
  removeSchedule(id: string): Promise<boolean>;
  /**
   * Leases due schedules to a scheduler, earliest `nextFireTime` first (then id), at most `limit`. Due: `nextFireTime
   * <= now`, not paused, and unleased or the lease no longer live. Each gets `acquiredBy`, `acquiredUntil`, `fence` +
   * 1. Repeating a call with the same `acquisitionId` returns what the first one leased and still holds, and tops it up
   * to `limit`.
   */
  acquireSchedules(request: ScheduleAcquisition): Promise<ScheduleAcquisitionReport>;
  /**
   * Commits what came of leased schedules, all plans in one commit. A plan counts when the stored `fence` and
   * `acquiredBy` are the plan's: then its jobs are added (one whose `(scheduleId, fireTime)` an unfinished job has
   * already is left out), `nextFireTime`, `lastFireTime` and `paused` are replaced, and the lease ends. Otherwise
   * nothing of it happens.
   */
  commitPlans(commit: PlanCommit): Promise<PlanCommitReport>;

  // ---- jobs and results

  /**
   * Adds jobs in one commit; one answer per job, in order. A job whose `idempotencyKey` or `(scheduleId, fireTime)` an
   * unfinished job has is not added: the answer is the existing one with `isNew: false`. A job whose `id` exists is not
   * added again and answers with `isNew: true`, since it is the repetition of an unknown write.
   */
  addJobs(jobs: readonly JobRecord[]): Promise<JobAddition[]>;
  getJob(id: string): Promise<JobRecord | null>;
  /** A page of unfinished jobs by id. */
  getJobs(filter: JobFilter): Promise<RecordPage<JobRecord>>;
  /**
   * One turn of a worker, one commit, in this order:
   * 1. *Releases* of jobs that it holds: each counts only when the stored `fence` and `acquiredBy` are the release's.
   *  `finish` removes the job and keeps its result (unless `expiresAt <= now`); `retry` puts it back with the new
   *    `runAt` and `failedAttempts`; `giveUp` puts it back as it was, but without a start deadline if it `hasStarted`
   *    in time. One that is to be cancelled is not put back: *recovery* ends it.
   * 2. *Recovery* of jobs whose lease is no longer live, whoever held it: back to the queue with `recoveries` + 1, or
   *    when `recoveries` has reached `maxRecoveries` (or `cancelRequested` is set), ended as `abandoned` (`cancelled`).
   * 3. *Acquisition* of at most `limit` jobs: unleased, `runAt <= now`, `(executor, taskId)` among `queues`,
   *    `cancelRequested` not set, in order of priority (higher first), `runAt`, then addition. Of one task no more than
   *    its `maxRunningJobs` are ever under live leases (counted over everybody's; a task without a record has no
   *    limit); a task at its limit takes no place from others. Each gets `acquiredBy`, `acquiredUntil`, `fence` + 1.
   *    Repeating a call with the same `acquisitionId` returns what the first one leased and still holds, and tops it up
   *    to `limit`. `runAt <= now` may also have been found by an earlier call, or when the job was added: a clock that
   *    is behind does not take it back.
   */
  turn(request: TurnRequest): Promise<TurnReport>;
  /** Extends leases that still are the caller's (equal `fence` and `acquiredBy`, live or not yet taken by another). */
  extendLeases(extension: LeaseExtension): Promise<LeaseExtensionReport>;
  /** Gives up every lease on schedules and jobs that an identity holds: for a scheduler that starts after a crash. Jobs
   *  go the way of *recovery* (see {@link turn}). */
  giveUpLeases(request: { readonly now: number; readonly schedulerId: string }): Promise<RecoveryReport>;
  /** Cancels a job: a queued one ends as `cancelled` at once (the result is kept unless it expires at once), a leased
   *  one gets `cancelRequested`, which its holder learns when it extends its lease. */
  cancelJob(id: string, now: number): Promise<CancelReport>;
  /** The result of a job; null when there is none, or it has expired at `now`. */
  getJobResult(jobId: string, now: number): Promise<JobResultRecord | null>;
  /** A page of results that have not expired at `now`, by job id. */
  getJobResults(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>>;
  /** Removes expired results, and schedules that have no fire time left, no live lease and no unfinished job; at most
   *  `limit` of each. */
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

export type ScheduleChanges = Partial<
  Omit<ScheduleRecord, "id" | "createdAt" | "fence" | "acquiredBy" | "acquiredUntil">
>;

export interface ScheduleAcquisition {
  readonly now: number;
  readonly schedulerId: string;
  readonly acquisitionId: string;
  /** When the leases end. */
  readonly until: number;
  readonly limit: number;
}

export interface ScheduleAcquisitionReport {
  readonly schedules: ScheduleRecord[];
  /** The earliest instant at which a schedule that was not acquired can be acquired: a next fire time, or the end of
   *  somebody's lease on a due one; `<= now` when the limit left due ones behind; null when there is none. */
  readonly nextDueAt: number | null;
}

export interface SchedulePlan {
  readonly scheduleId: string;
  readonly fence: number;
  readonly jobs: readonly JobRecord[];
  readonly nextFireTime: number | null;
  readonly lastFireTime: number | null;
  readonly paused: boolean;
}

export interface PlanCommit {
  readonly schedulerId: string;
  readonly plans: readonly SchedulePlan[];
}

export interface PlanCommitReport {
  /** Per plan: whether it counted, and the ids of the jobs it added. A plan that counted on an earlier try of the same
   *  call is not `committed` again. */
  readonly plans: readonly { readonly committed: boolean; readonly addedJobIds: readonly string[] }[];
}

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
);

export interface TurnRequest {
  readonly now: number;
  readonly schedulerId: string;
  readonly releases: readonly JobRelease[];
  /** Null acquires nothing. */
  readonly acquisition: {
    readonly acquisitionId: string;
    readonly until: number;
    readonly limit: number;
    readonly queues: readonly JobQueue[];
  } | null;
}

/** `released`; `fenced`: somebody else holds or held the job since; `missing`: there is no such job (any more). */
export type ReleaseStatus = "released" | "fenced" | "missing";

/** A job that went back to the queue, with what the event about it says. */
export interface RecoveredJob {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  /** The number of the attempt that was lost. */
  readonly attempt: number;
}

export interface RecoveryReport {
  /** Jobs that went back to the queue. */
  readonly recovered: readonly RecoveredJob[];
  /** Jobs that ended as `abandoned` or `cancelled`. */
  readonly ended: readonly JobResultRecord[];
}

export interface TurnReport extends RecoveryReport {
  /** Per release, in order. */
  readonly releases: readonly ReleaseStatus[];
  /** In the order of acquisition. */
  readonly acquired: readonly JobRecord[];
  /** The earliest instant at which there may be something new to acquire or recover: the `runAt`, later than `now`, of
   *  a waiting job of any queue, or the end of a lease. Null when there is none. */
  readonly nextDueAt: number | null;
  /** Whether the limit left jobs behind that could have been acquired. */
  readonly hasMore: boolean;
}

export interface LeaseExtension {
  readonly schedulerId: string;
  readonly until: number;
  readonly jobs: readonly { readonly jobId: string; readonly fence: number }[];
}

export interface LeaseExtensionReport {
  /** Jobs whose lease is not the caller's any more. */
  readonly lost: readonly string[];
  /** Jobs whose lease was extended, and that somebody asked to cancel. */
  readonly cancelRequested: readonly string[];
}

export type CancelReport =
  | { readonly status: "cancelled"; readonly result: JobResultRecord }
  | { readonly status: "requested"; readonly taskId: string; readonly acquiredBy: string }
  | { readonly status: "missing" };

export interface CleanupReport {
  readonly removedResults: number;
  readonly removedScheduleIds: readonly string[];
}
