import type { JobRecord } from "../records/job.ts";

/** One attempt of a job, in the form that an executor gets. */
export interface JobCall {
  readonly job: JobRecord;
  /** The payload, deserialized and validated. */
  readonly payload: unknown;
  /** Aborted when the attempt is to end early: timeout, cancellation, lost lease, stop. */
  readonly signal: AbortSignal;
  /** Runs the task's handler in this thread. */
  readonly invoke: () => unknown;
}

/**
 * Runs jobs. The promise of `execute` settles as the handler does: it resolves with the handler's return value, and
 * rejects with what the handler threw. When `signal` is aborted, the executor ends the work if it can, and the promise
 * settles.
 */
export interface JobExecutor extends AsyncDisposable {
  /** Gets ready. Idempotent. */
  open(): Promise<void>;
  /** Runs one attempt. */
  execute(call: JobCall): Promise<unknown>;
  /** Releases the resources that the executor holds. Idempotent. */
  close(): Promise<void>;
}
