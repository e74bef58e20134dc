import type { Labels } from "./policies.ts";

/** What becomes of the fire times within a blackout: they make no job (`skip`), or one job for all of them when the
 *  blackout ends (`runOnce`). */
export type MissedPolicy = "skip" | "runOnce";

export const MISSED_POLICIES: readonly MissedPolicy[] = Object.freeze(["skip", "runOnce"]);

/** A time, once or recurring, in which fire times make no job. Times are epoch milliseconds. It has `from` and `until`,
 *  or `trigger` and `durationMs`. */
export interface BlackoutRecord {
  readonly id: string;
  /** When it begins; null for one that recurs. */
  readonly from: number | null;
  /** When it ends: the first instant that is not part of it. */
  readonly until: number | null;
  /** The JSON of the trigger whose fire times begin it, as text, with the trigger's anchor; null for one that does not
   *  recur. */
  readonly trigger: string | null;
  /** How long it lasts each time, on the clock of the trigger's time zone. */
  readonly durationMs: number | null;
  /** The labels that a schedule must have, each with its value; null for any. */
  readonly labels: Labels | null;
  /** The tasks whose schedules it is about; null for all. */
  readonly taskIds: readonly string[] | null;
  /** What becomes of the fire times within: nothing, or one job for all of them at the end. */
  readonly missed: MissedPolicy;
  readonly reason: string | null;
  /** Who added it, or replaced it last. */
  readonly by: string | null;
  readonly createdAt: number;
}
