import { SKIP_VERDICTS, type SkipVerdict } from "../../records/ledger.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../records/policies.ts";

/**
 * What became of a fire time.
 * - `success`, `error`, `deserializationFailed`, `cancelled`, `abandoned`: how its job ended.
 * - `misfired`: its job was not started in time (`missedStartDeadline`).
 * - `coalesced`, `paused`, `tooOld`, `overCount`, `overlapSkipped`, `replaced`, `removed`: why it made no job of its
 *   own, see {@link SkipVerdict}.
 * - `waiting`: its job is unfinished, or nobody has processed the fire time yet.
 */
export type OccurrenceVerdict = Exclude<JobOutcome, "missedStartDeadline"> | "misfired" | SkipVerdict | "waiting";

/** All of them. */
export const OCCURRENCE_VERDICTS: readonly OccurrenceVerdict[] = Object.freeze([
  ...JOB_OUTCOMES.map(verdictOfOutcome),
  ...SKIP_VERDICTS,
  "waiting",
]);

/** The verdict on a fire time whose job has ended. */
export function verdictOfOutcome(outcome: JobOutcome): OccurrenceVerdict {
  return outcome === "missedStartDeadline" ? "misfired" : outcome;
}
