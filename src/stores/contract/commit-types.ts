import type { AttemptRecord } from "../../records/attempt.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobLogRecord } from "../../records/job-log.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobSleep } from "../../records/job-step.ts";
import type { Skip } from "../../records/ledger.ts";
import type { CoalescePolicy, RunOverlapPolicy } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { JobAddition } from "./addition-types.ts";
import type { LeaseEnd, RecoveryReport } from "./lease-types.ts";
import type { OverdueReport, Seen, View } from "./look-types.ts";

// What `DataStore.commit` is asked, and what it answers. Times are epoch milliseconds.

/** What a commit is asked: one write of all that a scheduler did and wants to do. */
export interface CommitRequest extends View {
  /** Names the commit: the scheduler's instance, then text that grows with every commit. All tries of one commit have
   *  the same `commitId`. */
  readonly commitId: string;
  /** Whether an earlier try may have been committed without an answer. */
  readonly isRepetition: boolean;
  /** When the leases of acquired jobs end. */
  readonly until: number;
  /** Attempts that ended, or started. */
  readonly releases: readonly JobRelease[];
  /** Jobs to add. */
  readonly additions: readonly NewJobRecord[];
  /** Whether to take back leases that have ended. A scheduler sets it when the last `leaseEndsAt` that it knows is not
   *  later than `now`. */
  readonly recover: boolean;
  /** Goes with `recover`: when the leases of these instances end instead, see rules L15 and L16. Absent for none. */
  readonly leaseEnds?: readonly LeaseEnd[];
  /** Whether to end jobs that have missed their start. A scheduler sets it when the last `nextMissAt` that it knows is
   *  not later than `now`. Default: false. */
  readonly endsMissed?: boolean;
  /** What becomes of due schedules. */
  readonly plans: readonly SchedulePlan[];
  /** The version of the blackouts that the plans use, see rule B4. Absent for 0: there was none. */
  readonly blackouts?: number;
  /** The heartbeat of a scheduler that ticks, because it extends no leases. */
  readonly heartbeat?: SentHeartbeat;
  /** Also cleans up, before the look, see rule R18. */
  readonly cleanup?: { readonly limit: number };
  /** Whether to raise and to resolve overdue occurrences. Default: false. */
  readonly overdue?: boolean;
  /** Whether to end pauses whose end has come, see rules S16 and T15. Default: false. */
  readonly endsPauses?: boolean;
  /** Whether the commit must not send a second request to the database, although a second one in rare cases would make
   *  the usual commit cheaper. Default: false. */
  readonly inOneTrip?: boolean;
}

/** A heartbeat: what an instance of a scheduler says of itself, see rule L17. */
export interface SentHeartbeat {
  readonly instanceId: string;
  readonly aliveUntil: number;
  /** What the scheduler does, and can do. */
  readonly profile: SchedulerProfile;
}

/** How an attempt ended, and what becomes of its job: it finishes, waits for a retry, is given back, or goes on under
 *  its lease as one that has started. Counts if the `fence` does. */
export type JobRelease = {
  readonly jobId: string;
  readonly fence: number;
  /** Replaces the log of the attempt, if the release counts; absent leaves it as it is. See rule J13. */
  readonly log?: JobLogRecord;
} & (
  | {
      readonly kind: "finish";
      readonly result: JobResultRecord;
      /** The schedule whose failures the end of the job counts for, see rule S18; absent for none. */
      readonly countsFor?: string;
    }
  | {
      readonly kind: "retry";
      readonly runAt: number;
      readonly failedAttempts: number;
      /** Replaces that of the job; absent leaves it as it is. */
      readonly attemptHistory?: readonly AttemptRecord[];
      /** Replaces that of the job, which has then started, see rule R20; absent leaves it as it is. */
      readonly sleep?: JobSleep;
    }
  | {
      readonly kind: "giveUp";
      readonly hasStarted?: boolean;
      /** As that of a retry: it has the attempt that was lost. */
      readonly attemptHistory?: readonly AttemptRecord[];
    }
  | { readonly kind: "start" }
);

/** What a scheduler wants to do with a due schedule. A plan counts by compare-and-swap, see rule P1. */
export interface SchedulePlan {
  readonly scheduleId: string;
  /** The schedule's `fence` as the planner saw it. */
  readonly fence: number;
  /** The schedule's `nextFireTime` as the planner saw it. */
  readonly expected: number;
  /** The jobs that the fire times make. */
  readonly fires: readonly PlannedJob[];
  /** Whether the fires make up for several fire times that are due together, see rule P5. Default: false. */
  readonly isCatchUp?: boolean;
  readonly nextFireTime: number | null;
  /** The last fire time that the schedule has passed, once the plan counts. */
  readonly lastFireTime: number | null;
  readonly paused: boolean;
  /** Why the plan pauses the schedule; absent for no reason, and where it does not. */
  readonly pauseReason?: string;
  /** Replaces the `zoneRules` of the schedule; null removes them, and absent leaves them as they are. */
  readonly zoneRules?: string | null;
  /** Whether the scheduler can run the schedule's jobs itself. */
  readonly isPreferred: boolean;
  /** Replaces `paceUntil` of the schedule; absent for null. */
  readonly paceUntil?: number;
  /** The due fire times that make no job whatever the store holds, for the `Ledger`; absent for none. */
  readonly skips?: readonly Skip[];
  /** What the schedule's `overlap` asks for, or its `coalesce` where its runs queue and an earlier job of it missed its
   *  turn; absent for neither. Such a plan has one fire at most. */
  readonly overlap?: PlannedOverlap;
}

/** How a plan gets along with the unfinished jobs of its schedule, see rules P12 to P19. */
export interface PlannedOverlap {
  /** What the schedule's `overlap` says; `latest` or `earliest`, what its `coalesce` says of jobs that wait. */
  readonly policy: Exclude<RunOverlapPolicy, "queue"> | Exclude<CoalescePolicy, "all">;
  /** How many fire times the plan passes over, because one at most can become a job; and the last of them, null for
   *  none. */
  readonly passed: number;
  /** The last fire time that is passed over; null for none. */
  readonly lastPassedTime: number | null;
}

/** What the planner knows of a job; all other fields come from the schedule. */
export interface PlannedJob {
  readonly jobId: string;
  readonly createdAt: number;
  readonly fireTime: number;
  readonly scheduledFireTime: number;
  readonly runAt: number;
  readonly startDeadline: number | null;
  readonly missedCount: number | null;
  readonly firstMissedTime: number | null;
  readonly lastMissedTime: number | null;
}

/** What a commit did, and what is due now. */
export interface CommitReport extends Seen, RecoveryReport {
  /** One status per release, in order. */
  readonly releases: readonly ReleaseStatus[];
  /** One answer per addition, in order. */
  readonly additions: readonly JobAddition[];
  /** One report per plan, in order. */
  readonly plans: readonly PlanReport[];
  /** The jobs that the commit holds, in the order of acquisition. */
  readonly acquired: readonly JobRecord[];
  /** The jobs that were blocked before the commit and that the commit admitted, or whose parents have ended; absent for
   *  none. A repetition may leave out what an earlier try admitted. */
  readonly admitted?: readonly AdmittedJob[];
  /** The schedules that the commit paused because of their failures; absent for none. A repetition may leave out those
   *  that an earlier try paused. See rule S19. */
  readonly pausedSchedules?: readonly PausedSchedule[];
  /** The pauses that the commit ended; absent for none. A repetition may leave out those that an earlier try ended. */
  readonly endedPauses?: EndedPauses;
  /** What became of overdue occurrences; absent for nothing. A repetition has what an earlier try did. */
  readonly changedOverdue?: OverdueReport;
  /** What the clean-up of the commit removed; absent without one. */
  readonly cleanup?: CleanupReport;
}

/**
 * See rules R1 and R8, and X7 and X8 for repetitions.
 * - `released`: the release counts.
 * - `fenced`: the job exists, but the scheduler no longer holds the job with the fence of the release.
 * - `missing`: there is no such job, or no longer.
 */
export type ReleaseStatus = "released" | "fenced" | "missing";

/** What became of a plan. */
export interface PlanReport {
  /** Whether the plan counted. */
  readonly committed: boolean;
  /** The plan's jobs that exist. */
  readonly addedJobIds: readonly string[];
  /** What a committed plan with an `overlap` found and did; absent for other plans. */
  readonly overlap?: OverlapReport;
}

/** What a plan with an `overlap` found, and did about it. */
export interface OverlapReport {
  /** Whether the plan's fire made no job, because of an unfinished one and `skip` or `earliest`. */
  readonly isSkipped: boolean;
  /** The waiting jobs that were removed, by fire time. */
  readonly replaced: readonly { readonly jobId: string; readonly fireTime: number }[];
  /** The jobs under a lease that the plan asked to cancel, by fire time. */
  readonly cancelRequested: readonly string[];
}

/** A schedule that a store paused. */
export type PausedSchedule = Pick<ScheduleRecord, "id" | "taskId" | "nextFireTime"> & { readonly pauseReason: string };

/** Pauses that came to their end. */
export interface EndedPauses {
  /** The schedules that go on. */
  readonly schedules: readonly Pick<ScheduleRecord, "id" | "taskId" | "nextFireTime">[];
  /** The tasks and keys that go on; a null key is the whole task. */
  readonly tasks: readonly { readonly taskId: string; readonly key: string | null }[];
}

/** A blocked job that was admitted: it can be acquired, or was in the same commit. */
export interface AdmittedJob {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  /** Absent for none. */
  readonly concurrencyKey?: string;
}

/** What a clean-up removed. */
export interface CleanupReport {
  /** How many results had expired. */
  readonly removedResults: number;
  /** The schedules that had no fire time left, and whose last job has ended. */
  readonly removedScheduleIds: readonly string[];
  /** How many windows of `once` were removed; absent for none. */
  readonly removedWindows?: number;
  /** How many entries of the `Ledger` were removed; absent for none. */
  readonly removedOccurrences?: number;
  /** Whether another clean-up may find more to do, besides what the counts tell. Absent is false. */
  readonly hasMore?: boolean;
}
