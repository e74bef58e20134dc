import { instantText, type Temporal } from "../core/temporal.ts";
import { lengthText } from "../scheduler/ledger/words.ts";
import type { OccurrenceVerdict } from "../scheduler/options/occurrence-verdicts.ts";

/** What became of one fire time. */
export interface SimulatedOccurrence {
  readonly scheduleId: string;
  readonly fireTime: Temporal.Instant;
  readonly verdict: OccurrenceVerdict;
  /** When its last attempt began; null when none did. */
  readonly startedAt: Temporal.Instant | null;
}

/** What {@link simulate} answers: plain data, which JSON carries. */
export interface SimulationReport {
  /** By fire time, then by the id of the schedule. */
  readonly occurrences: readonly SimulatedOccurrence[];
  /** How many occurrences have each verdict; verdicts that none has are missing. */
  readonly counts: Readonly<Partial<Record<OccurrenceVerdict, number>>>;
  /** The same in English, a line each. */
  readonly text: string;
}

/** A fault with its times in epoch milliseconds. */
export interface CheckedFault {
  readonly kind: "down" | "slow" | "blackout";
  readonly from: number;
  readonly until: number;
  readonly factor: number;
}

interface Facts {
  readonly occurrences: readonly SimulatedOccurrence[];
  readonly counts: Readonly<Partial<Record<OccurrenceVerdict, number>>>;
  readonly from: number;
  readonly until: number;
  readonly faults: readonly CheckedFault[];
}

/** How many late starts the text names. */
const NAMED_MAX = 3;

/** A report in English. */
export function reportText({ occurrences, counts, from, until, faults }: Facts): string {
  const total = occurrences.length;
  return [
    `From ${instantText(from)} to ${instantText(until)}: ${total} fire time${total === 1 ? "" : "s"}.`,
    ...faults.map(faultText),
    ...Object.entries(counts).map(([verdict, count]) => verdictText(verdict as OccurrenceVerdict, count)),
    ...latenessText(occurrences),
  ].join("\n");
}

function faultText({ kind, from, until, factor }: CheckedFault): string {
  const span = `from ${instantText(from)} to ${instantText(until)}`;
  if (kind === "down") return `All schedulers are down ${span}.`;
  return kind === "slow" ? `Runs take ${factor} times as long ${span}.` : `A blackout is ${span}.`;
}

function verdictText(verdict: OccurrenceVerdict, count: number): string {
  const text = VERDICT_TEXTS[verdict];
  const one = text
    .replace(/^were /, "was ")
    .replace("wait or run", "waits or runs")
    .replace("their", "its");
  return `${count} ${count === 1 ? one : text}.`;
}

const VERDICT_TEXTS: Readonly<Record<OccurrenceVerdict, string>> = {
  success: "ran to their end",
  error: "failed",
  deserializationFailed: "failed, because their payload could not be read",
  cancelled: "were cancelled",
  abandoned: "were given up, because their process was lost too often",
  misfired: "were too late to start (misfireGraceTime)",
  coalesced: "were missed and made up for by another one (coalesce)",
  paused: "were passed over, because the schedule was paused",
  tooOld: "were missed and too old (catchUp.maxAge)",
  overCount: "were missed and too many (catchUp.maxCount)",
  overlapSkipped: "were skipped, because an earlier run had not ended (overlap)",
  blackedOut: "were left out by a blackout",
  declined: "had nothing to do (SkipRun)",
  replaced: "were replaced in the queue by a later one (overlap)",
  removed: "were removed",
  waiting: "still wait or run at the end",
};

function latenessText(occurrences: readonly SimulatedOccurrence[]): string[] {
  const late = occurrences
    .map(({ scheduleId, fireTime, startedAt }) => {
      const lateMs = startedAt === null ? 0 : startedAt.epochMilliseconds - fireTime.epochMilliseconds;
      return { scheduleId, fireTime, lateMs };
    })
    .filter(({ lateMs }) => lateMs > 0)
    .sort((a, b) => b.lateMs - a.lateMs);
  const named = late.slice(0, NAMED_MAX).map(({ scheduleId, fireTime, lateMs }) => {
    return `  ${scheduleId}, due at ${fireTime}, began ${lengthText(lateMs)} late`;
  });
  return late.length === 0 ? ["All runs began in time."] : [`${late.length} began late, the latest:`, ...named];
}
