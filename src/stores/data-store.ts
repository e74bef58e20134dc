import type { AbortSignal } from "../core/abort-signal.ts";
import type { BlackoutRecord } from "../records/blackout.ts";
import type { JobRecord, NewJobRecord } from "../records/job.ts";
import type { JobLogRecord } from "../records/job-log.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { JobStepRecord } from "../records/job-step.ts";
import type { AuditRecord } from "../records/ledger.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import type { SchedulerRecord } from "../records/scheduler.ts";
import type { TaskRecord } from "../records/task.ts";
import type { Serializer } from "../serializers/serializer.ts";
import type {
  JobAddition,
  ScheduleAddition,
  ScheduleAdditionReport,
  ScheduleCommit,
  ScheduleCommitReport,
} from "./contract/addition-types.ts";
import type { BackfillCommit, BackfillRequest, BackfillState } from "./contract/backfill-types.ts";
import type { BlackoutAddition, BlackoutAdditionReport, BlackoutList } from "./contract/blackout-types.ts";
import type { CleanupReport, CommitReport, CommitRequest } from "./contract/commit-types.ts";
import type { InspectionOptions, StoreInspection } from "./contract/inspection-types.ts";
import type { JobStepReport, JobStepSave } from "./contract/job-step-types.ts";
import type {
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  LeaseSurrenderReport,
} from "./contract/lease-types.ts";
import type { Ledger } from "./contract/ledger-types.ts";
import type {
  FailureList,
  FailureSelection,
  JobFilter,
  JobResultFilter,
  RecordPage,
  ResultRemoval,
  ScheduleFilter,
} from "./contract/list-types.ts";
import type { LookReport, LookRequest } from "./contract/look-types.ts";
import type { RestoredRecords } from "./contract/restore-types.ts";
import type { ZoneRulesStore } from "./contract/zone-rules-types.ts";
import type { PauseFacts } from "./shared/pauses.ts";
import type { SqlStatement } from "./sql/driver/driver-and-failures.ts";

// What the methods take and return, by subject.
export type {
  JobAddition,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleCommit,
  ScheduleCommitReport,
} from "./contract/addition-types.ts";
export type { BackfillCommit, BackfillRequest, BackfillState } from "./contract/backfill-types.ts";
export type { BlackoutAddition, BlackoutAdditionReport, BlackoutList } from "./contract/blackout-types.ts";
export type {
  AdmittedJob,
  CleanupReport,
  CommitReport,
  CommitRequest,
  EndedPauses,
  JobRelease,
  OverlapReport,
  PausedSchedule,
  PlannedJob,
  PlannedOverlap,
  PlanReport,
  ReleaseStatus,
  SchedulePlan,
  SentHeartbeat,
} from "./contract/commit-types.ts";
export type {
  InspectionOptions,
  ScheduleCounts,
  StoreInspection,
  StoreWarning,
  TaskBacklog,
} from "./contract/inspection-types.ts";
export type { JobStepReport, JobStepSave } from "./contract/job-step-types.ts";
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
} from "./contract/lease-types.ts";
export type {
  FailureList,
  FailureSelection,
  JobFilter,
  JobResultFilter,
  JobResultSelection,
  RecordPage,
  ResultRemoval,
  ScheduleFilter,
} from "./contract/list-types.ts";
export type {
  JobCapacity,
  JobQueue,
  LookedSchedule,
  LookReport,
  LookRequest,
  ScheduleDeclaration,
  ScheduleWindow,
  Seen,
  View,
} from "./contract/look-types.ts";
export type { RestoredHistory, RestoredRecords } from "./contract/restore-types.ts";
export type { StatsCount, StatsFilter } from "./contract/stats-types.ts";

/** What a data store tells a scheduler about itself. */
export interface StoreCapabilities {
  /** Whether other processes may write to the same data. If so, a scheduler must look for changes by itself. */
  readonly sharedByProcesses: boolean;
}

/**
 * Where tasks, schedules, jobs and results live. What a store must keep is in docs/store-contract.md, as numbered
 * rules (Q1, Q2, ...) to which the comments here point; the cases of `dataStoreContract` of
 * `escapement/testing/contracts` test the rules.
 *
 * Every method is atomic, and every write is safe to repeat. Methods take `now`, since a store owns no clock; all times
 * are epoch milliseconds. See rules G1 to G18, and K1 to K8 for clocks that differ.
 * @throws {StoreUnavailableError} from every method, when the store itself fails
 * @throws {StoreRefusedError} from every write, when the store will never take it: then nothing of it happened
 */
export interface DataStore extends AsyncDisposable {
  /** Turns payloads and return values into the text that the records carry, and the text back into values. */
  readonly serializer: Serializer;
  /** What the store can do that not every store can. */
  readonly capabilities: StoreCapabilities;
  /** Whether the store is open. Absent in stores that need no opening. */
  readonly isOpen?: boolean;
  /** The version of the tables that the store makes. Absent where there are none. */
  readonly schemaVersion?: number;
  /** How many requests the store has sent to its database so far, in whatever way they ended. It only grows. A tick
   *  keeps its `maxRoundTrips` by it. Absent where the store has no such count. */
  readonly roundTrips?: number;
  /** What the store remembers of fire times, changes and schedulers. Null when its options turn the ledger off; absent
   *  in stores that cannot have one. */
  readonly ledger?: Ledger | null;
  /** What the store knows of the time zone rules of next fire times. Absent in stores that do not keep `zoneRules`. */
  readonly zoneRules?: ZoneRulesStore;

  /**
   * A number that changes when another process, or another store on the same data, has written. Null when the store
   * cannot tell. A scheduler that sleeps asks 25 times a second; absent where an answer costs a request. See rule G17.
   */
  getDataVersion?(): Promise<number | null>;
  /** The ids of the jobs that a scheduler runs and somebody asked to cancel. Asked after the number above has changed;
   *  absent where that is. */
  getCancelRequests?(schedulerId: string): Promise<string[]>;
  /** Calls `heard` with the id of each job that somebody asks to cancel, in whichever process, until `signal` is
   *  aborted. Nothing depends on it, because {@link extendLeases} tells the same later. A scheduler without an event
   *  broker calls it at its start and at each heartbeat with the same arguments, so that a store can see to its
   *  connection. Absent where a store cannot hear of others. */
  hearCancellations?(heard: (jobId: string) => void, signal: AbortSignal): void;

  /** Opens the store. Idempotent. Callers open a store before they call any other method. See rule G9.
   *  @throws {StoreUnavailableError} when the store cannot be opened, is not a database, or has a schema that is newer
   *  than this library; the first call may throw instead */
  open(now: number): Promise<void>;
  /** Closes the connections that the store itself opened. Idempotent. Same as `Symbol.asyncDispose`. */
  close(): Promise<void>;

  // ---- tasks

  /** Adds tasks, or replaces the settings of those that exist, unless a `declaration` or a `version` says otherwise.
   *  One answer per task, in order. See rules T1 to T5, and T16. */
  putTasks(tasks: readonly TaskPut[]): Promise<TaskChange[]>;
  /** All tasks, ordered by id. */
  getTasks(): Promise<TaskRecord[]>;
  /** The task with this id; null when there is none. */
  getTask(id: string): Promise<TaskRecord | null>;
  /** Removes a task, unless a schedule or an unfinished job refers to it (`inUse`). See rules T7 and T8. */
  removeTask(id: string): Promise<"removed" | "inUse" | "missing">;
  /** Pauses a task, or one concurrency key of a task, or lets it go on. Idempotent. False when there is no such task.
   *  See rules T9 to T14. */
  pauseTask(request: TaskPauseRequest): Promise<boolean>;
  /** Everything that is paused, by task, then key (the task itself first), at most 10,000, with what was said of it. */
  getTaskPauses(): Promise<TaskPause[]>;

  // ---- the hot path

  /** Reads what there is to do, in one read, and writes nothing. See rules V1 to V11. */
  look(request: LookRequest): Promise<LookReport>;
  /**
   * One commit of a scheduler: one write that counts as a whole or not at all. Its parts, in order, and their rules in
   * docs/store-contract.md:
   *
   * 1. *Releases* of jobs that the scheduler holds: R1 to R9.
   * 2. *Recovery* of jobs whose lease has ended, if `recover`: L11 to L16. The end of jobs that missed their start, if
   *    `endsMissed`: D1 to D7.
   * 3. *Additions*, as {@link addJobs} adds them: A1 to A6.
   * 4. *Plans*, by compare-and-swap: P1 to P16.
   * 5. *Acquisition* of at most `jobs.limit` jobs: Q1 to Q12, with admission by the limits of keys: F1 to F16.
   * 6. A look, whose answer is part of the report: V1 to V11.
   *
   * With `endsPauses`, the commit ends pauses whose end has come: S16 and T15. With `overdue`, the commit also raises
   * and resolves overdue occurrences: O1 to O12. The end of a job resolves the dependencies of its children in the same
   * commit: C7 to C9. For the order see X2, for repetitions X4 to X15.
   *
   * @throws {StoreUnavailableError} the fate of the commit is unknown: repeat it with the same `commitId` and
   *   `isRepetition`
   * @throws {StoreRefusedError} or any other error when the store refuses something in the commit: then nothing of the
   *   commit happened
   */
  commit(request: CommitRequest): Promise<CommitReport>;

  // ---- schedules

  /**
   * Adds schedules in one commit; one answer per schedule, in order. Where the id exists, `conflictPolicy` decides: see
   * rules S1 to S9.
   *
   * @param note who changes the schedules, for the {@link Ledger}; without it, the ledger records no change. The same
   *   holds for the next methods
   */
  addSchedules(additions: readonly ScheduleAddition[], note?: AuditRecord): Promise<ScheduleAdditionReport>;
  /** The schedule with this id; null when there is none. */
  getSchedule(id: string): Promise<ScheduleRecord | null>;
  /** A page of schedules, ordered as the filter says. See rules I1 to I3 and I6.
   *  @throws {OptionsError} for a cursor that is none of this store's */
  getSchedules(filter: ScheduleFilter): Promise<RecordPage<ScheduleRecord>>;
  /** Changes at most 1,000 different schedules in one commit: replaces the given fields and adds 1 to `fence` and
   *  `revision`, so that plans made before no longer count. One answer per update, in order: null when there is no such
   *  schedule, or when its fence is not `expectedFence`. See rules S10 to S12, and S14. */
  updateSchedules(updates: readonly ScheduleUpdateRequest[], note?: AuditRecord): Promise<(ScheduleRecord | null)[]>;
  /** Removes at most 1,000 different schedules in one commit; jobs that they made stay. One answer per removal, in
   *  order: false when there is no such schedule, or when its fence is not `expectedFence`. See rules S12 to S14. */
  removeSchedules(removals: readonly ScheduleRemovalRequest[], note?: AuditRecord): Promise<boolean[]>;
  /** Renames, removes, and adds or replaces schedules in one commit, at most 1,000 of each, if all of them have the
   *  revisions that the caller saw. See rules S20 to S22. */
  commitSchedules(commit: ScheduleCommit, note?: AuditRecord): Promise<ScheduleCommitReport>;

  // ---- blackouts

  /** All blackouts, by id, with the version that a commit names. See rules B1 to B5. */
  getBlackouts(): Promise<BlackoutList>;
  /** Adds a blackout, or replaces the one with its id. See rules B1 to B3. */
  addBlackout(addition: BlackoutAddition): Promise<BlackoutAdditionReport>;
  /** Removes a blackout and returns it; null when there is none. */
  removeBlackout(id: string): Promise<BlackoutRecord | null>;

  // ---- jobs and results

  /**
   * Adds jobs in one commit; one answer per job, in order. If another job has the id, a key or the fire time of an
   * addition, that job may be the answer (`isNew: false`). See rules A1 to A6, W1 to W12 for `debounce` and `once`, and
   * C1 to C6 for parents.
   * @throws {StoreRefusedError} for an unknown parent, and for jobs that would wait for each other in a circle
   */
  addJobs(jobs: readonly NewJobRecord[]): Promise<JobAddition[]>;
  /** The statements by which an application adds a job within a transaction of its own, in the same database. Absent in
   *  stores whose database applications do not reach. See rule A7. */
  prepareAddition?(job: NewJobRecord): Promise<SqlStatement[]>;
  /** The unfinished job with this id; null when there is none. */
  getJob(id: string): Promise<JobRecord | null>;
  /** A page of unfinished jobs, ordered as the filter says. See rules I1, I2, I4, I6 and I14.
   *  @throws {OptionsError} for a cursor that is none of this store's, and for an order in which there is too much to
   *  sort */
  getJobs(filter: JobFilter): Promise<RecordPage<JobRecord>>;
  /** Extends the named leases that are still the caller's, and gives up leases of the caller whose jobs run nowhere.
   *  See rules L1 to L7, and L17 for heartbeats. */
  extendLeases(extension: LeaseExtension): Promise<LeaseExtensionReport>;
  /** Writes a step of a leased job, and extends its lease; does nothing unless the lease is the caller's. See rules
   *  J1 to J6. */
  saveJobStep(save: JobStepSave): Promise<JobStepReport>;
  /** The steps of an unfinished job, or of one whose result has not expired at `now`, by `startedAt`, then name. See
   *  rules J7 to J10. */
  getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]>;
  /** What is kept of the logs of an unfinished job, or of one whose result has not expired at `now`: of its last 20
   *  leases, the oldest first. See rule J13. */
  getJobLogs(jobId: string, now: number): Promise<JobLogRecord[]>;
  /** The statements by which an application writes a step within a transaction of its own, in the same database.
   *  Absent where `prepareAddition` is. See rule J11. */
  prepareJobStep?(save: JobStepSave): Promise<SqlStatement[]>;
  /** Gives up the leases that dead instances of an identity left. A scheduler calls it when it starts. See rules L8 to
   *  L10. */
  giveUpLeases(request: LeaseSurrender): Promise<LeaseSurrenderReport>;
  /** Cancels jobs in one commit, at most 1,000: those that wait end at once, the holders of leased ones are asked. See
   *  rules R10 to R12, and R19. */
  cancelJobs(ids: readonly string[], now: number): Promise<CancelReport>;
  /** How far a backfill has come, and which fire times have an unfinished job. See rules M1 and M2. */
  seeBackfill(request: BackfillRequest): Promise<BackfillState>;
  /** Adds jobs of a backfill, and how far it has come, in one commit. Answers the jobs, as the commit left them; null
   *  if the commit did not count, because another backfill of the schedule came first, or a fire time has an unfinished
   *  job. See rules M3 to M6. */
  commitBackfill(commit: BackfillCommit): Promise<readonly JobRecord[] | null>;
  /** Lets a backfill add nothing more. False when there is none with this id that could. See rule M7. */
  cancelBackfill(id: string, now: number): Promise<boolean>;
  /** The instances of schedulers that are alive at `now`, by identity, then instance. See rules L17 and L18. */
  getSchedulers(now: number): Promise<SchedulerRecord[]>;
  /** The result of a job; null when there is none, or when it has expired at `now`. */
  getJobResult(jobId: string, now: number): Promise<JobResultRecord | null>;
  /** The results of jobs that have one and have not expired at `now`, of at most 1,000 different ids. See rule R15. */
  getResultsOfJobs(jobIds: readonly string[], now: number): Promise<ResultsOfJobs>;
  /** Those of the ids that neither an unfinished job has, nor a result that has not expired at `now`. At most 2,000
   *  ids. See rule R15. */
  getUnknownJobIds(jobIds: readonly string[], now: number): Promise<string[]>;
  /** A page of results that have not expired, ordered by `finishedAt`. See rules I1, I2, I5 and I6.
   *  @throws {OptionsError} for a cursor that is none of this store's */
  getJobResults(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>>;
  /** Results of jobs that failed and have not expired, of which only outcome and error are read. See rule I16. */
  getFailures(selection: FailureSelection, now: number): Promise<FailureList>;
  /** Removes results, expired or not; at most `limit`, the oldest first. Returns how many. See rule R16. */
  removeJobResults(selection: ResultRemoval, limit: number): Promise<number>;
  /** Writes results and entries of histories that another store had, as they are, in one commit, and keeps what is
   *  there. See rules R22 and H26. */
  restore(records: RestoredRecords): Promise<void>;
  /** Removes expired results, ended schedules, windows of `once` and old backfills, at most `limit` of each, and old
   *  entries of the ledger. See rules R17, W12, L20, M8 and H17 to H24. */
  cleanup(request: { readonly now: number; readonly limit: number }): Promise<CleanupReport>;

  // ---- what people see

  /** What is in the store, for people who watch over it, as of one instant. The counts cost about as much as there are
   *  tasks, however many jobs wait. See rules I7 to I13.
   *  @param options.countsSchedules whether to count the schedules too, which costs as much as there are. Default:
   *    false
   *  @param options.checksWrites whether to reject while no write succeeds, although reads do. Default: false */
  inspect(now: number, options?: InspectionOptions): Promise<StoreInspection>;
}

/** A task that is put. */
export interface TaskPut extends TaskRecord {
  /** The stored `declaration` that it was made from, null for none: it replaces no other. It is not stored. Absent: it
   *  replaces any. See rule T16. */
  readonly replaces?: string | null;
}

/** What became of a task that was put. */
export type TaskChange = "added" | "updated" | "unchanged" | "outdated" | "conflict";

/** Fields of a schedule that are to change, with their new values; absent fields stay as they are. */
export type ScheduleChanges = Partial<
  Omit<
    ScheduleRecord,
    | "id"
    | "createdAt"
    | "fence"
    | "revision"
    | "skippedCount"
    | "failures"
    | "lastFailure"
    | "declaration"
    | "version"
    | NullRemoves
  >
> & {
  /** Null removes it. */
  readonly [Name in NullRemoves]?: NonNullable<ScheduleRecord[Name]> | null;
} & {
  /** Leaves `revision` as it is, because no caller has changed the schedule. Default: false. */
  readonly keepsRevision?: boolean;
};

/** A schedule that is to be removed. */
export interface ScheduleRemovalRequest {
  readonly id: string;
  /** The fence that the schedule must have. Default: any. */
  readonly expectedFence?: number;
}

/** A schedule that is to be changed. */
export interface ScheduleUpdateRequest extends ScheduleRemovalRequest {
  /** What is to change. */
  readonly changes: ScheduleChanges;
}

/** Fields that a schedule has or has not. */
type NullRemoves =
  | "concurrencyKey"
  | "failureExpirationMs"
  | "zoneRules"
  | "expectStartMs"
  | "expectFinishMs"
  | "labels"
  | "pauseAfterFailures";

export interface TaskPause extends PauseFacts {
  readonly taskId: string;
  /** A concurrency key; null for the whole task. */
  readonly key: string | null;
}

export interface TaskPauseRequest extends Pick<TaskPause, "taskId" | "key"> {
  readonly paused: boolean;
  /** When the pause ends by itself; absent for no end. Of a pause alone, as `reason`. */
  readonly until?: number;
  readonly reason?: string;
  /** The present, in epoch milliseconds. */
  readonly now: number;
  /** Who asks for it, for the {@link Ledger}; absent leaves no record. */
  readonly by?: string;
}

/** Results that were read by the ids of their jobs. */
export interface ResultsOfJobs {
  /** In any order. */
  readonly results: readonly JobResultRecord[];
  /** How many ids were read for, the first ones; at least one. The results of the others would be more than a page has
   *  room for. */
  readonly read: number;
}

/** What became of jobs that were to be cancelled. */
export interface CancelReport {
  /** One answer per id, in order. */
  readonly jobs: readonly JobCancellation[];
  /** The children that ended with them. See rules C8 and C9. */
  readonly ended: readonly JobResultRecord[];
}

/** `result` as in {@link RecoveryReport.ended}. */
export type JobCancellation =
  | { readonly status: "cancelled"; readonly result: JobResultRecord }
  | { readonly status: "requested"; readonly taskId: string; readonly acquiredBy: string }
  | { readonly status: "missing" };
