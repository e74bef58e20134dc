import { instantText } from "../../core/temporal.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import type { JobAddition } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { reviveError } from "../views/job-error.ts";

interface JobFacts {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
}

/** Why a job failed: what was thrown, where that is known, and what is kept of it. */
interface Failure {
  readonly thrown: unknown;
  readonly error: SerializedError | null;
}

const NO_FAILURE: Failure = Object.freeze({ thrown: undefined, error: null });

/** Tells the log what becomes of jobs: each failure once, with its stack and its causes. */
export class JobLog {
  readonly #logger: Environment["logger"];
  /** Jobs whose error somebody here awaits (`runJob`), with the number of those who do. */
  readonly #awaited = new Map<string, number>();

  constructor({ logger }: Environment) {
    this.#logger = logger;
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

  /** Jobs were added; those that are held are told of. */
  added(additions: readonly JobAddition[]): void {
    if (!this.#logger.showsDebug) return;
    for (const { job, isNew } of additions) {
      const { id: jobId, taskId, scheduleId, heldBy, concurrencyKey } = job;
      if (!isNew || heldBy === undefined) continue;
      const key = concurrencyKey === undefined ? "" : ` of key "${concurrencyKey}"`;
      const reason = heldBy === "limit" ? `by a limit or a pause${key}` : "until its parents have ended";
      this.#logger.debug(`${nameOf({ jobId, taskId, scheduleId })} is held ${reason}`);
    }
  }

  /** Jobs are no longer held. */
  promoted(jobs: readonly JobFacts[]): void {
    if (!this.#logger.showsDebug) return;
    for (const job of jobs) this.#logger.debug(`${nameOf(job)} is no longer held`);
  }

  /** Jobs were cancelled, because jobs that they come after did not succeed. Said once for all of them. */
  endedByParents(results: readonly JobResultRecord[]): void {
    const [first] = results;
    if (first === undefined) return;
    const more = results.length === 1 ? "was" : `and ${results.length - 1} more were`;
    const message = `${nameOf(first)} ${more} cancelled, because a job before it did not succeed (see onFailure)`;
    const { jobId, taskId, scheduleId } = first;
    this.#logger.child({ taskId, jobId, scheduleId }, "").warn(message);
  }

  /** An attempt begins. */
  begins({ id: jobId, taskId, scheduleId }: JobRecord, attempt: number): void {
    if (this.#logger.showsDebug)
      this.#logger.debug(`${nameOf({ jobId, taskId, scheduleId })} begins (attempt ${attempt})`);
  }

  /** An attempt failed, and the job runs again at `runAt` (epoch milliseconds). */
  retried(job: JobFacts, attempt: number, runAt: number, failure: Failure): void {
    const text = `failed (attempt ${attempt}), and runs again at ${instantText(runAt)}`;
    this.#tell("warn", job, attempt, text, failure);
  }

  /** An attempt was lost with its process, or was given back by this scheduler, and the job runs again. */
  recovered(job: JobFacts, attempt: number, isGivenBack: boolean): void {
    const what = isGivenBack ? "was given back to the queue" : "was lost with its process";
    this.#tell("warn", job, attempt, `${what} (attempt ${attempt}), and runs again`, NO_FAILURE);
  }

  /** The job ended. */
  ended(result: JobResultRecord, thrown?: unknown): void {
    const { outcome, attempts, error } = result;
    if (outcome === "success") {
      if (this.#logger.showsDebug) this.#logger.debug(`${nameOf(result)} has ended (attempt ${attempts})`);
      return;
    }
    const level = outcome === "error" && this.#awaited.has(result.jobId) ? "debug" : LEVELS[outcome];
    this.#tell(level, result, attempts, TEXTS[outcome](attempts), { thrown, error });
  }

  #tell(
    level: "debug" | "warn" | "error",
    job: JobFacts,
    attempt: number,
    text: string,
    { thrown, error }: Failure,
  ): void {
    const { jobId, taskId, scheduleId } = job;
    const logger = this.#logger.child({ taskId, jobId, scheduleId, attempt }, "");
    const message = `${nameOf(job)} ${text}`;
    if (error === null) logger[level](message);
    else logger[level](message, isReadableError(thrown) ? thrown : reviveError(error));
  }
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
  error: "error",
  deserializationFailed: "error",
  abandoned: "error",
  missedStartDeadline: "warn",
  cancelled: "debug",
} as const;

const TEXTS = {
  error: (attempts: number) => `failed (attempt ${attempts})`,
  deserializationFailed: () => "never runs, because its payload cannot be read",
  abandoned: (attempts: number) => `was lost with its process ${times(attempts)}, and is given up (see maxRecoveries)`,
  missedStartDeadline: () => "was not started before its deadline, and never runs",
  cancelled: () => "was cancelled",
};

function nameOf({ jobId, taskId, scheduleId }: JobFacts): string {
  const schedule = scheduleId === null ? "" : ` (schedule "${scheduleId}")`;
  return `escapement: job ${jobId} of task "${taskId}"${schedule}`;
}

function times(count: number): string {
  return ["never", "once", "twice"][count] ?? `${count} times`;
}
