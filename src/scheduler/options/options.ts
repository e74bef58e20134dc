import type { Duration } from "../../core/duration.ts";
import type { InstantLike } from "../../core/temporal.ts";
import type { CoalescePolicy, ConflictPolicy, JobOutcome, Metadata } from "../../records/policies.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** Settings of a task. Resolved most explicit first: the call, the task, the scheduler's `taskDefaults`; metadata is
 *  merged key by key. */
export interface TaskSettings {
  /** Name of the executor that runs the task's jobs. Default: `"inline"`. */
  executor?: string;
  /** Most jobs of the task that run at once, over all schedulers of the store; null is unlimited. Default: 1. */
  maxRunningJobs?: number | null;
  /** How late a scheduled job may start; null is unlimited. Default: null. */
  misfireGraceTime?: Duration | null;
  /** Attempts in all (default 1: no retry) and the pauses between them. */
  retry?: RetryOptions;
  /** How often a job that was lost with its process goes back to the queue. Default: 3; 0 is at-most-once. */
  maxRecoveries?: number;
  /** Longest run of one attempt; null is unlimited. Default: null. */
  timeout?: Duration | null;
  /** How long results are kept; zero keeps none. Default: 24 hours. */
  resultExpirationTime?: Duration;
  /** JSON data that its schedules and jobs inherit. */
  metadata?: Metadata;
}

export interface RetryOptions {
  /** Attempts in all, the first included. Default: 1. */
  maxAttempts?: number;
  backoff?: {
    /** Pause before the second attempt. Default: 1 s. */
    initial?: Duration;
    /** Each pause is so many times the one before. Default: 2. */
    factor?: number;
    /** Longest pause. Default: 1 h. */
    max?: Duration;
    /** `"full"` (default): uniform between zero and the pause; `"none"`: the pause itself. */
    jitter?: "full" | "none";
  };
}

/** Options of a schedule. */
export interface ScheduleOptions<P = unknown> {
  /** Default: a new UUID. Choose one to find the schedule again, or to add it at every start. */
  id?: string;
  /** What the handler gets. */
  payload?: P;
  /** What becomes of several fire times that are due at once. Default: `"latest"`. */
  coalesce?: CoalescePolicy;
  /** How late a job may start; null is unlimited. Default: the task's. */
  misfireGraceTime?: Duration | null;
  /** Each fire is put off by a random time up to this, never to the next fire time. Default: none. */
  maxJitter?: Duration;
  /** What happens when the id exists. Default: `"doNothing"`. */
  conflictPolicy?: ConflictPolicy;
  /** Start paused. Default: false. */
  paused?: boolean;
  metadata?: Metadata;
  /** Name of an executor. Default: the task's. */
  executor?: string;
  /** Higher runs first. Default: 0. */
  priority?: number;
  /** How long results of its jobs are kept. Default: the task's. */
  resultExpirationTime?: Duration;
  /** With `coalesce: "all"`: make up for at most so many missed fire times, the newest. Default: null, all of them. */
  maxCatchUp?: number | null;
}

/** What `updateSchedule` changes; what is not given stays as it is. */
export interface ScheduleUpdate<P = unknown> extends Omit<ScheduleOptions<P>, "id" | "conflictPolicy" | "paused"> {
  /** A new rule counts from now. One that is the same rule as before changes nothing about the fire times. */
  trigger?: Trigger;
}

/** Options of a job. */
export interface JobOptions<P = unknown> {
  payload?: P;
  /** Not before this. Default: now. */
  runAt?: InstantLike;
  /** Higher runs first. Default: 0. */
  priority?: number;
  /** Unique among unfinished jobs: adding again returns the existing job. */
  idempotencyKey?: string;
  metadata?: Metadata;
  /** Name of an executor. Default: the task's. */
  executor?: string;
  /** How long the result is kept; zero keeps none. Default: the task's. */
  resultExpirationTime?: Duration;
  /** Not to be started after this; ends as `missedStartDeadline`. Default: none. */
  startDeadline?: InstantLike;
}

/** Options of `runJob`. */
export interface RunJobOptions<P = unknown> extends JobOptions<P> {
  /** Ends the wait; the job goes on. */
  signal?: AbortSignal;
}

/** Filter of `getSchedules`; a page has `limit` items (default 100, at most 1,000). */
export interface ScheduleFilterOptions {
  taskId?: string;
  paused?: boolean;
  limit?: number;
  /** The `cursor` of the page before. */
  cursor?: string | null;
}

/** Filter of `getJobs`; a page has `limit` items (default 100, at most 1,000). */
export interface JobFilterOptions {
  taskId?: string;
  scheduleId?: string;
  limit?: number;
  cursor?: string | null;
}

/** Filter of `getJobResults`; a page has `limit` items (default 100, at most 1,000). */
export interface JobResultFilterOptions {
  taskId?: string;
  scheduleId?: string;
  outcome?: JobOutcome;
  limit?: number;
  cursor?: string | null;
}
