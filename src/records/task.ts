import type { Metadata, RetryPolicy } from "./policies.ts";

/** What the store knows of a task: its settings, resolved. Its handler lives in the schedulers that registered one. */
export interface TaskRecord {
  readonly id: string;
  /** Name of the executor that runs its jobs. */
  readonly executor: string;
  /** Most jobs of this task that run at once over all schedulers of the store; null is unlimited. */
  readonly maxRunningJobs: number | null;
  /** Default of its schedules: how late a job may start, in milliseconds; null is unlimited. */
  readonly misfireGraceMs: number | null;
  /** How often a job that was lost with its process goes back to the queue. */
  readonly maxRecoveries: number;
  /** Longest run of one attempt, in milliseconds; null is unlimited. */
  readonly timeoutMs: number | null;
  /** How long results are kept, in milliseconds; 0 keeps none. */
  readonly resultExpirationMs: number;
  readonly retry: RetryPolicy;
  readonly metadata: Metadata;
  /** A hash of what a program declares about the task; absent in a record that no program declared. */
  readonly declaration?: string;
  /** The version of the program that declares it; absent when it has none. */
  readonly version?: number;
}
