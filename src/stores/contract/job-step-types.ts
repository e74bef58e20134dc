import type { JobStepRecord } from "../../records/job-step.ts";

// Steps of jobs (`context.step`). Times are epoch milliseconds.

/** A write of one step of a leased job. See rules J1 to J6. */
export interface JobStepSave {
  readonly now: number;
  /** Identity of the scheduler that holds the lease, and the fence of the lease. */
  readonly schedulerId: string;
  readonly fence: number;
  readonly jobId: string;
  /** When the lease ends, if that is later than it does now. */
  readonly until: number;
  /** Grows with each save under this fence, so that one that arrives late changes nothing. */
  readonly number: number;
  /** Whether no save under this fence is known to have arrived. */
  readonly isFirst: boolean;
  /** The step as it is to be stored. */
  readonly step: JobStepRecord;
}

/** What became of a write of a step. */
export interface JobStepReport {
  /** False when the lease is no longer the caller's: then nothing was written. */
  readonly isSaved: boolean;
  /** Whether somebody asked to cancel the job. */
  readonly cancelRequested: boolean;
}
