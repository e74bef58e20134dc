import type { AbortSignal } from "../../core/abort-signal.ts";
import type { LogLevel } from "../../core/leveled-logger.ts";
import type { StandardSchemaV1 } from "../../core/standard-schema.ts";
import type { MissedPolicy } from "../../records/blackout.ts";
import type { CheckedOf } from "../../records/fields/field.ts";
import type { ScheduleSettings } from "../../records/fields/schedule.ts";
import type { RETRY_FIELDS } from "../../records/fields/task.ts";
import type {
  ConflictPolicy,
  JobOutcome,
  Labels,
  Metadata,
  ParentFailurePolicy,
  RetryPolicy,
  RunOverlapPolicy,
} from "../../records/policies.ts";
import type { JobFilter, JobResultSelection, ScheduleFilter } from "../../stores/data-store.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import type { OccurrenceVerdict } from "./occurrence-verdicts.ts";

// Options as they are after the check: only known names, with their defaults. Instants are epoch milliseconds, and
// durations milliseconds, with the unit in their names.

interface CheckedBackoff {
  initialMs: number;
  factor: number;
  maxMs: number;
  jitter: RetryPolicy["backoff"]["jitter"];
}

/** What is given of a `retry`. */
export type CheckedRetry = CheckedOf<typeof RETRY_FIELDS>;

/** What limits the jobs of a task. The default of `maxRunningJobs` depends on the others. */
interface CheckedLimits {
  maxRunningJobs?: number | null | undefined;
  maxRunningPerKey?: number | null | undefined;
  rateLimit?: { limit: number; perMs: number; burst?: number | undefined } | null | undefined;
  fair?: boolean | undefined;
  pauseAfterFailures?: number | null | undefined;
}

/** How much is kept of the log of each attempt. */
interface CheckedLogging {
  keepLogs?: { lines: number; bytes: number } | null | undefined;
}

/** The settings that tasks of a scheduler have, unless their own settings say something else. */
export interface CheckedTaskDefaults extends CheckedLimits, CheckedLogging {
  executor: string;
  misfireGraceMs: number | null;
  retry: { maxAttempts: number; backoff: CheckedBackoff };
  maxRecoveries: number;
  maxSnoozes: number;
  timeoutMs: number | null;
  abandonAfterMs?: number | null | undefined;
  resultExpirationMs: number;
  failureExpirationMs?: number | null | undefined;
  overlap: RunOverlapPolicy;
  metadata: Metadata;
  labels?: Labels | undefined;
}

/** The concurrency key of a payload. It is a function of the program, and may return anything. */
export type KeyFunction = (payload: never) => unknown;

/** Settings of one task. A setting that is not given is left to the defaults. */
export interface CheckedTaskSettings extends CheckedLimits, CheckedLogging {
  executor?: string | undefined;
  concurrencyKey?: KeyFunction | undefined;
  misfireGraceMs?: number | null | undefined;
  retry?: CheckedRetry | undefined;
  maxRecoveries?: number | undefined;
  maxSnoozes?: number | undefined;
  timeoutMs?: number | null | undefined;
  abandonAfterMs?: number | null | undefined;
  resultExpirationMs?: number | undefined;
  failureExpirationMs?: number | null | undefined;
  overlap?: RunOverlapPolicy | undefined;
  metadata?: Metadata | undefined;
  labels?: Labels | undefined;
  schema?: StandardSchemaV1 | undefined;
}

/** What callers set of a schedule. */
export type CheckedScheduleSettings = CheckedOf<ScheduleSettings>;

export interface CheckedScheduleChanges extends CheckedScheduleSettings {
  nextFireTime?: number | undefined;
  trigger?: TriggerLike | undefined;
}

export interface CheckedScheduleOptions extends CheckedScheduleSettings {
  id?: string | undefined;
  conflictPolicy: ConflictPolicy;
  paused?: boolean | undefined;
  spread?: boolean | undefined;
  by?: string | undefined;
  ifRevision?: number | undefined;
  requestHash?: string | undefined;
}

export interface CheckedRunNow {
  idempotencyKey?: string | undefined;
  uniqueForMs?: number | undefined;
  requestHash?: string | undefined;
}

export interface CheckedBackfill {
  from: number;
  until: number;
  order: "oldest" | "newest";
  paceMs?: number | undefined;
  limit?: number | undefined;
  includeRan: boolean;
  includeCoalesced: boolean;
  includeUnrecorded: boolean;
  dryRun: boolean;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface CheckedJobOptions extends CheckedRunNow {
  payload?: unknown;
  runAt?: number | undefined;
  delayMs?: number | undefined;
  priority: number;
  debounce?: { key: string; waitMs: number; maxWaitMs?: number | undefined } | undefined;
  throttle?: { key: string; perMs: number } | undefined;
  concurrencyKey?: string | null | undefined;
  metadata?: Metadata | undefined;
  labels?: Labels | undefined;
  executor?: string | undefined;
  resultExpirationMs?: number | undefined;
  failureExpirationMs?: number | null | undefined;
  startDeadline?: number | undefined;
  retry?: CheckedRetry | undefined;
  /** Ids, each once. */
  after?: string[] | undefined;
  onParentFailure?: ParentFailurePolicy | undefined;
}

/** One entry of `addJobs`. The check leaves `task` as it is, because only the task registry knows tasks. */
export interface CheckedNewJob extends CheckedJobOptions {
  task: unknown;
}

export interface CheckedRunJobOptions extends CheckedJobOptions {
  signal?: AbortSignal | undefined;
}

export interface CheckedSchedulerOptions {
  role: "both" | "scheduler" | "worker";
  identity?: string | undefined;
  maxConcurrentJobs: number;
  taskDefaults: CheckedTaskDefaults;
  timeZone: string;
  leaseDurationMs: number;
  cleanupIntervalMs: number | null;
  maxIdleMs?: number | undefined;
  zoneRules: "auto" | "adopt" | "keep";
  logLevel?: LogLevel | undefined;
  version?: number | undefined;
}

/** Who changes something. */
export interface CheckedChange {
  by?: string | undefined;
}

/** A blackout: `from` and `until`, or `trigger` and `durationMs`. */
export interface CheckedBlackout extends CheckedChange {
  from?: number | undefined;
  until?: number | undefined;
  /** Not read yet. */
  trigger?: TriggerLike | undefined;
  durationMs?: number | undefined;
  labels?: Labels | undefined;
  taskIds?: string[] | undefined;
  missed: MissedPolicy;
  reason?: string | undefined;
  conflictPolicy: ConflictPolicy;
}

export interface CheckedPause extends CheckedChange {
  until?: number | undefined;
  reason?: string | undefined;
}

export interface CheckedTaskPause extends CheckedPause {
  key?: string | undefined;
}

export interface CheckedRevision extends CheckedChange {
  ifRevision?: number | undefined;
}

export interface CheckedOccurrenceFilter extends CheckedScheduleChangeFilter {
  from?: number;
  until?: number;
  verdict?: readonly OccurrenceVerdict[];
}

export interface CheckedScheduleChangeFilter {
  order: "newest" | "oldest";
  limit: number;
  cursor: string | null;
}

/** Which runs; absent fields do not matter. Durations are in milliseconds. */
export interface RunFilter {
  limit: number;
  cursor: string | null;
  taskId?: string;
  scheduleId?: string;
  state?: readonly ("queued" | "blocked" | "running" | "ended")[];
  outcome?: readonly JobOutcome[];
  error?: string;
  key?: string;
  minRunMs?: number;
  maxRunMs?: number;
  minAttempts?: number;
  from?: number;
  until?: number;
  labels?: Labels;
  search?: string;
}

/** Which failures, in which groups. */
export interface FailureFilter {
  groupBy: readonly ("task" | "error")[];
  taskId?: string;
  scheduleId?: string;
  from?: number;
  until?: number;
  limit: number;
}

/** Which statistics. */
export interface StatsRequest {
  from?: number;
  until?: number;
  bucketMs?: number;
  by?: "task" | "schedule";
  taskId?: string;
  scheduleId?: string;
  limit: number;
}

/** Which results `removeJobResults` is about, and whether it only counts them. */
export type ResultSelection = Omit<RunFilter, "state" | "limit" | "cursor"> & { readonly dryRun?: boolean };

/** Which jobs `retryJobs` is about. */
export type RetrySelection = JobResultSelection & { readonly failureKey?: string };

export interface CheckedStartOptions {
  paused: boolean;
  handleSignals: boolean;
}

export interface CheckedRunOptions {
  signal?: AbortSignal | undefined;
  handleSignals: boolean;
}

export interface CheckedTickOptions {
  stayMs: number | "whileRunning";
  maxDurationMs: number;
  maxJobs?: number | undefined;
  maxRoundTrips?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface CheckedSubscribeOptions {
  once: boolean;
  onGap?: () => unknown;
  onStop?: () => unknown;
}

export interface CheckedEventsOptions {
  signal?: AbortSignal;
  onDropped?: (count: number) => void;
}

/** Which tasks. */
export type TaskFilter = Pick<ScheduleFilter, "labels">;

/** What is counted of a list. */
export interface ListInclude {
  total?: boolean;
  facets?: boolean;
}

/** What a list of schedules has of each besides. */
export interface ScheduleInclude extends ListInclude {
  next?: number;
  runs?: number;
  stats?: boolean;
}

/** Which schedules, and with what. */
export type CheckedScheduleFilter = ScheduleFilter & { readonly include?: ScheduleInclude };

/** Which jobs, and what is counted of them. */
export type CheckedJobFilter = JobFilter & { readonly include?: ListInclude };

/** Which runs, and what is counted of them. */
export type CheckedRunFilter = RunFilter & { readonly include?: ListInclude };

/** Which schedules a call about many is about. */
export type ScheduleSelection = Pick<ScheduleFilter, "taskId" | "paused" | "labels">;

/** Which unfinished jobs a call about many is about. */
export type JobSelection = Pick<JobFilter, "taskId" | "scheduleId" | "backfillId" | "labels">;

/** What `unpauseSchedule` and `unpauseSchedules` take. */
export interface CheckedUnpause extends CheckedChange {
  resumeFrom?: "now" | number | undefined;
}

export interface CheckedPrintOptions {
  write?: (line: string) => void;
  taskId?: string;
  paused?: boolean;
  limit: number;
}

export interface CheckedResultOptions {
  wait: boolean;
  signal?: AbortSignal | undefined;
}

/** A filter of a call that is about many jobs or results, or their ids. */
export type CheckedBulk<Selection> = Selection & { ids?: string[]; all: boolean; signal?: AbortSignal };
