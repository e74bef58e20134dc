import { SKIP_VERDICTS, type SkipVerdict } from "../../records/ledger.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../records/policies.ts";

/**
 * What became of a fire time.
 * - `success`, `error`, `deserializationFailed`, `cancelled`, `abandoned`: how its job ended.
 * - `misfired`: its job was not started in time (`missedStartDeadline`).
 * - `declined`: its handler threw a `SkipRun` (`skipped`).
 * - `coalesced`, `paused`, `tooOld`, `overCount`, `overlapSkipped`, `replaced`, `removed`, `blackedOut`: why it made no
 *   job of its own, see {@link SkipVerdict}.
 * - `waiting`: its job is unfinished, or nobody has processed the fire time yet.
 */
export type OccurrenceVerdict =
  | Exclude<JobOutcome, "missedStartDeadline" | "skipped">
  | "misfired"
  | "declined"
  | SkipVerdict
  | "waiting";

/** All of them. */
export const OCCURRENCE_VERDICTS: readonly OccurrenceVerdict[] = Object.freeze([
  ...JOB_OUTCOMES.map(verdictOfOutcome),
  ...SKIP_VERDICTS,
  "waiting",
]);

/** The verdict on a fire time whose job has ended. */
export function verdictOfOutcome(outcome: JobOutcome): OccurrenceVerdict {
  if (outcome === "skipped") return "declined";
  return outcome === "missedStartDeadline" ? "misfired" : outcome;
}

/** The outcome that a verdict tells of; the verdict itself where both have one name. */
export function outcomeOfVerdict(verdict: Exclude<OccurrenceVerdict, "waiting">): JobOutcome | SkipVerdict {
  if (verdict === "declined") return "skipped";
  return verdict === "misfired" ? "missedStartDeadline" : verdict;
}
