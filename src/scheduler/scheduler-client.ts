import type { Logger } from "../core/logger.ts";
import type { Job } from "./views/job.ts";
import type { Scheduler } from "./scheduler.ts";

/** Runs a task's jobs: gets the payload and the context, returns (or resolves with) the result. */
export type TaskHandler<P = unknown, R = unknown> = (payload: P, context: JobContext) => R | Promise<R>;

/** What a handler knows about the attempt it makes. */
export interface JobContext {
  readonly job: Job;
  /** 1 for the first attempt. Counts attempts that failed, and those that were lost with their process. */
  readonly attempt: number;
  /** Grows with every acquisition of the job: pass it to systems that refuse writers with an older number. */
  readonly fence: number;
  /** The same in every attempt: the key the job was added with, or its id. */
  readonly idempotencyKey: string;
  /** Aborted when the attempt is to end early; `signal.reason` says why: `JobTimeoutError`, `JobCancelledError`,
   *  `LeaseLostError` or `SchedulerStateError` (the scheduler stops). */
  readonly signal: AbortSignal;
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  /** Publishes a `jobProgressed` event. @param fraction 0 to 1 */
  progress(fraction: number, note?: string): void;
}
