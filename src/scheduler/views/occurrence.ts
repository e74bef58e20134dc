import { durationOrNull, durationTextOrNull } from "../../core/duration.ts";
import { printAsJSON } from "../../core/inspect.ts";
import {
  instantOf,
  instantOrNull,
  instantText,
  instantTextOrNull,
  type Temporal,
  zonedOf,
} from "../../core/temporal.ts";
import type { OccurrenceVerdict } from "../options/occurrence-verdicts.ts";
import { type TableRow, timeText } from "./table.ts";

/** What an {@link Occurrence} shows; times in epoch milliseconds. */
export interface OccurrenceFacts {
  readonly scheduleId: string;
  /** The zone of the rule that the fire time is one of. */
  readonly timeZone: string;
  readonly fireTime: number;
  readonly verdict: OccurrenceVerdict;
  readonly into: number | null;
  readonly run: OccurrenceRunFacts | null;
}

/** What an {@link OccurrenceRun} shows; times in epoch milliseconds. */
export interface OccurrenceRunFacts {
  readonly jobId: string;
  readonly scheduledFireTime: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: number;
}

/**
 * One fire time of a schedule, and what became of it. It never changes.
 *
 * @example
 * for await (const { fireTime, verdict } of scheduler.getOccurrences("report")) console.log(`${fireTime} ${verdict}`);
 */
export class Occurrence {
  readonly scheduleId: string;
  readonly verdict: OccurrenceVerdict;
  /** Its job; null when it has none, or not yet. */
  readonly run: OccurrenceRun | null;
  readonly #facts: OccurrenceFacts;

  static {
    printAsJSON(Occurrence.prototype);
  }

  constructor(facts: OccurrenceFacts) {
    // Own properties, because `console.table` shows no others. The rest is made when it is read.
    this.scheduleId = facts.scheduleId;
    this.verdict = facts.verdict;
    this.run = facts.run === null ? null : new OccurrenceRun(facts.run);
    this.#facts = facts;
    Object.freeze(this);
  }

  /** The time zone of the rule. */
  get timeZone(): string {
    return this.#facts.timeZone;
  }
  /** In {@link timeZone}; in JSON, an instant. */
  get fireTime(): Temporal.ZonedDateTime {
    return zonedOf(this.#facts.fireTime, this.#facts.timeZone);
  }
  /** The fire time whose job stands for this one, or took its place; null for none. */
  get into(): Temporal.Instant | null {
    return instantOrNull(this.#facts.into);
  }

  /** The occurrence as one line of a table: `console.table(page.items.map((occurrence) => occurrence.toRow()))`. */
  toRow(): TableRow {
    const { fireTime, timeZone, verdict, run } = this.#facts;
    return {
      fireTime: timeText(fireTime, timeZone),
      verdict,
      lateMs: run === null ? null : latenessMsOf(run),
      runMs: run === null ? null : runMsOf(run),
      jobId: run?.jobId ?? null,
    };
  }

  toJSON(): Record<string, unknown> {
    const { scheduleId, fireTime, timeZone, verdict, into } = this.#facts;
    return {
      scheduleId,
      ...{ timeZone, fireTime: instantText(fireTime) },
      verdict,
      into: instantTextOrNull(into),
      run: this.run?.toJSON() ?? null,
    };
  }
}

/**
 * The job of a fire time.
 *
 * @example
 * const { items } = await scheduler.getOccurrences("report", { limit: 1 });
 * console.log(items[0]?.run?.jobId, String(items[0]?.run?.lateness));
 */
export class OccurrenceRun {
  readonly jobId: string;
  /** How many attempts the job had, or has had so far. */
  readonly attempts: number;
  readonly #facts: OccurrenceRunFacts;

  static {
    printAsJSON(OccurrenceRun.prototype);
  }

  constructor(facts: OccurrenceRunFacts) {
    this.jobId = facts.jobId;
    this.attempts = facts.attempts;
    this.#facts = facts;
    Object.freeze(this);
  }

  /** The fire time with jitter. */
  get scheduledFireTime(): Temporal.Instant {
    return instantOf(this.#facts.scheduledFireTime);
  }
  /** When the job was made. */
  get createdAt(): Temporal.Instant {
    return instantOf(this.#facts.createdAt);
  }
  /** When the handler of the last attempt was called; null when it was not, or when that is not known yet. */
  get startedAt(): Temporal.Instant | null {
    return instantOrNull(this.#facts.startedAt);
  }
  /** When the job ended; null while it is unfinished. */
  get finishedAt(): Temporal.Instant | null {
    return instantOrNull(this.#facts.finishedAt);
  }
  /** From the fire time (with jitter) to the start; null without a start. */
  get lateness(): Temporal.Duration | null {
    return durationOrNull(latenessMsOf(this.#facts));
  }
  /** From the start of the last attempt to the end; null without both. */
  get runTime(): Temporal.Duration | null {
    return durationOrNull(runMsOf(this.#facts));
  }

  toJSON(): Record<string, unknown> {
    const { jobId, scheduledFireTime, createdAt, startedAt, finishedAt, attempts } = this.#facts;
    return {
      jobId,
      scheduledFireTime: instantText(scheduledFireTime),
      createdAt: instantText(createdAt),
      startedAt: instantTextOrNull(startedAt),
      finishedAt: instantTextOrNull(finishedAt),
      lateness: durationTextOrNull(latenessMsOf(this.#facts)),
      runTime: durationTextOrNull(runMsOf(this.#facts)),
      attempts,
    };
  }
}

/** Clocks of several processes may differ, so that a difference below zero counts as none. */
function latenessMsOf({ scheduledFireTime, startedAt }: OccurrenceRunFacts): number | null {
  return startedAt === null ? null : Math.max(0, startedAt - scheduledFireTime);
}

function runMsOf({ startedAt, finishedAt }: OccurrenceRunFacts): number | null {
  return startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);
}
