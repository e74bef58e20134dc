import type { JobOutcome, Metadata } from "./policies.ts";
import type { SchedulerRole } from "./scheduler.ts";

// What a store remembers of the fire times of its schedules. Times are epoch milliseconds.

/**
 * Why fire times made no run of their own.
 * - `coalesced`: one job, of the fire time `into`, stands for them.
 * - `paused`: the schedule was paused, and went on after them.
 * - `tooOld`: `catchUp.maxAge` left them out.
 * - `overCount`: `catchUp.maxCount` left them out.
 * - `overlapSkipped`: an earlier run was unfinished (`overlap: "skip"`).
 * - `replaced`: a newer fire time, `into`, took the place of the waiting job; or, where `into` is null, they were due
 *   and unprocessed when the rule or the next fire time of the schedule was changed.
 * - `removed`: they were due and unprocessed when the schedule was removed.
 * - `blackedOut`: a blackout left them out. If they were to be made up for, the job of the fire time `into`, which is
 *   the end of the blackout, stands for them.
 */
export type SkipVerdict =
  | "coalesced"
  | "paused"
  | "tooOld"
  | "overCount"
  | "overlapSkipped"
  | "replaced"
  | "removed"
  | "blackedOut";

/** All of them. Stores may keep the place in this list, so that it only grows at its end. */
export const SKIP_VERDICTS: readonly SkipVerdict[] = Object.freeze([
  "coalesced",
  "paused",
  "tooOld",
  "overCount",
  "overlapSkipped",
  "replaced",
  "removed",
  "blackedOut",
]);

/** Fire times that made no run of their own: those in [from, until] of the rule that the schedule had then. That may be
 *  none: where a schedule was removed, and added again with a start that has passed, skips are cut into parts around
 *  fire times that have run, or are to run. */
export interface Skip {
  readonly from: number;
  readonly until: number;
  readonly verdict: SkipVerdict;
  /** How many fire times that are; null where nobody has counted them. */
  readonly count: number | null;
  /** The fire time whose job stands for them, or took their place; null for none. */
  readonly into: number | null;
}

/** A fire time whose job has ended. */
export interface OccurrenceRunRecord {
  readonly fireTime: number;
  /** With jitter. */
  readonly scheduledFireTime: number;
  readonly jobId: string;
  readonly outcome: JobOutcome;
  /** When the job was made. */
  readonly createdAt: number;
  /** When the handler of the last attempt was called; null when it was not, or when the store ended the job itself. */
  readonly startedAt: number | null;
  readonly finishedAt: number;
  /** How many attempts the job had. */
  readonly attempts: number;
  /** Why the handler skipped the run: the first 100 bytes; absent unless `outcome` is `skipped`. */
  readonly reason?: string;
  /** Whether the job had a concurrency key, or its task a rate or turns, so that admission may have blocked the job. */
  readonly isKeyed: boolean;
}

/** An entry of a schedule's ledger. No two of a schedule share a fire time. */
export type OccurrenceRecord = ({ readonly kind: "run" } & OccurrenceRunRecord) | ({ readonly kind: "skip" } & Skip);

/** Who changes something, and when. */
export interface AuditRecord {
  readonly at: number;
  /** Identity of a scheduler, or a name that the caller gave; null for what happens by itself: the clean-up, and the
   *  end of a pause. */
  readonly by: string | null;
}

/** The state of a schedule before or after a change. */
export interface ScheduleState {
  /** The trigger's JSON as text, with its anchor. */
  readonly trigger: string;
  readonly nextFireTime: number | null;
  readonly paused: boolean;
  /** When the pause ends, and its reason; absent for none. */
  readonly pausedUntil?: number;
  readonly pauseReason?: string;
  readonly taskId: string;
  /** The other settings, by their names in `ScheduleRecord`, without the payload: all fields except those above,
   *  `id`, `triggerRule`, `pausedBy`, `declaration` and `version`, and except what stores and planners write for
   *  themselves (`createdAt`, `lastFireTime`, `paceUntil`, `zoneRules`, `fence`, `revision`, `skippedCount`,
   *  `lastFailure`). */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly metadata: Metadata;
}

/**
 * What a change of a schedule was: `paused` (also for another end or reason of a pause) and `unpaused` when the pause
 * is all that changed, besides the next fire time; `failed` for a schedule that was paused because its trigger failed:
 * the plan of a commit paused it.
 */
export type ScheduleChangeKind = "added" | "changed" | "paused" | "unpaused" | "failed" | "removed";

export const SCHEDULE_CHANGE_KINDS: readonly ScheduleChangeKind[] = Object.freeze([
  "added",
  "changed",
  "paused",
  "unpaused",
  "failed",
  "removed",
]);

/** A change of a schedule. */
export interface ScheduleChangeRecord extends AuditRecord {
  /** Grows with each change in the store. */
  readonly seq: number;
  readonly scheduleId: string;
  readonly kind: ScheduleChangeKind;
  /** Fire times from this instant on are those of the new rule; earlier ones those of the rule before. It is the new
   *  next fire time if that is due already, else the millisecond after `at`; but always later than the last fire
   *  time. */
  readonly effectiveFrom: number;
  /** Null for `added`. */
  readonly before: ScheduleState | null;
  /** Null for `removed`. */
  readonly after: ScheduleState | null;
  /** False for `added` and `removed`. */
  readonly changesPayload: boolean;
}

/** A pause of a task, or of one concurrency key of a task, or its end. */
export interface TaskPauseRecord extends AuditRecord {
  /** Grows with each record of a task. */
  readonly seq: number;
  readonly taskId: string;
  /** Null for the whole task. */
  readonly key: string | null;
  readonly kind: "taskPaused" | "taskUnpaused";
  /** When the pause was to end, and its reason; absent for none. */
  readonly until?: number;
  readonly reason?: string;
}

/** A span in which a scheduler was up. Spans of one identity do not overlap. */
export interface UptimeRecord {
  readonly identity: string;
  readonly role: SchedulerRole;
  readonly isResident: boolean;
  /** The tasks for which it last had handlers. */
  readonly tasks: readonly string[];
  /** When it began. */
  readonly since: number;
  /** When its last heartbeat ends, or when it signed off; later than the present for a scheduler that is up. */
  readonly until: number;
}
