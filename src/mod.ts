/**
 * A persistent job scheduler: everything that a program needs to schedule and run jobs. `escapement/cron` has the
 * triggers alone, with batches and the types of their options. `escapement/contracts` has what the authors of stores,
 * brokers, executors and serializers need.
 *
 * @module
 */
export { BroadcastChannelEventBroker } from "./brokers/broadcast-channel.ts";
export { LocalEventBroker } from "./brokers/local.ts";
export { type Clock, coarseClock, systemClock } from "./core/clock.ts";
export type { Duration } from "./core/duration.ts";
export {
  BrokenTriggerError,
  ConflictingIdError,
  CronSyntaxError,
  DeserializationError,
  EscapementError,
  HandlerLookupError,
  JobAbandonedError,
  JobCancelledError,
  JobDeadlineMissedError,
  JobLookupError,
  JobSkippedError,
  JobSleepError,
  JobTimeoutError,
  LeaseLostError,
  MaxIterationsReachedError,
  NonRetryableError,
  OptionsError,
  PayloadError,
  RevisionConflictError,
  ScheduleLookupError,
  SchedulerStateError,
  SerializationError,
  SkipRun,
  StepError,
  StoreRefusedError,
  StoreUnavailableError,
  TaskLookupError,
  TemporalMissingError,
  WorkerLostError,
} from "./core/errors.ts";
export type { RandomSource } from "./core/ids.ts";
export type { LogLevel } from "./core/leveled-logger.ts";
export type { Logger } from "./core/logger.ts";
export { RetryAfter } from "./core/retry-after.ts";
export type { StandardSchemaV1 } from "./core/standard-schema.ts";
export { type InstantLike, Temporal } from "./core/temporal.ts";
export { InlineExecutor } from "./executors/inline.ts";
export type { MissedPolicy } from "./records/blackout.ts";
export type { EventType } from "./records/events.ts";
export type { ScheduleChangeKind } from "./records/ledger.ts";
export type {
  CoalescePolicy,
  JobOutcome,
  Labels,
  Metadata,
  ParentFailurePolicy,
  RunOverlapPolicy,
} from "./records/policies.ts";
export type { SerializedError } from "./records/serialized-error.ts";
export type { BackfillReport, BulkRefusal, SkippedJobs, SkippedSchedules } from "./scheduler/commands/commands.ts";
export type { SchedulerState } from "./scheduler/driving/lifecycle.ts";
export type { EventsOptions, SubscribeOptions, Subscription } from "./scheduler/events/event-hub.ts";
export type { SchedulerEvent } from "./scheduler/events/scheduler-event.ts";
export type { OccurrenceVerdict } from "./scheduler/options/occurrence-verdicts.ts";
export type {
  BackfillOptions,
  BatchOptions,
  BlackoutOptions,
  BulkJobOptions,
  BulkResultOptions,
  BulkScheduleOptions,
  CatchUpOptions,
  ChangeOptions,
  FailureOptions,
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  ListIncludeOptions,
  OccurrenceFilterOptions,
  PauseOptions,
  PrintOptions,
  RateLimitOptions,
  RetryJobsOptions,
  RetryOptions,
  RevisionOptions,
  RunFilterOptions,
  RunJobOptions,
  RunNowOptions,
  ScheduleChangeFilterOptions,
  ScheduleFilterOptions,
  ScheduleIncludeOptions,
  ScheduleOptions,
  ScheduleUpdate,
  StatsOptions,
  TaskFilterOptions,
  TaskSettings,
  TickOptions,
} from "./scheduler/options/options.ts";
export type { ScheduledTaskOptions } from "./scheduler/options/payload-argument.ts";
export type { SchedulerOptions } from "./scheduler/options/scheduler-options.ts";
export type {
  AddedBatch,
  JobContext,
  LastRun,
  LocalSchedulerClient,
  NewJob,
  NewSchedule,
  PayloadOf,
  ResultOf,
  SchedulerClient,
  Task,
  TaskHandler,
} from "./scheduler/scheduler-client.ts";
export { Scheduler } from "./scheduler/scheduler-with-store.ts";
export type { PreparedStep, StepContext, StepOptions, Steps } from "./scheduler/steps/step-types.ts";
export { currentJob } from "./scheduler/tasks/current-job.ts";
export { type DefinedTask, type DefinedTasks, defineTasks } from "./scheduler/tasks/defined-tasks.ts";
export type { Attempt } from "./scheduler/views/attempt.ts";
export type { Blackout } from "./scheduler/views/blackout.ts";
export type { Cause, ClockChange, ExplainedVerdict, Explanation, PauseCause } from "./scheduler/views/explanation.ts";
export type { FailureGroup, FailureReport } from "./scheduler/views/failure-group.ts";
export type {
  BackloggedSchedule,
  Count,
  DueJob,
  DueSchedule,
  LiveScheduler,
  OverdueOccurrence,
  PausedTask,
  SchedulerHealth,
  TaskWork,
} from "./scheduler/views/health.ts";
export type { Cancellation, Job } from "./scheduler/views/job.ts";
export type { JobLog, JobLogLine } from "./scheduler/views/job-log.ts";
export type { JobResult } from "./scheduler/views/job-result.ts";
export type { JobStep } from "./scheduler/views/job-step.ts";
export type { Occurrence, OccurrenceRun } from "./scheduler/views/occurrence.ts";
export type { Listing, Page } from "./scheduler/views/page.ts";
export type { PreparedJob } from "./scheduler/views/prepared-job.ts";
export type { PreviewedFire } from "./scheduler/views/previewed-fire.ts";
export type { TaskRetry } from "./scheduler/views/retry.ts";
export type { Run } from "./scheduler/views/run.ts";
export type { LastFailure, Schedule, ScheduleCatchUp } from "./scheduler/views/schedule.ts";
export type { ScheduleChange, ScheduleSnapshot } from "./scheduler/views/schedule-change.ts";
export type { Quantiles, Stats, StatsBucket, StatsReport, StatsSeries } from "./scheduler/views/stats.ts";
export type { TaskRateLimit, TaskView } from "./scheduler/views/task-view.ts";
export type { TickReport } from "./scheduler/views/tick-report.ts";
export { DevalueSerializer } from "./serializers/devalue.ts";
export { JSONSerializer } from "./serializers/json.ts";
export { MemoryDataStore } from "./stores/memory/store.ts";
export type { LedgerOptions } from "./stores/shared/ledger-option.ts";
export { CalendarIntervalTrigger } from "./triggers/calendar-interval.ts";
export { registerTrigger, triggerFromJSON } from "./triggers/codec.ts";
export { AndTrigger, OrTrigger } from "./triggers/combining.ts";
export { CronTrigger } from "./triggers/cron.ts";
export { DateTrigger } from "./triggers/date.ts";
export { ExcludingTrigger } from "./triggers/excluding.ts";
export { IntervalTrigger } from "./triggers/interval.ts";
export type { TriggerLike, WireTrigger } from "./triggers/short-trigger.ts";
export { Trigger } from "./triggers/trigger.ts";
export type { TriggerJSON } from "./triggers/trigger-json.ts";
