// Public names only.

export { BroadcastChannelEventBroker } from "./brokers/broadcast-channel.ts";
export type { EventBroker, Unsubscribe } from "./brokers/event-broker.ts";
export { LocalEventBroker } from "./brokers/local.ts";
export { type Clock, systemClock } from "./core/clock.ts";
export type { Duration } from "./core/duration.ts";
export * from "./core/errors.ts";
export type { RandomSource } from "./core/ids.ts";
export type { Logger } from "./core/logger.ts";
export type { StandardSchemaV1 } from "./core/standard-schema.ts";
export { type Instantish, Temporal } from "./core/temporal.ts";
export type { CronFields } from "./cron/parse.ts";
export type { DstPolicy, GapPolicy, OverlapPolicy } from "./cron/spec.ts";
export { InlineExecutor } from "./executors/inline.ts";
export type { JobCall, JobExecutor } from "./executors/job-executor.ts";
export type { Event, EventRecord, EventType } from "./records/events.ts";
export type { JobRecord } from "./records/job.ts";
export type { JobResultRecord, SerializedError } from "./records/job-result.ts";
export type {
  CoalescePolicy,
  ConflictPolicy,
  JobOutcome,
  Metadata,
  RetryPolicy,
} from "./records/policies.ts";
export type { ScheduleRecord } from "./records/schedule.ts";
export type { TaskRecord } from "./records/task.ts";
export { currentJob } from "./scheduler/current-job.ts";
export type { EventsOptions, EventTypes, Subscription } from "./scheduler/event-hub.ts";
export type { Job } from "./scheduler/job.ts";
export type { JobContext, TaskHandler } from "./scheduler/job-context.ts";
export type { JobResult } from "./scheduler/job-result.ts";
export type { SchedulerState } from "./scheduler/lifecycle.ts";
export type {
  JobFilterOptions,
  JobOptions,
  JobResultFilterOptions,
  RetryOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleUpdate,
  TaskSettings,
} from "./scheduler/options.ts";
export type { Schedule } from "./scheduler/schedule.ts";
export { type NewJob, type Page, type RunJobOptions, Scheduler, type SchedulerOptions } from "./scheduler/scheduler.ts";
export type { NamedFunction, Task } from "./scheduler/task-registry.ts";
export type { TickReport } from "./scheduler/tick.ts";
export { type DevalueFunctions, type DevalueOptions, DevalueSerializer } from "./serializers/devalue.ts";
export { JSONSerializer } from "./serializers/json.ts";
export type { Serializer } from "./serializers/serializer.ts";
export type * from "./stores/data-store.ts";
export { MemoryDataStore } from "./stores/memory/store.ts";
export { type CalendarIntervalOptions, CalendarIntervalTrigger } from "./triggers/calendar-interval.ts";
export type { Dateish } from "./triggers/civil-date.ts";
export { type ReadTrigger, registerTrigger, type TriggerCodec, triggerFromJSON } from "./triggers/codec.ts";
export { type AndOptions, AndTrigger, OrTrigger } from "./triggers/combining.ts";
export { type CronOptions, CronTrigger } from "./triggers/cron.ts";
export { CronBatch } from "./triggers/cron-batch.ts";
export { DateTrigger } from "./triggers/date.ts";
export { type DateRange, type Excluded, type ExcludingOptions, ExcludingTrigger } from "./triggers/excluding.ts";
export { type IntervalOptions, IntervalTrigger } from "./triggers/interval.ts";
export { type FireTimesOptions, Trigger, type TriggerJSON } from "./triggers/trigger.ts";
