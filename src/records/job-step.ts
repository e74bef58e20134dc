/** What a store keeps of a step of a job (`context.step`): a value, a cursor, or a sleep. Times are epoch
 *  milliseconds. */
export interface JobStepRecord {
  /** Unique among the steps of the job. */
  readonly name: string;
  /** When the step began for the first time. */
  readonly startedAt: number;
  /** When the step ended; null for one that is to go on. Nothing about a step that has ended changes any more. */
  readonly endedAt: number | null;
  /** Until when a sleep lasts; null for a step that runs. */
  readonly wakeAt: number | null;
  /** How often the body of the step began, up to the last write; 0 for a sleep. */
  readonly attempts: number;
  /** The `version` of the task that wrote the step first; null for none. */
  readonly version: number | null;
  /** What the step returned, serialized; null for nothing. */
  readonly value: string | null;
  /** How far the step is, serialized; null for nothing. */
  readonly cursor: string | null;
}

/** How a job sleeps, or slept last, and how often it was put off. */
export interface JobSleep {
  /** The step in which it sleeps until its `runAt`; null for a job whose handler threw `RetryAfter`. */
  readonly step: string | null;
  /** How many attempts ended with a `RetryAfter` so far. */
  readonly snoozes: number;
}

/** A statement that writes a step within a transaction of the application's: SQL with plain `?` parameters, and their
 *  values. */
export interface StepStatement {
  readonly sql: string;
  readonly args: (string | number | null)[];
}
