import type { JobStepRecord, StepStatement } from "../records/job-step.ts";

/** The steps that a job has when an attempt first asks. */
export interface LoadedSteps {
  readonly steps: readonly JobStepRecord[];
  /** The `version` of the task here; null for none. */
  readonly version: number | null;
}

/** What the steps of an attempt (`context.step`) need of the scheduler that holds the job's lease. An executor whose
 *  handlers run elsewhere passes the calls on. */
export interface StepPort {
  /** The recorded steps of the job. @throws {StoreUnavailableError} */
  load(): Promise<LoadedSteps>;
  /** Writes a step. With a `wakeAt` and no `endedAt`, the attempt then ends in a sleep.
   *  @throws {LeaseLostError} when the lease is lost: nothing was written, and the attempt is aborted
   *  @throws {StoreUnavailableError} */
  save(step: JobStepRecord): Promise<void>;
  /** The statements that write a step in a transaction of the application's. @throws {StoreRefusedError} when the store
   *  has none to give */
  prepare(step: JobStepRecord): Promise<readonly StepStatement[]>;
}
