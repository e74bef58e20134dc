/**
 * What the authors of data stores, event brokers, job executors and serializers implement and exchange.
 * `escapement/testing/contracts` has a contract suite for each of the first three.
 *
 * @module
 */
export type { EventBroker, Unsubscribe } from "./brokers/event-broker.ts";
export { StoreRefusedError, StoreUnavailableError, WorkerLostError } from "./core/errors.ts";
export type { Logger } from "./core/logger.ts";
export type { OpenOptions } from "./core/open-options.ts";
export type { CallTexts, ExecutorOpenOptions, JobCall, JobExecutor } from "./executors/job-executor.ts";
export type { LeaseExtender, LeaseHolder } from "./executors/lease-extender.ts";
export type { AttemptRecord, JobProgress } from "./records/attempt.ts";
export type { BlackoutRecord, MissedPolicy } from "./records/blackout.ts";
export { receivedEvents } from "./records/event-schema.ts";
export { EVENT_TYPES, type EventRecord, type EventType } from "./records/events.ts";
export type { JobRecord, NewJobRecord } from "./records/job.ts";
export type { JobLogLevel, JobLogLineRecord, JobLogRecord } from "./records/job-log.ts";
export type { JobResultRecord, KeptJob } from "./records/job-result.ts";
export type { JobSleep, JobStepRecord } from "./records/job-step.ts";
export {
  type AuditRecord,
  type OccurrenceRecord,
  type OccurrenceRunRecord,
  type ScheduleChangeRecord,
  type ScheduleState,
  SKIP_VERDICTS,
  type Skip,
  type SkipVerdict,
  type TaskPauseRecord,
  type UptimeRecord,
} from "./records/ledger.ts";
export { NOTICE_TASK_PREFIX, type NoticeRecord, type NoticeTaskFacts, type NoticeType } from "./records/notice.ts";
export type { OverdueEnd, OverdueKind, OverdueRecord, ResolvedOverdueRecord } from "./records/overdue.ts";
export {
  type CatchUp,
  type CoalescePolicy,
  type ConflictPolicy,
  JOB_OUTCOMES,
  type JobOutcome,
  type Labels,
  type Metadata,
  type RetryPolicy,
  type RunOverlapPolicy,
} from "./records/policies.ts";
export type { ScheduleRecord } from "./records/schedule.ts";
export type { SchedulerProfile, SchedulerRecord, SchedulerRole } from "./records/scheduler.ts";
export { type SerializedError, serializedError } from "./records/serialized-error.ts";
export type { TaskRecord } from "./records/task.ts";
export type { DevalueFunctions, DevalueOptions } from "./serializers/devalue.ts";
export type { Serializer } from "./serializers/serializer.ts";
export type {
  ChangeRecordFilter,
  Ledger,
  LedgerLimits,
  OccurrenceRecordFilter,
} from "./stores/contract/ledger-types.ts";
export type { OverdueReport, SeenOverdue } from "./stores/contract/look-types.ts";
export type {
  KnownZoneRules,
  RankedZoneRules,
  ZonedPage,
  ZonedPageRequest,
  ZonedSchedule,
  ZoneRulesConfirmation,
  ZoneRulesRanking,
  ZoneRulesStore,
} from "./stores/contract/zone-rules-types.ts";
export type {
  BlackoutAddition,
  BlackoutAdditionReport,
  BlackoutList,
  CancelReport,
  CleanupReport,
  CommitReport,
  CommitRequest,
  DataStore,
  EndedPauses,
  Heartbeat,
  HeldJob,
  InspectionOptions,
  JobAddition,
  JobCancellation,
  JobCapacity,
  JobFilter,
  JobQueue,
  JobRelease,
  JobResultFilter,
  JobResultSelection,
  JobStepReport,
  JobStepSave,
  LeaseEnd,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  LeaseSurrenderReport,
  LookedSchedule,
  LookReport,
  LookRequest,
  OverlapReport,
  PlannedJob,
  PlannedOverlap,
  PlanReport,
  RecordPage,
  RecoveredJob,
  RecoveryReport,
  ReleaseStatus,
  RestoredHistory,
  RestoredRecords,
  ResultRemoval,
  ResultsOfJobs,
  ScheduleAddition,
  ScheduleAdditionChange,
  ScheduleAdditionReport,
  ScheduleChanges,
  ScheduleCommit,
  ScheduleCommitReport,
  ScheduleCounts,
  ScheduleDeclaration,
  ScheduleFilter,
  SchedulePlan,
  ScheduleRemovalRequest,
  ScheduleUpdateRequest,
  ScheduleWindow,
  Seen,
  SentHeartbeat,
  StoreCapabilities,
  StoreInspection,
  StoreWarning,
  TaskBacklog,
  TaskChange,
  TaskPut,
  View,
} from "./stores/data-store.ts";
export type { FailureKind, Row, SqlDriver, SqlStatement, SqlValue } from "./stores/sql/driver/driver-and-failures.ts";
export type { RetryLimits } from "./stores/sql/limits.ts";
export { sqliteFailureKind } from "./stores/sql/sqlite/driver/driver-and-failures.ts";
export { SqlDataStore } from "./stores/sql/sqlite/store.ts";
export type { SqlDataStoreOptions } from "./stores/sql/store.ts";
