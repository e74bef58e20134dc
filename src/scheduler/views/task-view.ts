import { durationOf, durationOrNull } from "../../core/duration.ts";
import { printAsJSON } from "../../core/inspect.ts";
import { instantOrNull, type Temporal } from "../../core/temporal.ts";
import { TASK_FIELDS } from "../../records/fields/task.ts";
import { type Labels, type Metadata, NO_LABELS, type RunOverlapPolicy } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import { SNOOZES_MAX_DEFAULT } from "../options/limits.ts";
import { jsonOf } from "./json-of.ts";
import { retryOf, type TaskRetry } from "./retry.ts";

/**
 * The settings of a task as they were when the task was read, with all defaults filled in. Durations are made when a
 * caller reads them.
 *
 * @example
 * for (const { id, maxRunningJobs, isPaused } of await scheduler.getTasks()) console.log(id, maxRunningJobs, isPaused);
 */
export class TaskView {
  readonly #record: TaskRecord;

  static {
    printAsJSON(TaskView.prototype);
  }

  constructor(record: TaskRecord) {
    this.#record = record;
  }

  get id(): string {
    return this.#record.id;
  }
  /** Name of the executor that runs the task's jobs. */
  get executor(): string {
    return this.#record.executor;
  }
  /** Most jobs of the task that run at once, counted over all schedulers of the store; null is unlimited. */
  get maxRunningJobs(): number | null {
    return this.#record.maxRunningJobs;
  }
  /** Most jobs of one concurrency key that run at once, over all schedulers of the store; null is unlimited. */
  get maxRunningPerKey(): number | null {
    return this.#record.maxRunningPerKey ?? null;
  }
  /** How many attempts may start in a time, for each concurrency key; null is unlimited. */
  get rateLimit(): TaskRateLimit | null {
    const { rateLimit } = this.#record;
    if (rateLimit === undefined) return null;
    return { limit: rateLimit.limit, per: durationOf(rateLimit.perMs), burst: rateLimit.burst };
  }
  /** Whether the concurrency keys take turns. */
  get fair(): boolean {
    return this.#record.fair ?? false;
  }
  /** Whether the whole task was paused (see `pauseTask`). `health()` has the paused keys too. */
  get isPaused(): boolean {
    return this.#record.paused ?? false;
  }
  /** After how many failed runs in a row a schedule of the task is paused; null for never. */
  get pauseAfterFailures(): number | null {
    return this.#record.pauseAfterFailures ?? null;
  }
  /** When the pause of the whole task ends by itself; null for a pause without an end, and for none. */
  get pausedUntil(): Temporal.Instant | null {
    return instantOrNull(this.#record.pausedUntil);
  }
  /** Why the whole task is paused; null for no reason, and for no pause. */
  get pauseReason(): string | null {
    return this.#record.pauseReason ?? null;
  }
  /** Who paused it: the identity of a scheduler, or the name that the caller gave; null for no pause. */
  get pausedBy(): string | null {
    return this.#record.pausedBy ?? null;
  }
  /** How late a job of a schedule may start; null is unlimited. */
  get misfireGraceTime(): Temporal.Duration | null {
    return durationOrNull(this.#record.misfireGraceMs);
  }
  /** How many times a job that was lost with its process goes back to the queue. */
  get maxRecoveries(): number {
    return this.#record.maxRecoveries;
  }
  /** How many attempts of a job may end with a `RetryAfter`. */
  get maxSnoozes(): number {
    return this.#record.maxSnoozes ?? SNOOZES_MAX_DEFAULT;
  }
  /** Longest run of one attempt; null is unlimited. */
  get timeout(): Temporal.Duration | null {
    return durationOrNull(this.#record.timeoutMs);
  }
  /** How long a handler that ignores its signal keeps the place of its job; null is the lease of its scheduler. */
  get abandonAfter(): Temporal.Duration | null {
    return durationOrNull(this.#record.abandonAfterMs);
  }
  /** How long results are kept; zero keeps none. */
  get resultExpirationTime(): Temporal.Duration {
    return durationOf(this.#record.resultExpirationMs);
  }
  /** How long it is kept how a job failed; null is as the default says: 30 days, longer where
   *  {@link resultExpirationTime} is, and not at all where that is zero. */
  get failureExpirationTime(): Temporal.Duration | null {
    return durationOrNull(this.#record.failureExpirationMs);
  }
  /** How many attempts a failing job gets, and the pauses between the attempts. */
  get retry(): TaskRetry {
    return retryOf(this.#record.retry);
  }
  /** What a fire of the task's schedules does while an earlier run of the same schedule is unfinished. */
  get overlap(): RunOverlapPolicy {
    return this.#record.overlap;
  }
  /** How much of the log of each attempt is kept; null for nothing. */
  get keepLogs(): TaskRecord["keepLogs"] | null {
    return this.#record.keepLogs ?? null;
  }
  get metadata(): Metadata {
    return this.#record.metadata;
  }
  /** Empty for none. */
  get labels(): Labels {
    return this.#record.labels ?? NO_LABELS;
  }

  toJSON(): Record<string, unknown> {
    return jsonOf<TaskView>(TASK_FIELDS, this, this.#record);
  }
}

/** How many attempts of a task may start in a time. */
export interface TaskRateLimit {
  readonly limit: number;
  /** The time in which at most `limit` attempts start. */
  readonly per: Temporal.Duration;
  /** How many attempts may start at once after a pause. */
  readonly burst: number;
}
