import type { JobRecord } from "./job.ts";

/** Jobs that make up for past fire times of a schedule, and how far their addition has come. Times are epoch
 *  milliseconds. */
export interface BackfillRecord {
  /** 36 characters: the ids of its jobs begin with it, see {@link backfillJobId}. */
  readonly id: string;
  readonly scheduleId: string;
  /** Of the backfills of a schedule that are not cancelled, at most one has the key. */
  readonly key: string;
  /** What was asked for, as text, so that another request under the key is told from a repetition. */
  readonly request: string;
  /** The fire times are those in [from, until) that `position` has passed. */
  readonly from: number;
  readonly until: number;
  /** How far it has come: of `oldest`, the instant before which all fire times are seen to; of `newest`, that from
   *  which on they are. */
  readonly position: number;
  /** Whether nothing is left to add. */
  readonly isDone: boolean;
  /** Whether somebody cancelled it: then it adds nothing more. */
  readonly isCancelled: boolean;
  /** How many jobs it has added, and the first and the last of their fire times; null for none. */
  readonly count: number;
  readonly first: number | null;
  readonly last: number | null;
  /** The `runAt` of its next job, where it spreads its jobs; null where it does not. */
  readonly paceUntil: number | null;
  readonly createdAt: number;
  readonly changedAt: number;
  /** Grows with each commit of a backfill of the schedule: two of them never have the same. */
  readonly seq: number;
}

/** How many characters the id of a backfill has. */
export const BACKFILL_ID_LENGTH = 36;

/** The id of the job that a backfill adds for a fire time. */
export function backfillJobId(backfillId: string, fireTime: number): string {
  return `${backfillId}.${fireTime}`;
}

/** The id of the backfill that a job belongs to, also if the job repeats one of its jobs; null for none. Ids that
 *  schedulers make have nothing, or `~`, after the first 36 characters. */
export function backfillIdOf(jobId: string): string | null {
  return jobId[BACKFILL_ID_LENGTH] === "." ? jobId.slice(0, BACKFILL_ID_LENGTH) : null;
}

/** Whether a plan of its schedule made the job for a fire time, and not somebody who asked for it: a job that repeats
 *  another one, and a job of a backfill, have the fire time of another. */
export function isMadeByPlan({ id, fireTime, retryOf }: Pick<JobRecord, "id" | "fireTime" | "retryOf">): boolean {
  return fireTime !== null && retryOf === undefined && backfillIdOf(id) === null;
}
