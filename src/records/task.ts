import type { Labels, Metadata, RateLimit, RetryPolicy, RunOverlapPolicy } from "./policies.ts";

/** What a store knows of a task: its settings, with all defaults filled in. The handler is not stored: it lives in the
 *  schedulers that registered the task. */
export interface TaskRecord {
  readonly id: string;
  /** Name of the executor that runs the task's jobs. */
  readonly executor: string;
  /** Most jobs of this task that run at once, counted over all schedulers of the store; null is unlimited. */
  readonly maxRunningJobs: number | null;
  /** How late a job of the task's schedules may start, in milliseconds, if a schedule sets nothing else; null is
   *  unlimited. */
  readonly misfireGraceMs: number | null;
  /** How many times a job that was lost with its process goes back to the queue. */
  readonly maxRecoveries: number;
  /** Longest run of one attempt, in milliseconds; null is unlimited. */
  readonly timeoutMs: number | null;
  /** How long a handler that ignores its signal keeps the place of its job, in milliseconds; absent is the lease of
   *  the scheduler. */
  readonly abandonAfterMs?: number;
  /** How long results are kept, in milliseconds; 0 keeps none. */
  readonly resultExpirationMs: number;
  /** How often, and after which pauses, a failed job is tried again. */
  readonly retry: RetryPolicy;
  /** What a fire of the task's schedules does while an earlier run of the schedule is unfinished, if the schedule sets
   *  nothing else. */
  readonly overlap: RunOverlapPolicy;
  readonly metadata: Metadata;
  /** Absent for none; never empty. */
  readonly labels?: Labels;
  /** How many attempts of a job may end with a `RetryAfter`; absent is 100. */
  readonly maxSnoozes?: number;
  /** How long it is kept how a job failed, in milliseconds; absent is as `keptMsOf` says. */
  readonly failureExpirationMs?: number;
  /** Most jobs of one concurrency key that run at once, counted over all schedulers of the store; absent is unlimited.
   *  Jobs without a key do not count. */
  readonly maxRunningPerKey?: number;
  /** How many attempts may start in a time: for each concurrency key, and for the jobs without one together; absent is
   *  unlimited. */
  readonly rateLimit?: RateLimit;
  /** How much of the log of each attempt is kept: the last lines, at most so many, and at most so many bytes; absent
   *  for nothing. */
  readonly keepLogs?: { readonly lines: number; readonly bytes: number };
  /** Whether the concurrency keys take turns (the jobs without one are one more key); absent is false. */
  readonly fair?: boolean;
  /** After how many failed runs in a row a schedule of the task is paused, if the schedule sets nothing else; absent
   *  for never. */
  readonly pauseAfterFailures?: number;
  /** Whether the task is paused: then none of its jobs is acquired. Absent is false. Only `DataStore.pauseTask` changes
   *  it; `putTasks` leaves it as it is. */
  readonly paused?: boolean;
  /** As those of a schedule. Only `DataStore.pauseTask`, and the end of the pause, change them. */
  readonly pausedUntil?: number;
  readonly pauseReason?: string;
  readonly pausedBy?: string;
  /** What programs declared about the task; absent in a record that no program declared. Stores compare it as a
   *  whole. Of the scheduler it is JSON: a hash of the value of each setting that a program gave. */
  readonly declaration?: string;
  /** The version of the program that declares it; absent when it has none. */
  readonly version?: number;
  /** The identity of the scheduler whose declaration changed the task last; absent where none did. */
  readonly declaredBy?: string;
}
