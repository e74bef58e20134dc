import type { JobOutcome } from "./policies.ts";

// Notices of changes of state. A store adds them as jobs, in the commit that makes the change. Times are epoch
// milliseconds.

/** How the ids of the tasks begin whose jobs are notices. Each channel is a task of its own, so that each
 *  retries, waits and is paused by itself. */
export const NOTICE_TASK_PREFIX = "escapement.notices.";

/** The id after the last one that begins so. */
export const NOTICE_TASKS_END: string = `${NOTICE_TASK_PREFIX.slice(0, -1)}/`;

/** How long after the change a notice may start, in milliseconds. One that nobody could send by then tells of the past,
 *  and a channel that no program has any more must not pile up jobs. */
export const NOTICE_STARTS_WITHIN_MS = 86_400_000;

/** Outcomes that say nothing about whether a schedule works. */
export const NEUTRAL_OUTCOMES: readonly string[] = Object.freeze(["cancelled", "skipped"]);

/**
 * What happened.
 * - `failed`: a run of a schedule failed, and the one that ended before it had not.
 * - `recovered`: a run of a schedule succeeded, and the one that ended before it had failed.
 * - `succeeded`: a run of a schedule succeeded.
 * - `overdue`: an occurrence has not started, or not ended, in the time that its schedule expects.
 * - `paused`: a schedule, a task or a key of it was paused, by somebody or because its trigger failed.
 */
export type NoticeType = "failed" | "recovered" | "succeeded" | "overdue" | "paused";

export const NOTICE_TYPES: readonly NoticeType[] = Object.freeze([
  "failed",
  "recovered",
  "succeeded",
  "overdue",
  "paused",
]);

/** What the metadata of a task says whose jobs are notices. */
export interface NoticeTaskFacts {
  /** Which changes of state it is told of. */
  readonly on: readonly NoticeType[];
  /** Only those of these schedules; absent for all, and for what is about no schedule. */
  readonly schedules?: readonly string[];
}

/** A notice, as the metadata of its job has it. */
export type NoticeRecord = { readonly at: number; readonly taskId: string } & (
  | {
      readonly type: "failed" | "recovered" | "succeeded";
      readonly scheduleId: string;
      readonly fireTime: number;
      readonly jobId: string;
      readonly outcome: JobOutcome;
    }
  | {
      readonly type: "overdue";
      readonly scheduleId: string;
      readonly fireTime: number;
      /** Null while there is no job. */
      readonly jobId: string | null;
      readonly kind: "start" | "finish";
      readonly dueAt: number;
    }
  | {
      readonly type: "paused";
      /** Null for the pause of a task or of a key. */
      readonly scheduleId: string | null;
      /** A concurrency key; null for the whole task, and for a schedule. */
      readonly key: string | null;
      readonly by: string | null;
      readonly reason: string | null;
      /** When the pause ends by itself; null for never. */
      readonly until: number | null;
    }
);
