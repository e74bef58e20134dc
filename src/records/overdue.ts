// Occurrences that are overdue. Times are epoch milliseconds.

/** What an occurrence has not done in time: to start (`expectStartWithin`), or to end (`expectFinishWithin`). */
export type OverdueKind = "start" | "finish";

/**
 * Why an overdue occurrence is over.
 * - `started`: the job of the occurrence has started.
 * - `finished`: the job has ended, with any outcome; or nobody knows any more what became of it.
 * - `skipped`: the occurrence makes no job, and no other job stands for it.
 * - `paused`: the schedule was paused while the occurrence had no job.
 * - `removed`: the schedule was removed while the occurrence had no job.
 */
export type OverdueEnd = "started" | "finished" | "skipped" | "paused" | "removed";

/** All of them. */
export const OVERDUE_KINDS: readonly OverdueKind[] = Object.freeze(["start", "finish"]);
export const OVERDUE_ENDS: readonly OverdueEnd[] = Object.freeze([
  "started",
  "finished",
  "skipped",
  "paused",
  "removed",
]);

/** An occurrence that is overdue. A store has one at most for each schedule, fire time and kind. */
export interface OverdueRecord {
  readonly scheduleId: string;
  readonly taskId: string;
  readonly fireTime: number;
  readonly kind: OverdueKind;
  /** The fire time and the time that the schedule allows. */
  readonly dueAt: number;
  /** When a scheduler found it overdue. */
  readonly raisedAt: number;
  /** The job of the occurrence, or the one that stands for it; null while there is none. */
  readonly jobId: string | null;
}

/** An overdue occurrence that is over. */
export interface ResolvedOverdueRecord extends OverdueRecord {
  readonly reason: OverdueEnd;
}
