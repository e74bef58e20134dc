import type { AbortSignal } from "../../core/abort-signal.ts";
import type { Duration } from "../../core/duration.ts";
import type { InstantLike } from "../../core/temporal.ts";
import type { StepStatement } from "../../records/job-step.ts";
import type { RetryOptions } from "../options/options.ts";

/**
 * Parts of a job that are recorded as they end, so that an attempt after a crash, a deploy or a sleep goes on where the
 * last one was. Code between steps runs again in each attempt.
 */
export interface Steps {
  /**
   * Runs a part of the job once, and records what it returned: a later attempt gets the recorded value without a call.
   * A body that did not end runs again, so that it runs at least once. Steps may run at the same time
   * (`Promise.all`), but not within each other.
   *
   * @param name names the step: each name once in an attempt, the same in each attempt, 1 to 200 characters. In a loop,
   *   write `"post:" + id`
   * @param options `retry`: how often the body runs in this attempt (default: once), `timeout`: longest run of the body
   * @param body gets the {@link StepContext} of the step
   * @returns what the body returned, now or in an earlier attempt
   * @throws what the body threw last; `signal.reason` once the attempt is to end early
   * @throws {StepError} for a name that came before, for a step within a step, after the handler has ended, and beyond
   *   the limits: 1,000 steps of a job, 262,144 characters of a value, 4 MB of a job
   * @throws {SerializationError} for a value that the data store's serializer refuses, with its path
   * @throws {LeaseLostError} when another scheduler has the job by now
   * @throws {StoreUnavailableError}
   * @example
   * const ids = await step.run("load", () => accounts());
   * await step.run("post", async ({ cursor = 0, save, key }: StepContext<number>) => {
   *   for (let i = cursor; i < ids.length; i++) {
   *     await post(ids[i], `${key}:${i}`);
   *     await save(i + 1);
   *   }
   * });
   */
  readonly run: {
    <T, C = unknown>(name: string, body: (step: StepContext<C>) => T | Promise<T>): Promise<T>;
    <T, C = unknown>(name: string, options: StepOptions, body: (step: StepContext<C>) => T | Promise<T>): Promise<T>;
  };
  /**
   * Lets the job sleep: the attempt ends, and the job keeps no place, lease or worker until it wakes; no attempt is
   * spent. It returns in the attempt that runs after the sleep. Steps that run at the same time end first.
   *
   * @param duration counts from the first attempt that came here
   * @throws {JobSleepError} which ends the attempt: do not catch it
   * @throws {StepError} as `run` does
   * @throws {OptionsError} when it is no duration
   * @example
   * await step.sleep("settle", "2d");
   */
  readonly sleep: (name: string, duration: Duration) => Promise<void>;
  /** Lets the job sleep until an instant, see {@link sleep}. It returns at once when that instant has passed. */
  readonly sleepUntil: (name: string, instant: InstantLike) => Promise<void>;
}

/** How a step runs within an attempt. */
export interface StepOptions {
  /** How often the body runs in this attempt, and the pauses between. A `NonRetryableError` and a `RetryAfter` end it
   *  at once. Default: once; the task's own `retry` then begins another attempt. */
  retry?: RetryOptions | undefined;
  /** Longest run of the body, for example `"30s"`: then its `signal` is aborted, and it counts as failed. Default:
   *  unlimited. */
  timeout?: Duration | undefined;
}

/** What the body of a step gets. `C` is the type of its cursor. */
export interface StepContext<C = unknown> {
  /** What {@link save} last recorded, in this attempt or an earlier one; undefined at first. */
  readonly cursor: C | undefined;
  /** Names the step, the same in every attempt of the job and of those that `retryJob` adds: for the other side's
   *  idempotency. */
  readonly key: string;
  /** Aborted when the attempt is to end early, or when the step's `timeout` has passed. */
  readonly signal: AbortSignal;
  /**
   * Records how far the body is. Once the promise has resolved, the next attempt gets this cursor. Calls that come
   * while a write is under way share the next write, in which the last one counts. It also extends the job's lease.
   * @throws {LeaseLostError} when another scheduler has the job by now: stop at once
   * @throws {SerializationError} {@link StepError} {@link StoreUnavailableError}
   */
  readonly save: (cursor: C) => Promise<void>;
  /**
   * Gives the statements that record the step with a value, for a transaction of the application's own in the database
   * of the store: the step and the application's rows are there together, or not at all. The transaction fails when the
   * lease of the job is lost. Return `value` from the body after the commit.
   * @throws {StoreRefusedError} when the store is in no database that applications reach
   */
  readonly prepare: <T>(value: T) => Promise<PreparedStep<T>>;
}

/** A step that the application's own transaction records. */
export interface PreparedStep<T> {
  /** What the step returns, as it is recorded. */
  readonly value: T;
  /** Each has plain `?` parameters, and `args` with their values. */
  readonly statements: readonly StepStatement[];
}
