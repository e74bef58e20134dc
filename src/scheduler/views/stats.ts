import { durationOf } from "../../core/duration.ts";
import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, instantText, type Temporal } from "../../core/temporal.ts";
import { STATS_FIELDS } from "../../records/fields/stats.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { StatsFacts } from "../../records/stats.ts";
import { jsonOf } from "./json-of.ts";

/** A median, and what 95% of the times are below. Both are off by 9% at most, and by half a millisecond. */
export interface Quantiles {
  /** The median. */
  readonly p50: Temporal.Duration;
  /** 95% of the times are below. */
  readonly p95: Temporal.Duration;
}

/**
 * How the jobs of a time ended, and how long they took.
 *
 * @example
 * const [all] = (await scheduler.getStats({ from: "2030-01-01T00:00:00Z" })).items;
 * console.log(all?.total.count, all?.total.outcomes.error, String(all?.total.runTime?.p95));
 */
export class Stats {
  readonly #facts: StatsFacts;

  static {
    printAsJSON(Stats.prototype);
  }

  constructor(facts: StatsFacts) {
    this.#facts = facts;
  }

  /** How many jobs ended. */
  get count(): number {
    return this.#facts.count;
  }
  /** How many ended in each way. */
  get outcomes(): Readonly<Record<JobOutcome, number>> {
    return this.#facts.outcomes;
  }
  /** From the start of the last attempt to the end; null where none started. */
  get runTime(): Quantiles | null {
    return quantilesOf(this.#facts.runTime);
  }
  /** From the fire time to the first start. Jobs that no fire time made, that repeat others or that a backfill added
   *  do not count; null where none counts. */
  get lateness(): Quantiles | null {
    return quantilesOf(this.#facts.lateness);
  }

  toJSON(): Record<string, unknown> {
    return jsonOf<Stats>(STATS_FIELDS, this, this.#facts);
  }
}

function quantilesOf(facts: StatsFacts["runTime"]): Quantiles | null {
  return facts === null ? null : { p50: durationOf(facts.p50Ms), p95: durationOf(facts.p95Ms) };
}

/**
 * One part of the time of a {@link StatsSeries}, which begins at `from`.
 *
 * @example
 * const [all] = (await scheduler.getStats({ from: "2030-01-01T00:00:00Z" })).items;
 * for (const { from, count } of all?.buckets ?? []) console.log(`${from}: ${count} jobs ended`);
 */
export class StatsBucket extends Stats {
  readonly #fromMs: number;

  constructor(fromMs: number, facts: StatsFacts) {
    super(facts);
    this.#fromMs = fromMs;
  }

  get from(): Temporal.Instant {
    return instantOf(this.#fromMs);
  }

  override toJSON(): Record<string, unknown> {
    return { from: instantText(this.#fromMs), ...super.toJSON() };
  }
}

/** The jobs of one task, of one schedule, or all that were asked for. */
export interface StatsSeries {
  /** The task or the schedule; null without `by`. */
  readonly id: string | null;
  /** Of the whole time. */
  readonly total: Stats;
  /** One after the other, those without jobs too. */
  readonly buckets: readonly StatsBucket[];
}

/** What `getStats` returns. */
export interface StatsReport {
  /** When the first bucket begins: `from`, or earlier. */
  readonly from: Temporal.Instant;
  /** When the last bucket ends: `until`, or later. */
  readonly until: Temporal.Instant;
  /** How long each bucket is. */
  readonly bucket: Temporal.Duration;
  /** Without `by`, one. Else those of which the most jobs ended come first, and those of which none did are left
   *  out. */
  readonly items: readonly StatsSeries[];
  /** Whether the store keeps statistics. If not, nothing is counted. */
  readonly isKept: boolean;
}
