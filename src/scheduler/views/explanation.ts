import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, instantText, instantTextOrNull, Temporal, zonedOf } from "../../core/temporal.ts";
import type { MissedPolicy } from "../../records/blackout.ts";
import { OCCURRENCE_VERDICTS, type OccurrenceVerdict } from "../options/occurrence-verdicts.ts";
import { Occurrence, type OccurrenceFacts } from "./occurrence.ts";

/**
 * What `explain` found out about an instant: an {@link OccurrenceVerdict}, or one of these.
 * - `upcoming`: a fire time in the future. `cause` says why nothing will run, if that is known now.
 * - `unrecorded`: a fire time of which the ledger has nothing. `cause` says why.
 * - `excluded`: no fire time, because the schedule's rule excludes it.
 * - `skippedGap`: no fire time, because the clocks go over it, and the rule skips such times.
 * - `outside`: no fire time, because the rule, or the schedule, had not begun or had ended. `cause` says which.
 * - `noFireTime`: no fire time of the rule as it was then.
 */
export type ExplainedVerdict =
  | OccurrenceVerdict
  | "upcoming"
  | "unrecorded"
  | "excluded"
  | "skippedGap"
  | "outside"
  | "noFireTime";

/** All of them. */
export const EXPLAINED_VERDICTS: readonly ExplainedVerdict[] = Object.freeze([
  ...OCCURRENCE_VERDICTS,
  "upcoming",
  "unrecorded",
  "excluded",
  "skippedGap",
  "outside",
  "noFireTime",
] as const);

/** Who paused something, when, why, and until when; null where it is not known, and for none. */
export interface PauseCause<At = Temporal.Instant> {
  readonly by: string | null;
  readonly at: At | null;
  readonly reason: string | null;
  /** When the pause was to end by itself. */
  readonly until: At | null;
}

/** Why a verdict is what it is. `by` is the identity of a scheduler, or the name that a caller gave; null where it is
 *  not known. */
export type Cause<At = Temporal.Instant> =
  /** No scheduler that fires schedules (`scheduler`), or none that runs jobs (`worker`), lived between two instants.
   *  Null: as far as is known; and until now. */
  | {
      readonly kind: "nobodyUp";
      readonly lacks: "scheduler" | "worker";
      readonly from: At | null;
      readonly until: At | null;
    }
  /** The clock of a scheduler was ahead, and passed the fire time; `at` is what it showed. */
  | { readonly kind: "clockAhead"; readonly at: At }
  /** Schedulers lived, but none had a handler for the task. */
  | { readonly kind: "noHandler"; readonly taskId: string }
  /** The job waited for a place: the task was at its limit, or the schedulers were busy. */
  | { readonly kind: "noSlot"; readonly taskId: string }
  /** The job was blocked, because of its concurrency key, or the rate or the turns of its task. */
  | { readonly kind: "blocked"; readonly concurrencyKey: string | null }
  /** The task was paused, or one concurrency key of it. */
  | ({ readonly kind: "taskPaused"; readonly key: string | null } & PauseCause<At>)
  | ({ readonly kind: "schedulePaused" } & PauseCause<At>)
  /** A blackout left it out; nulls where it is not there any more, or somebody has changed it. */
  | {
      readonly kind: "blackout";
      readonly id: string | null;
      readonly reason: string | null;
      readonly by: string | null;
      /** When it ended, or ends. */
      readonly until: At | null;
      readonly missed: MissedPolicy | null;
    }
  /** The trigger of the schedule failed, which paused the schedule. */
  | { readonly kind: "triggerFailed"; readonly at: At | null }
  /** The schedule was added later than that. */
  | { readonly kind: "added"; readonly by: string | null; readonly at: At }
  /** The rule or the next fire time of the schedule was changed. */
  | { readonly kind: "changed"; readonly by: string | null; readonly at: At }
  | { readonly kind: "removed"; readonly by: string | null; readonly at: At }
  /** An earlier run of the schedule was unfinished, or another job has the place of the one that waits; null where it
   *  is not known which, and for a job of no fire time. */
  | { readonly kind: "unfinishedRun"; readonly fireTime: At | null; readonly jobId: string | null }
  /** This option of the schedule decided. */
  | {
      readonly kind: "policy";
      readonly option: "coalesce" | "catchUp.maxAge" | "catchUp.maxCount" | "catchUp.pace" | "overlap";
    }
  /** The job ended with this error; nulls where its result is not kept (any more). */
  | {
      readonly kind: "error";
      readonly name: string | null;
      readonly message: string | null;
      /** Null also for an error without one. */
      readonly code: string | null;
    }
  /** The handler skipped the run (`SkipRun`), and said why: the first 100 bytes. Null where the entry of the
   *  ledger is damaged. */
  | { readonly kind: "declined"; readonly reason: string | null }
  /** The job sleeps until an instant, in a step (`step.sleep`); null where its handler threw `RetryAfter`. */
  | { readonly kind: "sleeps"; readonly step: string | null; readonly until: At }
  /** A `backfill` made up for the fire time. */
  | { readonly kind: "backfill"; readonly backfillId: string }
  /** The job was not done with one attempt. */
  | { readonly kind: "retried"; readonly attempts: number }
  /** The processes that ran the job were lost; `message` says how the last one was, where that is known. */
  | { readonly kind: "lost"; readonly attempts: number; readonly message: string | null }
  /** The rule begins or ends there. */
  | { readonly kind: "bounds"; readonly bound: "start" | "end"; readonly at: At | null }
  /** The ledger has nothing: it is off, or it began later (`notKept`), the clean-up removed the entry (`removed`), or
   *  it is not known why (`unknown`). */
  | { readonly kind: "ledger"; readonly reason: "notKept" | "removed" | "unknown" };

/** Something that the clocks of a rule's zone did on the day of an instant. */
export interface ClockChange {
  readonly timeZone: string;
  readonly at: Temporal.Instant;
  /** What clocks showed before and after: for example 02:00 and 03:00. */
  readonly from: Temporal.PlainDateTime;
  /** What clocks show right after it. */
  readonly to: Temporal.PlainDateTime;
}

/** What an {@link Explanation} shows; times in epoch milliseconds. */
export interface ExplanationFacts {
  readonly scheduleId: string;
  /** The zone of the rule. */
  readonly timeZone: string;
  readonly at: number;
  readonly fireTime: number | null;
  readonly verdict: ExplainedVerdict;
  readonly cause: Cause<number> | null;
  readonly occurrence: OccurrenceFacts | null;
  readonly shiftedFrom: number | null;
  readonly before: number | null;
  readonly after: number | null;
  readonly clockChanges: readonly ClockChangeFacts[];
  readonly advice: string | null;
  readonly text: string;
}

/** What a {@link ClockChange} shows. */
interface ClockChangeFacts {
  readonly timeZone: string;
  readonly at: number;
  /** Times of day as ISO 8601 text, such as `2027-03-28T02:00:00`. */
  readonly from: string;
  readonly to: string;
}

/**
 * The answer to "why did it (not) run?" for one instant. It never changes.
 *
 * @example
 * const { verdict, cause, text } = await scheduler.explain("backup", "2030-01-31 03:00");
 */
export class Explanation {
  readonly scheduleId: string;
  readonly verdict: ExplainedVerdict;
  /** What to change, so that it does not happen again; null when nothing went wrong. */
  readonly advice: string | null;
  /** All of it as English text of a few lines. */
  readonly text: string;
  readonly #facts: ExplanationFacts;

  static {
    printAsJSON(Explanation.prototype);
  }

  constructor(facts: ExplanationFacts) {
    this.scheduleId = facts.scheduleId;
    this.verdict = facts.verdict;
    this.advice = facts.advice;
    this.text = facts.text;
    this.#facts = facts;
    Object.freeze(this);
  }

  /** The time zone of the rule. In it are the times below; in JSON, they are instants. */
  get timeZone(): string {
    return this.#facts.timeZone;
  }
  /** The instant that was asked about. */
  get at(): Temporal.ZonedDateTime {
    return zonedOf(this.#facts.at, this.#facts.timeZone);
  }
  /** The fire time that the answer is about; null when there is none. */
  get fireTime(): Temporal.ZonedDateTime | null {
    return zonedOrNull(this.#facts.fireTime, this.#facts.timeZone);
  }
  /** Null when there is nothing more to say: for example, the job ran in time. */
  get cause(): Cause | null {
    const { cause } = this.#facts;
    return cause === null ? null : (causeWith(cause, instantOf) as Cause);
  }
  /** The fire time with its job; null when the answer is about no fire time of the past. */
  get occurrence(): Occurrence | null {
    const { occurrence } = this.#facts;
    return occurrence === null ? null : new Occurrence(occurrence);
  }
  /** The fire time on an excluded date that was moved to {@link fireTime}; null when it was not moved. */
  get shiftedFrom(): Temporal.ZonedDateTime | null {
    return zonedOrNull(this.#facts.shiftedFrom, this.#facts.timeZone);
  }
  /** The fire time before the one that the answer is about (or before the instant), of the rule as it was then; null
   *  for none. */
  get before(): Temporal.ZonedDateTime | null {
    return zonedOrNull(this.#facts.before, this.#facts.timeZone);
  }
  /** The fire time after it; null for none. */
  get after(): Temporal.ZonedDateTime | null {
    return zonedOrNull(this.#facts.after, this.#facts.timeZone);
  }
  /** What the clocks of the rule's zones did on that day. */
  get clockChanges(): readonly ClockChange[] {
    return this.#facts.clockChanges.map(({ timeZone, at, from, to }) => ({
      timeZone,
      at: instantOf(at),
      from: Temporal.PlainDateTime.from(from),
      to: Temporal.PlainDateTime.from(to),
    }));
  }

  /** {@link text}. */
  toString(): string {
    return this.text;
  }

  toJSON(): Record<string, unknown> {
    const {
      scheduleId,
      timeZone,
      at,
      fireTime,
      verdict,
      cause,
      shiftedFrom,
      before,
      after,
      clockChanges,
      advice,
      text,
    } = this.#facts;
    return {
      ...{ scheduleId, timeZone, at: instantText(at) },
      fireTime: instantTextOrNull(fireTime),
      verdict,
      cause: cause === null ? null : causeWith(cause, instantText),
      occurrence: this.occurrence?.toJSON() ?? null,
      shiftedFrom: instantTextOrNull(shiftedFrom),
      before: instantTextOrNull(before),
      after: instantTextOrNull(after),
      clockChanges: clockChanges.map((change) => ({ ...change, at: instantText(change.at) })),
      advice,
      text,
    };
  }
}

/** The `Temporal.ZonedDateTime` of epoch milliseconds; null for null. */
function zonedOrNull(epochMs: number | null, timeZone: string): Temporal.ZonedDateTime | null {
  return epochMs === null ? null : zonedOf(epochMs, timeZone);
}

const INSTANTS = ["from", "until", "at", "fireTime"];

/** A cause with other values for its instants. */
export function causeWith<At>(cause: Cause<At>, convert: (at: At) => unknown): object {
  const entries = Object.entries(cause).map(([name, value]) => [
    name,
    INSTANTS.includes(name) && value !== null ? convert(value as At) : value,
  ]);
  return Object.freeze(Object.fromEntries(entries));
}
