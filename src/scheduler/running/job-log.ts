import type { Logger } from "../../core/logger.ts";
import { instantText } from "../../core/temporal.ts";
import type { AttemptRecord } from "../../records/attempt.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { isDone, type JobOutcome } from "../../records/policies.ts";
import { type SerializedError, serializedError } from "../../records/serialized-error.ts";
import type { JobAddition } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { lostText, storedError } from "../views/job-error.ts";

interface LoggedJob {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
}

/** What else a line has as fields, where that is known and the logger is structured. */
interface LineFields {
  readonly attempt?: number;
  readonly fence?: number;
  /** ISO 8601. */
  readonly scheduledFireTime?: string;
  /** From the fire time to the beginning of the first attempt. */
  readonly latenessMs?: number;
  /** Run time of the attempt. */
  readonly durationMs?: number;
  readonly outcome?: JobOutcome;
  /** The `code` of the error, or its name where it has none. */
  readonly errorCode?: string;
}

/** Why a job failed: what was thrown, where that is known, and what is kept of it. */
interface JobFailure {
  readonly thrown: unknown;
  readonly error: SerializedError | null;
}

const NO_FAILURE: JobFailure = Object.freeze({ thrown: undefined, error: null });

/** Tells the log what becomes of jobs: each failure once, with its stack and its causes. */
export class JobLogger {
  readonly #logger: Environment["logger"];
  readonly #clock: Environment["clock"];
  readonly #schedulerId: string;
  /** Jobs whose error somebody here awaits (`runJob`), with the number of those who do. */
  readonly #awaited = new Map<string, number>();

  constructor({ logger, clock, identity }: Environment) {
    this.#logger = logger;
    this.#clock = clock;
    this.#schedulerId = identity;
  }

  /** Somebody here awaits a job, and is thrown its error. So the error is no line of its own above `debug`. */
  awaits(jobId: string): void {
    this.#awaited.set(jobId, (this.#awaited.get(jobId) ?? 0) + 1);
  }

  awaitsNoMore(jobId: string): void {
    const left = (this.#awaited.get(jobId) ?? 1) - 1;
    if (left > 0) this.#awaited.set(jobId, left);
    else this.#awaited.delete(jobId);
  }

  /** Jobs were added; those that are blocked are told of. */
  added(additions: readonly JobAddition[]): void {
    if (!this.#logger.showsDebug) return;
    for (const { job, isNew } of additions) {
      const { id: jobId, taskId, scheduleId, blockedBy, concurrencyKey } = job;
      if (!isNew || blockedBy === undefined) continue;
      const key = concurrencyKey === undefined ? "" : ` of key "${concurrencyKey}"`;
      const reason = blockedBy === "limit" ? `by a limit or a pause${key}` : "until its parents have ended";
      this.#line({ jobId, taskId, scheduleId }).debug(`${nameOf({ jobId, taskId, scheduleId })} is blocked ${reason}`);
    }
  }

  /** Jobs are no longer blocked. */
  admitted(jobs: readonly LoggedJob[]): void {
    if (!this.#logger.showsDebug) return;
    for (const job of jobs) this.#line(job).debug(`${nameOf(job)} is no longer blocked`);
  }

  /** Jobs were cancelled, because jobs that they come after did not succeed. Said once for all of them. */
  endedByParents(results: readonly JobResultRecord[]): void {
    const [first] = results;
    if (first === undefined) return;
    const more = results.length === 1 ? "was" : `and ${results.length - 1} more were`;
    const message = `${nameOf(first)} ${more} cancelled, because a job before it did not succeed (see onParentFailure)`;
    this.#line(first, { outcome: first.outcome }).warn(message);
  }

  /** An attempt begins. */
  begins(record: JobRecord, attempt: number): void {
    if (!this.#logger.showsDebug) return;
    const { id: jobId, taskId, scheduleId, fence, scheduledFireTime } = record;
    const job = { jobId, taskId, scheduleId };
    const lateness = latenessField(scheduledFireTime, this.#clock.now(), attempt);
    const fields = { attempt, fence, ...fireTimeField(scheduledFireTime), ...lateness };
    this.#line(job, fields).debug(`${nameOf(job)} begins (attempt ${attempt})`);
  }

  /** An attempt failed, and the job runs again at `runAt` (epoch milliseconds). */
  retried(record: JobRecord, attempt: number, { runAt, attemptHistory }: RetryFacts, failure: JobFailure): void {
    const { id: jobId, taskId, scheduleId, fence, scheduledFireTime } = record;
    const last = attemptHistory?.at(-1);
    const fields = {
      ...{ attempt, fence, ...fireTimeField(scheduledFireTime) },
      ...(last?.number === attempt ? durationField(last.startedAt, last.finishedAt) : {}),
    };
    const text = `failed (attempt ${attempt}), and runs again at ${instantText(runAt)}`;
    this.#write("warn", { jobId, taskId, scheduleId }, fields, text, failure);
  }

  /** An attempt ended without a failure, and the job goes on at `runAt` (epoch milliseconds). */
  sleeps(record: JobRecord, runAt: number, step: string | null): void {
    if (!this.#logger.showsDebug) return;
    const { id: jobId, taskId, scheduleId, fence } = record;
    const job = { jobId, taskId, scheduleId };
    const what = step === null ? "was put off by its handler" : `sleeps in step "${step}"`;
    this.#line(job, { fence }).debug(`${nameOf(job)} ${what} until ${instantText(runAt)}`);
  }

  /** An attempt was lost with its process, or was given back by this scheduler, and the job runs again. */
  recovered(job: LoggedJob, attempt: number, isGivenBack: boolean): void {
    const what = isGivenBack ? "was given back to the queue" : "was lost with its process";
    this.#write("warn", job, { attempt }, `${what} (attempt ${attempt}), and runs again`, NO_FAILURE);
  }

  /** The thread or the process that ran an attempt ended before the attempt did. */
  workerLost({ id: jobId, taskId, scheduleId, fence }: JobRecord, attempt: number, loss: Error): void {
    const failure = { thrown: loss, error: serializedError(loss) };
    this.#write(
      "warn",
      { jobId, taskId, scheduleId },
      { attempt, fence },
      `was lost with its worker (attempt ${attempt})`,
      failure,
    );
  }

  /** An attempt was given up while its handler still runs. */
  handlerAbandoned({ id: jobId, taskId, scheduleId, fence }: JobRecord, afterMs: number): void {
    const text =
      `goes on without its handler, which has ignored its signal for ${afterMs / 1000} s and may now run beside ` +
      "others: pass context.signal on, raise abandonAfter, or run the task in threads or processes, which can be ended";
    this.#write("error", { jobId, taskId, scheduleId }, { fence }, text, NO_FAILURE);
  }

  /** The job ended. `fence` is that of the attempt that ended it, if one did. */
  ended(result: JobResultRecord, fence?: number, thrown?: unknown): void {
    const { outcome, attempts, error } = result;
    const isSuccess = isDone(outcome);
    if (isSuccess && !this.#logger.showsDebug) return;
    const isAwaited = outcome === "error" && this.#awaited.has(result.jobId);
    const fields = { ...endFields(result), ...(fence === undefined ? {} : { fence }) };
    const level = isAwaited ? "debug" : LEVELS[outcome];
    const text = outcome === "skipped" ? skippedText(error) : TEXTS[outcome](attempts);
    this.#write(level, result, fields, text, isSuccess ? NO_FAILURE : { thrown, error });
  }

  #write(
    level: "debug" | "warn" | "error",
    job: LoggedJob,
    fields: LineFields,
    text: string,
    { thrown, error }: JobFailure,
  ): void {
    const logger = this.#line(job, { ...fields, ...(error === null ? {} : { errorCode: error.code ?? error.name }) });
    const message = `${nameOf(job)} ${text}`;
    if (error === null) logger[level](message);
    else logger[level](message, isReadableError(thrown) ? thrown : storedError(error));
  }

  /** The logger of a line about a job. */
  #line({ taskId, jobId, scheduleId }: LoggedJob, fields: LineFields = {}): Logger {
    return this.#logger.child({ taskId, jobId, scheduleId, schedulerId: this.#schedulerId, ...fields }, "");
  }
}

/** What the log shows of a retry. */
interface RetryFacts {
  readonly runAt: number;
  readonly attemptHistory?: readonly AttemptRecord[];
}

function endFields({ outcome, attempts, scheduledFireTime, startedAt, finishedAt }: JobResultRecord): LineFields {
  return {
    ...{ attempt: attempts, outcome, ...fireTimeField(scheduledFireTime) },
    ...(startedAt === null ? {} : latenessField(scheduledFireTime, startedAt, attempts)),
    ...durationField(startedAt, finishedAt),
  };
}

function fireTimeField(scheduledFireTime: number | null): LineFields {
  return scheduledFireTime === null ? {} : { scheduledFireTime: instantText(scheduledFireTime) };
}

function latenessField(scheduledFireTime: number | null, startedAt: number, attempt: number): LineFields {
  return scheduledFireTime === null || attempt !== 1 ? {} : { latenessMs: startedAt - scheduledFireTime };
}

function durationField(startedAt: number | null, finishedAt: number): LineFields {
  return startedAt === null ? {} : { durationMs: finishedAt - startedAt };
}

/** Whether a logger can show a thrown value. A Proxy throws at `instanceof`, and a getter throws where its error is
 *  printed; then what is kept of the error is shown instead. */
function isReadableError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error && [thrown.name, thrown.message, thrown.stack].every((part) => part !== null);
  } catch {
    return false;
  }
}

const LEVELS = {
  success: "debug",
  error: "error",
  deserializationFailed: "error",
  abandoned: "error",
  missedStartDeadline: "warn",
  cancelled: "debug",
  skipped: "debug",
} as const;

function skippedText(error: SerializedError | null): string {
  return `was skipped by its handler${error === null ? "" : `: ${error.message}`}`;
}

const TEXTS = {
  success: (attempts: number) => `has ended (attempt ${attempts})`,
  error: (attempts: number) => `failed (attempt ${attempts})`,
  deserializationFailed: () => "never runs, because its payload cannot be read",
  abandoned: lostText,
  missedStartDeadline: () => "was not started before its deadline, and never runs",
  cancelled: () => "was cancelled",
};

function nameOf({ jobId, taskId, scheduleId }: LoggedJob): string {
  const schedule = scheduleId === null ? "" : ` (schedule "${scheduleId}")`;
  return `escapement: job ${jobId} of task "${taskId}"${schedule}`;
}
