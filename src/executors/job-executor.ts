import type { AbortSignal } from "../core/abort-signal.ts";
import type { Logger } from "../core/logger.ts";
import type { OpenOptions } from "../core/open-options.ts";
import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { JobStepRecord } from "../records/job-step.ts";
import type { JobOutcome } from "../records/policies.ts";
import type { Serializer } from "../serializers/serializer.ts";
import type { StepPort } from "./step-port.ts";

/** One attempt of a job, in the form that an executor gets. */
export interface JobCall {
  /** The job to run, as it was acquired. */
  readonly job: JobRecord;
  /** The payload, deserialized and validated. */
  readonly payload: unknown;
  /** For an executor that runs handlers elsewhere: the values of the call as text. Absent: the payload is sent as JSON,
   *  and `execute` resolves with the value itself. */
  readonly texts?: CallTexts;
  /** Aborted when the attempt is to end early: timeout, cancellation, lost lease, stop. */
  readonly signal: AbortSignal;
  /** Calls a function when the attempt is to end early, at once when it is to end already: with the reason, and with
   *  how long the attempt may still take, in milliseconds. Calls it again when that time becomes shorter. An executor
   *  that can end the work by force does so within that time, because others may then start the job. It costs less
   *  than the signal, which is made when it is read. Absent: listen to the signal.
   *  @returns a function that ends the listening */
  onAbort?(listener: (reason: unknown, graceMs: number) => void): () => void;
  /** The number of the attempt, 1 for the first. It counts failed attempts, attempts that were lost with their process,
   *  and this attempt. */
  readonly attempt: number;
  /** The fencing token of the attempt's lease: it grows with each lease of the job. */
  readonly fence: number;
  /** The key that the job was added with, or else its id: the same in each attempt. */
  readonly idempotencyKey: string;
  /** The log of the attempt, which names its task and its job. */
  readonly logger: Logger;
  /** Reports how far the attempt is. After its end, a report does nothing.
   *  @param fraction from 0 to 1
   *  @param note what is being done. Default: none
   *  @throws {OptionsError} */
  progress(fraction: number, note?: string): void;
  /** Tells that the handler begins now: `startedAt` and `timeout` of the attempt count from here. An executor with a
   *  `capacity` calls it for each attempt; for one without, an attempt begins with `execute`. Idempotent. */
  started?(): void;
  /** Reads the results of the jobs that the job came after, as the store has them, for a handler that runs elsewhere:
   *  in the order of the job's `after`, null for one that is not kept any more. Absent: nobody can read them.
   *  @throws {StoreUnavailableError} */
  getParentResults?(): Promise<readonly (JobResultRecord | null)[]>;
  /** Reads how the last run of the job's schedule ended, for a handler that runs elsewhere; `finishedAt` in epoch
   *  milliseconds. Null for none. Absent: nobody can read it. @throws {StoreUnavailableError} */
  getLastRun?(): Promise<{ readonly outcome: JobOutcome; readonly finishedAt: number } | null>;
  /** Reads the fire time before those that the job stands for, in epoch milliseconds, with the time zone of the rule.
   *  Null for none. Absent: nobody can read it. @throws {StoreUnavailableError} */
  getPreviousFireTime?(): Promise<{ readonly at: number; readonly timeZone: string } | null>;
  /** Records the steps of the attempt, for a handler that runs elsewhere. Absent: nobody can record steps. */
  readonly steps?: StepPort;
  /** Calls a function with each step that is recorded as ended. One listener at most. */
  onStep?(listener: (step: JobStepRecord) => void): void;
  /** Runs the task's handler in this thread. Throws where the task has no handler here. */
  readonly invoke: () => unknown;
}

/** The values of a call as the data store's serializer writes them, so that a handler elsewhere gets and returns what
 *  it would here, or its job fails with the same error. */
export interface CallTexts {
  /** The payload; null for undefined. @throws {SerializationError} when the task's schema made of it what the
   *  serializer refuses */
  payload(): string | null;
  /** What `execute` resolves with where the handler returned a value, which has become this text there. The text is
   *  kept as it is. A value of a job whose results are not kept (`resultExpirationMs` of 0) needs no text. */
  returned(text: string): unknown;
  /** The serializer there refused what the handler returned: the error with which `execute` rejects ends the job,
   *  without a retry. */
  refused(): void;
}

/** What a scheduler says to an executor that it opens. */
export interface ExecutorOpenOptions extends OpenOptions {
  /** Writes the texts of calls. Default: a `JSONSerializer`. */
  readonly serializer?: Serializer | undefined;
}

/**
 * Runs jobs. The promise of `execute` settles as the handler does: it resolves with the handler's return value, and
 * rejects with what the handler threw. When `signal` is aborted, the executor ends the work if it can, and the promise
 * settles.
 */
export interface JobExecutor extends AsyncDisposable {
  /** The ids of the tasks for which the executor has handlers of its own, such as in a thread, known once `open` has
   *  resolved. It gets calls of these tasks alone, and they need no handler in the scheduler. Undefined for an executor
   *  that calls `invoke`. */
  readonly taskIds?: readonly string[] | undefined;
  /** How many more attempts the executor could begin now, those included that first start a thread or a process. The
   *  scheduler leases no more jobs for it than that, so that no job waits in the executor while others could run it.
   *  A call beyond the capacity waits. Undefined for an executor that begins whatever it gets, bounded by the
   *  scheduler's `maxConcurrentJobs` alone. */
  readonly capacity?: number | undefined;
  /** Calls a function each time `capacity` has grown. Needed where there is a `capacity`, because a scheduler asks for
   *  it only when it takes jobs.
   *  @returns a function that ends the listening */
  onCapacity?(listener: () => void): () => void;
  /** Gets ready. Idempotent. */
  open(options?: ExecutorOpenOptions): Promise<void>;
  /** Runs one attempt. */
  execute(call: JobCall): Promise<unknown>;
  /** Releases the resources that the executor holds. Idempotent. */
  close(): Promise<void>;
}
