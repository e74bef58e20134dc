/**
 * Base of every error that Escapement throws. `code` is a literal that stays the same across versions: match the code,
 * not the message. `cause` holds the underlying error where there is one.
 *
 * @example
 * if (error instanceof EscapementError && error.code === "conflictingId") console.warn(error.message);
 */
export abstract class EscapementError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    // `{ cause: undefined }` would give the error a cause to print.
    super(message, options?.cause === undefined ? undefined : options);
    // Minifiers rename classes, so the name is written as data.
    Object.defineProperty(this, "name", { value: new.target.errorName, configurable: true, writable: true });
  }

  /** The text of `error.name`. */
  static readonly errorName: string = "EscapementError";
}

/** One problem of a rejected value: a message, and the path to the problem. */
export interface Issue {
  readonly message: string;
  /** Dotted path to the value, for example `retry.maxAttempts`; empty for the value itself. */
  readonly path: string;
  /** What the caller likely meant: another name, or another value. Absent where there is no guess. */
  readonly suggestion?: string;
}

/** Options that do not fit: unknown names, wrong types, or values out of range. `issues` has one entry per problem. */
export class OptionsError extends EscapementError {
  static override readonly errorName: string = "OptionsError";
  readonly code = "options";
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[] = [], options?: { cause?: unknown }) {
    super(message, options);
    this.issues = issues;
  }
}

/** A Temporal object is needed, and there is none: the bundler was told to leave `temporal-polyfill` out, and the
 *  runtime has no Temporal. Everything else goes on. */
export class TemporalMissingError extends EscapementError {
  static override readonly errorName: string = "TemporalMissingError";
  readonly code = "temporalMissing";
}

/** A cron field or crontab text that cannot be understood, or can never match. */
export class CronSyntaxError extends EscapementError {
  static override readonly errorName: string = "CronSyntaxError";
  readonly code = "cronSyntax";
  /** The field the problem is in (`minute`, `dayOfWeek`, ...), or null when it concerns the whole text. */
  readonly field: string | null;
  /** The offending element as it was written. */
  readonly element: string;
  /** Zero-based index of the element in the text (crontab) or in the field's value. */
  readonly position: number;
  /** A likely correction, or null. */
  readonly suggestion: string | null;

  constructor(
    message: string,
    facts: { field: string | null; element: string; position: number; suggestion?: string | null },
  ) {
    super(message);
    this.field = facts.field;
    this.element = facts.element;
    this.position = facts.position;
    this.suggestion = facts.suggestion ?? null;
  }
}

/** A question to a trigger took more steps than one question may take. For example, the children of an `AndTrigger`
 *  never meet, or an excluded trigger covers everything. Asking again gives the same error; changing the trigger
 *  helps. */
export class MaxIterationsReachedError extends EscapementError {
  static override readonly errorName: string = "MaxIterationsReachedError";
  readonly code = "maxIterationsReached";
  /** The path from the trigger that was asked to the one that searched in vain, for example `triggers.0.trigger`. Empty
   *  when it is the trigger that was asked. */
  readonly path: string;
  readonly #problem: string;

  constructor(problem: string, facts: { path?: string; cause?: unknown } = {}) {
    const path = facts.path ?? "";
    super(path === "" ? problem : `trigger at ${path}: ${problem}`, facts);
    this.#problem = problem;
    this.path = path;
  }

  /** The same error as the parent of the searching trigger reports it: with a path that begins at the parent.
   *  @param child the name of the part in which it was, such as `triggers[1]` */
  within(child: string): MaxIterationsReachedError {
    const path = this.path === "" ? child : `${child}.${this.path}`;
    return new MaxIterationsReachedError(this.#problem, { path, cause: this.cause });
  }
}

/** A trigger answered with a wrong instant: `next` must be later than the instant of the question, and `previous` must
 *  be earlier. The scheduler pauses a schedule whose trigger does this. */
export class BrokenTriggerError extends EscapementError {
  static override readonly errorName: string = "BrokenTriggerError";
  readonly code = "brokenTrigger";
}

/** An id that is in use. Adding a schedule throws it when the id exists and `conflictPolicy` is `"error"`; removing a
 *  task throws it while schedules or unfinished jobs refer to the task. */
export class ConflictingIdError extends EscapementError {
  static override readonly errorName: string = "ConflictingIdError";
  readonly code = "conflictingId";
  readonly id: string;

  constructor(message: string, id: string) {
    super(message);
    this.id = id;
  }
}

/** A schedule was changed since it was read: its `revision` is not the `ifRevision` of the call. Read it again. */
export class RevisionConflictError extends EscapementError {
  static override readonly errorName: string = "RevisionConflictError";
  readonly code = "revisionConflict";
  /** The id of the schedule. */
  readonly id: string;

  constructor(message: string, id: string) {
    super(message);
    this.id = id;
  }
}

abstract class LookupError extends EscapementError {
  /** The id that was looked for. */
  readonly id: string;

  constructor(message: string, id: string) {
    super(message);
    this.id = id;
  }
}

/** Neither this scheduler nor the store has a task with this id. */
export class TaskLookupError extends LookupError {
  static override readonly errorName: string = "TaskLookupError";
  readonly code = "taskLookup";
}

/** No schedule has this id. */
export class ScheduleLookupError extends LookupError {
  static override readonly errorName: string = "ScheduleLookupError";
  readonly code = "scheduleLookup";
}

/** No unfinished job has this id: the job never existed, or it has ended and at most its result is left. */
export class JobLookupError extends LookupError {
  static override readonly errorName: string = "JobLookupError";
  readonly code = "jobLookup";
}

/** This scheduler has no handler for a task. */
export class HandlerLookupError extends LookupError {
  static override readonly errorName: string = "HandlerLookupError";
  readonly code = "handlerLookup";
}

/** A payload that its task's schema rejects. */
export class PayloadError extends EscapementError {
  static override readonly errorName: string = "PayloadError";
  readonly code = "payload";
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[]) {
    super(message);
    this.issues = issues;
  }
}

/** A value that the serializer cannot carry without loss, or whose text is too large. */
export class SerializationError extends EscapementError {
  static override readonly errorName: string = "SerializationError";
  readonly code = "serialization";
}

/** Stored text that cannot be read: a payload, a return value or a trigger. */
export class DeserializationError extends EscapementError {
  static override readonly errorName: string = "DeserializationError";
  readonly code = "deserialization";
}

/** The awaited job was cancelled. */
export class JobCancelledError extends EscapementError {
  static override readonly errorName: string = "JobCancelledError";
  readonly code = "jobCancelled";
}

/** The awaited job was not started before its deadline. */
export class JobDeadlineMissedError extends EscapementError {
  static override readonly errorName: string = "JobDeadlineMissedError";
  readonly code = "jobDeadlineMissed";
}

/** The job ran longer than its task's `timeout`. */
export class JobTimeoutError extends EscapementError {
  static override readonly errorName: string = "JobTimeoutError";
  readonly code = "jobTimeout";
}

/** The job was lost with its process more often than `maxRecoveries` allows. `cause` says how the last attempt was
 *  lost, where that is known: a `WorkerLostError`, when it ran in a thread or a process of an executor. */
export class JobAbandonedError extends EscapementError {
  static override readonly errorName: string = "JobAbandonedError";
  readonly code = "jobAbandoned";
}

/** The scheduler no longer holds the lease of the job that it runs, so that the outcome of this run does not count. */
export class LeaseLostError extends EscapementError {
  static override readonly errorName: string = "LeaseLostError";
  readonly code = "leaseLost";
}

/** The thread or the process that ran the job ended before the job did: it exited, ran out of memory, or was killed.
 *  The attempt counts as a recovery, like one that was lost with the scheduler's process. The message says how it
 *  ended, with the last lines of a process's standard error, and `cause` is the error that nobody caught, if there was
 *  one. */
export class WorkerLostError extends EscapementError {
  static override readonly errorName: string = "WorkerLostError";
  readonly code = "workerLost";
  /** Whether the handler may have been called. If not, the job goes back to the queue, and it counts as no recovery. */
  readonly hasStarted: boolean;

  constructor(message: string, options: { cause?: unknown; hasStarted?: boolean | undefined } = {}) {
    super(message, options);
    this.hasStarted = options.hasStarted ?? true;
  }
}

/** The job ended as `skipped`, because its handler threw a {@link SkipRun}, which is the `cause`. There is no value. */
export class JobSkippedError extends EscapementError {
  static override readonly errorName: string = "JobSkippedError";
  readonly code = "jobSkipped";
}

/** A handler throws it to end its job at once with the outcome `error`, whatever the task's `retry` says.
 *
 *  @example
 *  throw new NonRetryableError("the customer no longer exists");
 */
export class NonRetryableError extends EscapementError {
  static override readonly errorName: string = "NonRetryableError";
  readonly code = "nonRetryable";
}

/** A handler throws it where there is nothing to do: the job ends at once with the outcome `skipped`, which is no
 *  failure, whatever the task's `retry` says. The message is the reason, of which the ledger keeps 100 bytes.
 *
 *  @example
 *  throw new SkipRun("no new orders");
 */
export class SkipRun extends EscapementError {
  static override readonly errorName: string = "SkipRun";
  readonly code = "skipRun";
}

/** A step of a job (`context.step`) that cannot be: its name came before in the attempt, it began within another step
 *  or after the handler had ended, or the job has more steps, or larger ones, than it may. The message says what to
 *  do. */
export class StepError extends EscapementError {
  static override readonly errorName: string = "StepError";
  readonly code = "step";
}

/** What `step.sleep` throws to end the attempt, because the job sleeps. Let it through: whoever catches all errors of a
 *  handler throws this one again. */
export class JobSleepError extends EscapementError {
  static override readonly errorName: string = "JobSleepError";
  readonly code = "jobSleep";
}

/** The data store cannot be opened or reached, or does not hold what it should hold. `cause` is the driver's error, if
 *  there is one. */
export class StoreUnavailableError extends EscapementError {
  static override readonly errorName: string = "StoreUnavailableError";
  readonly code = "storeUnavailable";
}

/** The data store works, and will never take what it was given: it is too large, or breaks a rule of the database.
 *  Nothing of the call was written. Repeating the call does not help; adding less does. `cause` has the driver's
 *  error. */
export class StoreRefusedError extends EscapementError {
  static override readonly errorName: string = "StoreRefusedError";
  readonly code = "storeRefused";
}

/** The scheduler's state does not allow the call. For example, the scheduler was started twice, or was stopped. */
export class SchedulerStateError extends EscapementError {
  static override readonly errorName: string = "SchedulerStateError";
  readonly code = "schedulerState";
}
