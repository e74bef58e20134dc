import type { JobRecord, NewJobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { ChangeNote } from "../records/ledger.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import type { SchedulerRecord } from "../records/scheduler.ts";
import type { TaskRecord } from "../records/task.ts";
import type { Serializer } from "../serializers/serializer.ts";
import type { JobAddition, ScheduleAddition, ScheduleAdditionReport } from "./additions.ts";
import type { InspectionOptions, StoreInspection } from "./inspection.ts";
import type { LeaseExtension, LeaseExtensionReport, LeaseSurrender, LeaseSurrenderReport } from "./leases.ts";
import type { Ledger } from "./ledger.ts";
import type { JobFilter, JobResultFilter, JobResultSelection, RecordPage, ScheduleFilter } from "./lists.ts";
import type { LookReport, LookRequest } from "./looks.ts";
import type { SqlStatement } from "./sqlite/driver/driver.ts";
import type { CleanupReport, StepReport, StepRequest } from "./steps.ts";
import type { ZoneRulesStore } from "./zone-rules.ts";

// What the methods take and return, by subject.
export type { JobAddition, ScheduleAddition, ScheduleAdditionChange, ScheduleAdditionReport } from "./additions.ts";
export type { InspectionOptions, ScheduleCounts, StoreInspection, TaskBacklog } from "./inspection.ts";
export type {
  Heartbeat,
  HeldJob,
  LeaseEnd,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  LeaseSurrenderReport,
  RecoveredJob,
  RecoveryReport,
} from "./leases.ts";
export type { JobFilter, JobResultFilter, JobResultSelection, RecordPage, ScheduleFilter } from "./lists.ts";
export type {
  JobCapacity,
  JobQueue,
  LookedSchedule,
  LookReport,
  LookRequest,
  ScheduleWindow,
  Seen,
  View,
} from "./looks.ts";
export type {
  CleanupReport,
  JobRelease,
  OverlapReport,
  PlannedJob,
  PlannedOverlap,
  PlanReport,
  PromotedJob,
  ReleaseStatus,
  SchedulePlan,
  SignOfLife,
  StepReport,
  StepRequest,
} from "./steps.ts";

/** What a data store tells a scheduler about itself. */
export interface StoreCapabilities {
  /** Whether other processes may write to the same data. If so, a scheduler must look for changes by itself. */
  readonly sharedByProcesses: boolean;
}

/**
 * Where tasks, schedules, jobs and results live. The contract suite `dataStoreContract` of `escapement/testing` tests
 * what the comments here promise.
 *
 * - Stores own no clock and publish no events: methods take `now` (epoch milliseconds) where they need it, and return
 *   what changed. All other times are epoch milliseconds too.
 * - Every method is atomic: either all of its changes happen, or none.
 * - Every write is safe to repeat with the same arguments when it is unknown whether the first try was written.
 * - A store never changes a record that it was given or that it returned: it keeps and returns its own copies (or
 *   frozen records).
 * - A lease is live while `acquiredUntil > now`.
 * - Ids and keys are in the order of their code points, wherever an order depends on them.
 * - Failures of the store itself reject with `StoreUnavailableError`. What the store will never take although it works
 *   (too large, or against a rule of the database) rejects with `StoreRefusedError`, and nothing of the call happened.
 */
export interface DataStore extends AsyncDisposable {
  /** Turns payloads and return values into the text that the records carry, and the text back into values. */
  readonly serializer: Serializer;
  readonly capabilities: StoreCapabilities;
  /** How many requests the store has sent to its database so far, in whatever way they ended. It only grows. A tick
   *  keeps its `maxRoundTrips` by it. Absent where the store has no such count. */
  readonly roundTrips?: number;
  /** What the store remembers of fire times, changes and schedulers. Null when its options turn the ledger off; absent
   *  in stores that cannot have one. */
  readonly ledger?: Ledger | null;
  /** What the store knows of the time zone rules of next fire times. Absent in stores that do not keep `zoneRules`. */
  readonly zoneRules?: ZoneRulesStore;

  /**
   * A number that is another one after somebody else has changed something: another process, or another store on the
   * same data. It stays the same while nobody writes, and when this store writes. Null when the store cannot tell; then
   * nobody asks again. A scheduler that sleeps asks 25 times a second, and looks for work when the number has changed,
   * so that processes wake each other without an event broker. Only for a store whose answer costs some microseconds,
   * such as a file: absent where it costs a request.
   * @throws {StoreUnavailableError}
   */
  getDataVersion?(): Promise<number | null>;

  /** Opens the store. Idempotent. Callers open a store before they call any other method. The store brings its schema
   *  up to date here or in the first call that needs the schema, because a scheduler's first look can read the
   *  schema's version on its way.
   *  @throws {StoreUnavailableError} when the store cannot be opened, or is not a database. Also when its schema is
   *  newer than this library or cannot be brought up to date; then the first call may throw instead */
  open(now: number): Promise<void>;
  /** Closes the connections that the store itself opened. Idempotent. Same as `Symbol.asyncDispose`. */
  close(): Promise<void>;

  // ---- tasks

  /**
   * Adds tasks, or replaces the settings of those that exist. One answer per task, in order.
   *
   * - A task with a `declaration` is what a program declares at every start. While the stored `declaration` is equal,
   *   the stored settings stay, whoever edited them since (`unchanged`); a higher `version` replaces the stored one.
   *   Where it differs, the settings are replaced, unless the stored `version` is higher: then nothing changes
   *   (`outdated`). No version is lower than every version.
   * - A task without a `declaration` is an edit: its settings replace the stored ones, whose `declaration` and
   *   `version` stay.
   */
  putTasks(tasks: readonly TaskRecord[]): Promise<TaskChange[]>;
  /** All tasks, ordered by id. */
  getTasks(): Promise<TaskRecord[]>;
  /** The task with this id; null when there is none. */
  getTask(id: string): Promise<TaskRecord | null>;
  /** Removes a task, unless a schedule or an unfinished job refers to the task (`inUse`). Its `maxRunningJobs` still
   *  counts for jobs that are added afterwards, by schedulers that have not heard of the removal, until the task is put
   *  again. */
  removeTask(id: string): Promise<"removed" | "inUse" | "missing">;
  /** Pauses a task, or one concurrency key of a task, or lets it go on. No job of what is paused is acquired; jobs that
   *  are under a lease go on. The pause of a key needs no job with this key. Idempotent. False when there is no such
   *  task. */
  pauseTask(request: TaskPauseRequest): Promise<boolean>;
  /** Everything that is paused, by task, then key (the task itself first), at most 10,000. */
  getTaskPauses(): Promise<TaskPause[]>;

  // ---- the hot path

  /**
   * Reads what there is to do, and writes nothing. A look is one read, however many schedules and jobs there are. See
   * {@link LookReport}.
   * @throws {StoreUnavailableError}
   */
  look(request: LookRequest): Promise<LookReport>;
  /**
   * One step of a scheduler: one write that counts as a whole or not at all. Its parts happen in this order:
   *
   * 1. *Releases* of jobs that the scheduler holds. A release counts only if the stored `fence` and `acquiredBy` are
   *    its `fence` and the step's `schedulerId`. `finish` removes the job and keeps its result (unless
   *    `expiresAt <= now`). `retry` puts the job back with the new `runAt`, `failedAttempts` and `attemptHistory`.
   *    `giveUp` puts the job back as it was. A job that is to be cancelled, or that is given up after it `hasStarted`,
   *    is not put back: *recovery* ends it, or takes it back, with the `attemptHistory` of the release. `start` says
   *    that the job is about to start: it keeps its lease, and `startedFence` becomes its fence.
   * 2. *Recovery*, if `recover`, of jobs whose lease is no longer live, whoever held the lease. A job that may have
   *    started goes back to the queue with `recoveries` + 1, or ends as `abandoned` when its `recoveries` have reached
   *    `maxRecoveries`. A job that was lost before (`recoveries` > 0) and whose `startedFence` is not its fence has not
   *    started, because such a job starts only after a `start`: it goes back as it was. A job whose `cancelRequested`
   *    is set ends as `cancelled`. Without `recover`, recovery still takes the jobs of `retry` and `giveUp` releases
   *    that are not put back.
   *    A clock that differs by more than a lease takes leases for ended that are live, and the other way round. So
   *    `leaseEnds` come before recovery: of the leases that steps of such a run made, those that are no longer live
   *    end at `until` if that is later than `now`, and those that are live end at `until` if it is not.
   *    *Missed starts*, if `endsMissed`: jobs that have missed their start end as `missedStartDeadline`, at most 100,
   *    the earliest `startDeadline` first, whatever they wait for and whoever could run them. A job has missed its
   *    start when its `startDeadline` is before `now`, no attempt failed, its `startedFence` is 0, and it is under no
   *    lease, live or not. Until a step ends it, it counts as ended for additions with its `idempotencyKey` (by their
   *    `createdAt`), for the `overlap` of plans, and for alarms.
   * 3. *Additions*, as {@link addJobs} adds them.
   * 4. *Plans*, by compare-and-swap. A plan counts when the schedule's `fence` and `nextFireTime` are what the planner
   *    saw (`fence`, `expected`), the schedule is not paused, and `expected <= now`. Then one job is added for each of
   *    the plan's fires, with the payload, executor, priority (0.5 less, if the plan `isCatchUp`), metadata and limits
   *    of the schedule; a fire whose `(scheduleId, fireTime)` an unfinished job already has is left out.
   *    `nextFireTime`, `lastFireTime`, `paceUntil`, `paused` and, if given, `zoneRules` of the schedule are replaced,
   *    `fence` grows by 1, and the favourite becomes this scheduler (`isFavourite`) or nobody. A plan that does not
   *    count changes nothing. If a step has several plans of one schedule, only the first can count.
   *
   *    A plan with an `overlap` that counts heeds the unfinished jobs that fire times of its schedule made, except
   *    those that repeat another job (`retryOf`). With `skip`, its fire makes no job if there is such a job. Otherwise,
   *    such jobs without a lease are removed, without a result (at most 100, the earliest fire times first), and with
   *    `cancelRunning`, such jobs under a lease (as many at most) get `cancelRequested`. The schedule's `skippedCount`
   *    grows by the fire times that were `passed`, by 1 for a fire that made no job because of `skip`, and by 1 for
   *    each job that was removed.
   * 5. *Acquisition* of at most `jobs.limit` jobs, and at most those of `jobs.bounds` for an executor, that are
   *    unleased, have `runAt <= now` and no `cancelRequested`, and whose `(executor, taskId)` is among `jobs.queues`.
   *    An executor at its bound takes no place from others. (Where a limited task has jobs for two executors, a store
   *    may leave some to the next step, see `hasReady`.) Their order is priority (higher first), then `runAt`, then
   *    addition. A task never has more than its `maxRunningJobs` jobs under live leases, counted over all schedulers;
   *    a task that was never put has no limit. A task at its limit takes no place from other tasks. Each acquired job
   *    gets `acquiredBy`, `acquiredUntil` = `until`, and `fence` + 1. A job that was found to be due by an earlier
   *    call, or when it was added, stays due for a scheduler whose clock is behind. Nothing is acquired while a lease,
   *    of any queue, waits for recovery.
   *    *Admission* comes before and after. A job with a concurrency key is held (`heldBy: "limit"`) when it becomes
   *    due, and each time it goes back to the queue. The same holds for every job of a task with a `rateLimit` or that
   *    is `fair`; those without a key share one key of their own. Admission promotes held jobs of a key, by priority,
   *    then `runAt`, then addition, as long as: the key and its task are not paused; fewer than `maxRunningPerKey` jobs
   *    of the key are promoted or under live leases; and, with a `rateLimit`, fewer than the tokens of the key's bucket
   *    are promoted and wait; a bucket that would be full more than a minute later than its burst can owe counts as
   *    empty at `now`, because a wrong clock took its last token. If there is no room for a held job that is more
   *    urgent (of a higher priority) than one that was promoted and waits, the latter is held again, so that it makes
   *    room: before the acquisition, or in the next step. The acquisition of a job takes a token. Only promoted jobs
   *    can be acquired. If the task is `fair`, the promoted jobs of one priority are acquired in turns over the keys.
   *    An acquisition costs as much as without keys: it reads no held job. Each end, put-back, loss, cancellation and
   *    change of a limit admits in its own commit or wakes the schedulers (`hasReady`); a token that comes later counts
   *    in `nextRunAt`.
   * 6. A look, whose answer is part of the report.
   *
   * *Alarms*, if `alarms` and the store has a {@link Ledger}. Between releases and recovery, the step raises those of
   * occurrences that are overdue at `now`, by what their schedule expects (`expectStartMs`, `expectFinishMs`): of the
   * next fire time of a schedule that is not paused; and of the unfinished jobs that fire times made since the schedule
   * expects anything, those that repeat another job not included. `start` is raised while the job is not under a lease
   * and no attempt of it was made, `finish` while there is the job. Each kind is raised once for an occurrence, over
   * all steps; a step raises those of 100 fire times without a job and of 100 jobs at most. The unpausing of a schedule
   * that comes with a `ChangeNote` raises none for a next fire time that has passed by then. After the acquisition,
   * the step resolves alarms (see `AlarmEnd`): of a fire time whose schedule has moved past it, and whose job, or the
   * job of the fire time that stands for it, has started or is gone; and of one that waits without a job while the
   * schedule is paused or removed. It looks at 500 open ones; if there are more, other steps look at the others.
   *
   * When a job ends, in any way, its children (the jobs whose `after` names it) learn its outcome in the same commit.
   * A child whose parents have all ended is no longer held. If a parent did not succeed and `onParentFailure` is
   * `cancel`, the child ends as `cancelled` at once, and so do its children, by the same rule; these are in `ended`,
   * after the others. Where very many jobs are to be cancelled or freed, a store may leave some of them, still held, to
   * the steps that follow: then `hasReady` is true until the last one is done.
   *
   * A step may be repeated with the same `stepId` and with `isRepetition` (`now` and `until` may differ). The
   * repetition does what the earlier tries did not do, and reports what they did, as far as the store can know it:
   *
   * - A release is `released` when the job is as an earlier try of the step left the job: put back and not touched
   *   since, or leased by the step again. When the job is gone, the release is `released` if a result of the job is
   *   kept, and `missing` if not. A caller who knows that an earlier try was sent takes this `missing` for `released`.
   * - Additions and fires are never made twice, see {@link addJobs}. `addedJobIds` names the jobs of the plan that
   *   exist.
   * - `committed` is true when the schedule is as an earlier try left the schedule. It may be false for a plan that an
   *   earlier try committed, if others have changed the schedule since. `overlap` is as that try told, if `committed`
   *   is true, and absent if not.
   * - `acquired` holds the jobs that any try of the step leased and that the scheduler still holds, topped up to the
   *   limit and the bounds. These jobs are named even while a lease waits for recovery.
   * - Recovered jobs may be named by the earlier try alone.
   *
   * @throws {StoreUnavailableError} the fate of the step is unknown: repeat it with the same `stepId` and
   *   `isRepetition`
   * @throws {StoreRefusedError} or any other error when the store refuses something in the step: then nothing of the
   *   step happened
   */
  step(request: StepRequest): Promise<StepReport>;

  // ---- schedules

  /**
   * Adds schedules in one commit; one answer per schedule, in order. Where the id exists, `conflictPolicy` decides:
   * - `doNothing`: the stored schedule stays; `change` is `kept`.
   * - `replace`: every field except `createdAt`, `lastFireTime`, `skippedCount` and `fence` is replaced. When
   *   `triggerRule` is equal, the stored `trigger` (with its anchor), `nextFireTime`, `paceUntil` and `zoneRules` stay
   *   too. `paused` stays unless the addition `setsPaused`. `fence` grows by 1; `change` is `replaced`.
   * - `update`: as `replace`, but only if the `declaration` differs from the stored one; `change` is `updated`. If it
   *   is equal, the stored schedule stays, whoever edited it since (`kept`), and a higher `version` replaces the stored
   *   one. If it differs and the stored `version` is higher, nothing changes (`outdated`). No version is lower than
   *   every version.
   * - `error`: nothing of the whole call is written; `conflictId` names the first id that is in use.
   * An id that comes twice in one call counts as existing the second time.
   *
   * @param note who changes the schedules, for the {@link Ledger}; without it, the ledger learns of no change. The same
   *   holds for the next methods
   */
  addSchedules(additions: readonly ScheduleAddition[], note?: ChangeNote): Promise<ScheduleAdditionReport>;
  /** The schedule with this id; null when there is none. */
  getSchedule(id: string): Promise<ScheduleRecord | null>;
  /** A page of schedules, ordered as the filter says. A cursor stays good while schedules come and go: the next page
   *  has what follows the page before in the order. See {@link RecordPage}. @throws {OptionsError} for a cursor that is
   *  none of this store's */
  getSchedules(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>>;
  /** Replaces the given fields and adds 1 to `fence`, so that plans made before no longer count. With `expectedFence`,
   *  nothing happens unless the stored fence is equal to it. Null when there is no such schedule, or when the fences
   *  differ. */
  updateSchedule(
    id: string,
    changes: ScheduleChanges,
    expectedFence?: number,
    note?: ChangeNote,
  ): Promise<ScheduleRecord | null>;
  /** Removes a schedule; jobs that the schedule made stay. False when there is no such schedule. */
  removeSchedule(id: string, note?: ChangeNote): Promise<boolean>;

  // ---- jobs and results

  /**
   * Adds jobs in one commit; one answer per job, in order. A job whose `(taskId, idempotencyKey)` or `(scheduleId,
   * fireTime)` an unfinished job has is not added: the answer is that unfinished job, with `isNew: false`; but a job
   * that has missed its start (see {@link step}) leaves its key to the addition. A job whose `id` exists, as a job or
   * as a result, is not added again, and its answer has `isNew: true`, because the call repeats a write whose answer
   * was lost. The same holds for 10 minutes for a job that ended and whose result is not kept (as long as there is room
   * to remember the job).
   *
   * - *Debounce.* If a job of the task with the same `debounce.key` has not been acquired yet, that job gets the
   *   payload, metadata, priority and limits of the addition, and its `runAt` becomes that of the addition, but no
   *   later than `maxWaitMs` after its `createdAt`; its id, `createdAt` and key stay, and `isNew` is false. An addition
   *   with an earlier `createdAt` than the last one changes nothing; in one millisecond, the greater `id` is the later
   *   addition. But one that is more than a minute earlier counts, because a wrong clock made the last one: then the
   *   `createdAt` of the job is no later than that of the addition. So no repetition overrides what was added since,
   *   and all answers of one call tell the job as the call left it. Like the `id` of a job whose result is not kept,
   *   the addition is remembered for 10 minutes: a repetition answers the job that it changed, even if that job has
   *   ended since (`hasEnded`).
   * - *Once.* If the window of the task, `once.kind` and `once.key` lasts (`until` > the addition's `createdAt`) and
   *   another job opened it, nothing is added: the answer is the job that opened it, with `isNew: false` and, if that
   *   job has ended, `hasEnded`. If the window was opened more than a minute after the addition, by a wrong clock, it
   *   then lasts until the addition's `until`. Otherwise the job is added and opens the window. A job that is not
   *   added, because another one has its `idempotencyKey`, opens none.
   * - *Parents.* A job with `after` is held until its parents have ended (see {@link step}). Parents may be unfinished
   *   jobs, jobs of the same call (in any order), or jobs that have a result. For others the call rejects with
   *   {@link StoreRefusedError}, also for jobs that would wait for each other in a circle. If all parents have ended,
   *   the job is added as any other, or ends as `cancelled` at once: then its answer has `isNew` and `hasEnded`. Where
   *   another job stands for a parent of the same call, `after` names that job instead. A parent of a job with
   *   `retryOf` may be unknown, and counts as one that succeeded.
   * - *Repetition.* A job with `retryOf` is added only while the store has a result of that job. Otherwise the answer
   *   is `isOutdated`: the repetition itself may have run, and its result be gone too.
   */
  addJobs(jobs: readonly NewJobRecord[]): Promise<JobAddition[]>;
  /** The statements by which an application adds a job within a transaction of its own, in the same database. They add
   *  what {@link addJobs} adds, answer nothing, and change nothing when they are run again. One of them fails for a job
   *  with an unknown parent; a job whose parents have failed is cancelled by the next step. Each has plain `?`
   *  parameters, at most 100. Only stores in a database that applications reach too have this method. */
  prepareAddition?(job: NewJobRecord): Promise<SqlStatement[]>;
  /** The unfinished job with this id; null when there is none. */
  getJob(id: string): Promise<JobRecord | null>;
  /** A page of unfinished jobs, ordered by id. A cursor stays good while jobs come and go. See {@link RecordPage}. */
  getJobs(filter: JobFilter): Promise<RecordPage<JobRecord>>;
  /** Extends the named leases that are still the caller's: `fence` and `acquiredBy` are equal, even if the lease has
   *  ended and nobody has taken the job yet. It shortens no lease, because an extension may arrive late.
   *
   *  Other leases of the caller, which the extension does not name (by job and fence) but steps of its `incarnation` up
   *  to `settledStepId` made, belong to jobs that run nowhere, because a try of such a step arrived late. These leases
   *  are given up, and this counts as no recovery. If such a job is to be cancelled, its lease ends at `now` instead,
   *  so that *recovery* ends the job. */
  extendLeases(extension: LeaseExtension): Promise<LeaseExtensionReport>;
  /** Gives up the leases on jobs that dead runs of an identity left: those of all incarnations except `incarnation` and
   *  those that count as alive. A scheduler calls it when it starts, because an earlier process of its identity may
   *  have crashed; a call that arrives late takes nothing from the new process. The jobs go through *recovery* (see
   *  {@link step}). A store may do this in several steps, each atomic, where there are very many. */
  giveUpLeases(request: LeaseSurrender): Promise<LeaseSurrenderReport>;
  /** Cancels a job. A queued job ends as `cancelled` at once (its result is kept, unless the result expires at once).
   *  A leased job gets `cancelRequested`, which its holder learns when the holder next extends the lease. */
  cancelJob(id: string, now: number): Promise<CancelReport>;
  /** The runs of schedulers that count as alive at `now` (`aliveUntil > now`), by identity, then incarnation. */
  getSchedulers(now: number): Promise<SchedulerRecord[]>;
  /** The result of a job; null when there is none, or when it has expired at `now`. */
  getJobResult(jobId: string, now: number): Promise<JobResultRecord | null>;
  /** The results of jobs that have one and have not expired at `now`, in any order. At most 1,000 ids. */
  getResultsOfJobs(jobIds: readonly string[], now: number): Promise<JobResultRecord[]>;
  /** A page of results that have not expired at `now`, ordered by `finishedAt`, and where that is equal, in the order
   *  in which the store got them. A cursor stays good while results come and go: the next page has what follows the
   *  page before in the order, and was not in it. @throws {OptionsError} for a cursor that is none of this store's */
  getJobResults(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>>;
  /** Removes results, expired or not; at most `limit`, the oldest first. Returns how many. After an answer that was
   *  lost, a repetition counts only what it removes itself. */
  removeJobResults(selection: JobResultSelection, limit: number): Promise<number>;
  /** Removes expired results, schedules that have no fire time left and no unfinished job, and windows of `once` that
   *  ended more than 10 minutes ago, because an addition may be repeated that late; at most `limit` of each. */
  cleanup(request: { readonly now: number; readonly limit: number }): Promise<CleanupReport>;

  // ---- what people see

  /** What is in the store, for people who watch over it, as of one instant. The counts cost about as much as there are
   *  tasks, however many jobs wait. Nothing else reads these counts: the limits of tasks count leases anew.
   *  @param options.countsSchedules whether to count the schedules too, which costs as much as there are. Default:
   *    false
   *  @param options.checksWrites whether to reject while no write succeeds, although reads do. Default: false
   *  @throws {StoreUnavailableError} */
  inspect(now: number, options?: InspectionOptions): Promise<StoreInspection>;
}

/** What became of a task that was put. */
export type TaskChange = "added" | "updated" | "unchanged" | "outdated";

export type ScheduleChanges = Partial<
  Omit<ScheduleRecord, "id" | "createdAt" | "fence" | "skippedCount" | "declaration" | "version" | NullRemoves>
> & {
  /** Null removes it. */
  readonly [Name in NullRemoves]?: NonNullable<ScheduleRecord[Name]> | null;
};

/** Fields that a schedule has or has not. */
type NullRemoves = "concurrencyKey" | "zoneRules" | "expectStartMs" | "expectFinishMs";

export interface TaskPause {
  readonly taskId: string;
  /** A concurrency key; null for the whole task. */
  readonly key: string | null;
}

export interface TaskPauseRequest extends TaskPause {
  readonly paused: boolean;
  /** The present, in epoch milliseconds. */
  readonly now: number;
  /** Who asks for it, for the {@link Ledger}; absent leaves no record. */
  readonly by?: string;
}

/** `result` as in {@link RecoveryReport.ended}. */
export type CancelReport =
  /** `ended` are the children that ended with it, see {@link DataStore.step}; absent for none. If very many are to end,
   *  the steps that follow end and report the others. */
  | { readonly status: "cancelled"; readonly result: JobResultRecord; readonly ended?: readonly JobResultRecord[] }
  | { readonly status: "requested"; readonly taskId: string; readonly acquiredBy: string }
  | { readonly status: "missing" };
