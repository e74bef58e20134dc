import type { JobProgress } from "../records/attempt.ts";
import type { JobResultRecord } from "../records/job-result.ts";
import type { SchedulerProfile } from "../records/scheduler.ts";

// Leases on jobs, and what becomes of jobs whose lease has ended. Times are epoch milliseconds.

/** A job that a scheduler holds. */
export interface HeldJob {
  readonly jobId: string;
  readonly fence: number;
  /** Whether it has started: then `startedFence` becomes its fence. */
  readonly hasStarted?: boolean;
  /** Replaces the `progress` of the job, if the lease is extended; absent leaves it as it is. */
  readonly progress?: JobProgress;
}

export interface LeaseExtension {
  readonly now: number;
  readonly schedulerId: string;
  /** The text with which the ids of all steps of this run of the scheduler begin, and of no other run. */
  readonly incarnation: string;
  /** The id of the last step whose answer is known; null before the first. Compared as text, ids of steps grow in the
   *  order of sending. */
  readonly settledStepId: string | null;
  /** When the leases of `jobs` end. */
  readonly until: number;
  readonly jobs: readonly HeldJob[];
  /** Until when this run of the scheduler counts as alive (see `DataStore.getSchedulers`); null keeps the stored
   *  instant. Only a resident scheduler is a favourite (see `LookedSchedule.favourite`). */
  readonly aliveUntil: number | null;
  /** Goes with `aliveUntil`. Default: a resident scheduler of which nothing else is known. */
  readonly profile?: SchedulerProfile;
}

export interface LeaseExtensionReport {
  /** Ids of jobs whose lease is no longer the caller's. */
  readonly lost: readonly string[];
  /** Ids of jobs whose lease was extended, and that somebody asked to cancel. */
  readonly cancelRequested: readonly string[];
  /** The last heartbeats of all other runs that have not signed off, dead or alive, the latest `aliveUntil` first; at
   *  most 1,000. Absent for none, and without `aliveUntil`. */
  readonly heartbeats?: readonly Heartbeat[];
}

/** What a run of a scheduler said last of being alive (`aliveUntil` of an extension, a surrender or a step). */
export interface Heartbeat {
  readonly identity: string;
  readonly incarnation: string;
  readonly isResident: boolean;
  /** The `now` of that call: by the clock of the run. */
  readonly at: number;
  readonly aliveUntil: number;
}

/** When the leases of a run of a scheduler end, as somebody judges who has watched its heartbeat. */
export interface LeaseEnd {
  readonly incarnation: string;
  /** Later than the `now` of the call for a run that is alive. */
  readonly until: number;
}

export interface LeaseSurrender {
  readonly now: number;
  readonly schedulerId: string;
  /** The run of the scheduler that calls. Leases that its steps made are not given up. */
  readonly incarnation: string;
  /** Both as in {@link LeaseExtension}. */
  readonly aliveUntil: number | null;
  readonly profile?: SchedulerProfile;
  /** Whether no other run of the identity can be alive, so that the signs of life of others do not count. Default:
   *  false. */
  readonly isAlone?: boolean;
}

export interface LeaseSurrenderReport extends RecoveryReport {
  /** As in {@link LeaseExtensionReport}, with and without `aliveUntil`. */
  readonly heartbeats?: readonly Heartbeat[];
}

/** A job that went back to the queue, with the fields that the event about this job carries. */
export interface RecoveredJob {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  /** The number of the last attempt that was lost. */
  readonly attempt: number;
}

export interface RecoveryReport {
  /** Jobs that went back to the queue. */
  readonly recovered: readonly RecoveredJob[];
  /** Jobs that ended as `abandoned` or `cancelled`, without what the kept result has of its job (`job`,
   *  `attemptHistory`, `progress`, `retryOf`), so that the answer stays small. */
  readonly ended: readonly JobResultRecord[];
}
