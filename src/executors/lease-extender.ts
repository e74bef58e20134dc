import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import type { SchedulerProfile } from "../records/scheduler.ts";

/** What a {@link LeaseExtender} knows of the scheduler whose leases it extends. */
export interface LeaseHolder {
  readonly identity: string;
  /** The id of this run of the scheduler. */
  readonly instanceId: string;
  /** How long a lease lasts, in milliseconds. */
  readonly leaseMs: number;
  /** Whether another connection reaches the scheduler's data. */
  readonly sharedByProcesses: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What others see of the scheduler. */
  profile(): SchedulerProfile;
}

/** Keeps the leases of a scheduler while the scheduler's own event loop is blocked. A `LeaseThread` of
 *  `escapement/worker` is one. A scheduler tells it of each lease that it gets, before the job starts. */
export interface LeaseExtender {
  /** Begins to extend leases; resolves when blocked loops are noticed from now on. One scheduler at a time.
   *  @throws {OptionsError} when the scheduler's leases cannot be extended */
  start(scheduler: LeaseHolder): Promise<void>;
  /** The scheduler has this lease, and no older one of the job. */
  hold(jobId: string, fence: number, taskId: string): void;
  /** The scheduler no longer has this lease. One that is not held is none. */
  drop(jobId: string, fence: number): void;
  /** Until when the extender has extended this lease, in epoch milliseconds; 0 if never. */
  heldUntil(jobId: string, fence: number): number;
  /** Stops. Idempotent. The extender may be started again. */
  stop(): Promise<void>;
}
