// Occurrences that are overdue. Times are epoch milliseconds.

/** What an occurrence has not done in time: to start (`expectStartWithin`), or to end (`expectFinishWithin`). */
export type AlarmKind = "start" | "finish";

/**
 * Why an alarm is over.
 * - `started`: the job of the occurrence has started.
 * - `finished`: the job has ended, with any outcome; or nobody knows any more what became of it.
 * - `skipped`: the occurrence makes no job, and no other job stands for it.
 * - `paused`: the schedule was paused while the occurrence had no job.
 * - `removed`: the schedule was removed while the occurrence had no job.
 */
export type AlarmEnd = "started" | "finished" | "skipped" | "paused" | "removed";

/** All of them. */
export const ALARM_KINDS: readonly AlarmKind[] = Object.freeze(["start", "finish"]);
export const ALARM_ENDS: readonly AlarmEnd[] = Object.freeze(["started", "finished", "skipped", "paused", "removed"]);

/** An occurrence that is overdue. A store has one at most for each schedule, fire time and kind. */
export interface AlarmRecord {
  readonly scheduleId: string;
  readonly taskId: string;
  readonly fireTime: number;
  readonly kind: AlarmKind;
  /** The fire time and the time that the schedule allows. */
  readonly dueAt: number;
  readonly raisedAt: number;
  /** The job of the occurrence, or the one that stands for it; null while there is none. */
  readonly jobId: string | null;
}

/** An alarm that is over. */
export interface ResolvedAlarmRecord extends AlarmRecord {
  readonly reason: AlarmEnd;
}
