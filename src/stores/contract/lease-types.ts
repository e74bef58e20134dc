import type { JobProgress } from "../../records/attempt.ts";
import type { JobLogRecord } from "../../records/job-log.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";

// Leases on jobs, and what becomes of jobs whose lease has ended. Times are epoch milliseconds.

/** A job that a scheduler holds. */
export interface HeldJob {
  readonly jobId: string;
  readonly fence: number;
  /** Whether it has started: then `startedFence` becomes its fence. */
  readonly hasStarted?: boolean;
  /** Replaces the `progress` of the job, if the lease is extended; absent leaves it as it is. */
  readonly progress?: JobProgress;
  /** Replaces the log of the attempt, if the lease is extended; absent leaves it as it is. See rule J13. */
  readonly log?: JobLogRecord;
}

/** What a scheduler asks for while it lives: longer leases on what it runs, and its heartbeat. */
export interface LeaseExtension {
  readonly now: number;
  readonly schedulerId: string;
  /** Prefix of this instance's commit ids. */
  readonly instanceId: string;
  /** The id of the last commit whose answer is known; null before the first. Compared as text, ids of commits grow in
   *  the order of sending. */
  readonly settledCommitId: string | null;
  /** When the leases of `jobs` end. */
  readonly until: number;
  /** The jobs that it holds. */
  readonly jobs: readonly HeldJob[];
  /** The heartbeat: until when this instance counts as alive; null keeps the stored time. See rule L17. */
  readonly aliveUntil: number | null;
  /** Goes with `aliveUntil`. Default: a resident scheduler of which nothing else is known. */
  readonly profile?: SchedulerProfile;
}

/** What became of the leases. */
export interface LeaseExtensionReport {
  /** Ids of jobs whose lease is no longer the caller's. */
  readonly lost: readonly string[];
  /** Ids of jobs whose lease was extended, and that somebody asked to cancel. */
  readonly cancelRequested: readonly string[];
  /** The last heartbeats of other instances, see rule L19. Absent for none, and without `aliveUntil`. */
  readonly heartbeats?: readonly Heartbeat[];
}

/** The last heartbeat of an instance (`aliveUntil` of an extension, a surrender or a commit). */
export interface Heartbeat {
  readonly identity: string;
  readonly instanceId: string;
  readonly isResident: boolean;
  /** The `now` of that call, by the clock of the instance. */
  readonly at: number;
  readonly aliveUntil: number;
}

/** When the leases of an instance end, as a scheduler judges who has watched the heartbeats of that instance. See rules
 *  L15 and L16. */
export interface LeaseEnd {
  readonly instanceId: string;
  /** Later than the `now` of the call for an instance that is alive. */
  readonly until: number;
}

/** A start or an end of a scheduler that gives up leases of its identity. */
export interface LeaseSurrender {
  readonly now: number;
  readonly schedulerId: string;
  /** The instance that calls. Leases that its commits made are not given up. */
  readonly instanceId: string;
  /** Both as in {@link LeaseExtension}. */
  readonly aliveUntil: number | null;
  /** Goes with `aliveUntil`. Default: a resident scheduler of which nothing else is known. */
  readonly profile?: SchedulerProfile;
  /** Whether no other instance of the identity can be alive, so that their heartbeats do not count. Default: false. */
  readonly isAlone?: boolean;
}

/** What became of the jobs whose leases were given up. */
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

/** What became of jobs whose leases had ended. */
export interface RecoveryReport {
  /** Jobs that went back to the queue. */
  readonly recovered: readonly RecoveredJob[];
  /** The results of jobs that the store ended by itself, without the facts of the job that the kept result has. See
   *  rules R12 and R13. */
  readonly ended: readonly JobResultRecord[];
}
