import { backfillIdOf } from "./backfill.ts";
import type { RecordOf } from "./fields/field.ts";
import type { STATS_FIELDS } from "./fields/stats.ts";
import type { JobResultRecord } from "./job-result.ts";
import { JOB_OUTCOMES, type JobOutcome } from "./policies.ts";

// How many jobs ended, in which way, and how long they took: counts in *cells*. A cell is an outcome, a step of run
// times and a step of latenesses; each may be absent, which is 0. A step is a range of times whose end is 19% later
// than its beginning: four steps double a time.

export const HOUR_MS = 3_600_000;
export const DAY_HOURS = 24;
export const DAY_MS: number = DAY_HOURS * HOUR_MS;

const OUTCOME_UNIT = 65_536;
const RUN_UNIT = 256;
const STEPS_PER_DOUBLING = 4;

/** The cells from this one on say how jobs ended, and the ones below say how late they started. So each job is in one
 *  of these. */
export const FIRST_ENDED_CELL: number = OUTCOME_UNIT;

/** The cell of an outcome alone. */
export function outcomeCell(outcome: JobOutcome): number {
  return (JOB_OUTCOMES.indexOf(outcome) + 1) * OUTCOME_UNIT;
}

function stepOf(ms: number): number {
  return ms < 1 ? 1 : Math.min(RUN_UNIT - 1, 2 + Math.floor(STEPS_PER_DOUBLING * Math.log2(ms)));
}

/** The middle of a step, which is 9% from both of its ends. */
function msOf(step: number): number {
  return step < 2 ? 0 : Math.round(2 ** ((step - 1.5) / STEPS_PER_DOUBLING));
}

/** What is counted of a job that its scheduler ended. Jobs that repeat others or make up for past fire times are not
 *  late, nor are those of which nobody knows when they first started. */
export function cellsOf(result: JobResultRecord): { readonly ended: number; readonly late: number } {
  const { jobId, outcome, startedAt, finishedAt, scheduledFireTime, attempts, attemptHistory, retryOf } = result;
  const ended = outcomeCell(outcome);
  if (startedAt === null) return { ended, late: 0 };
  const run = stepOf(finishedAt - startedAt) * RUN_UNIT;
  const isPunctual = scheduledFireTime !== null && retryOf === undefined && backfillIdOf(jobId) === null;
  const first = attempts === 1 ? startedAt : (attemptHistory?.find(({ number }) => number === 1)?.startedAt ?? null);
  return { ended: ended + run, late: isPunctual && first !== null ? stepOf(first - scheduledFireTime) : 0 };
}

/** The hour of an instant. */
export function hourOf(instant: number): number {
  return Math.floor(instant / HOUR_MS);
}

/** The first hour of the day of an hour. */
export function dayOf(hour: number): number {
  return Math.floor(hour / DAY_HOURS) * DAY_HOURS;
}

/** What the counts of some cells say. Half of the times are below `p50Ms`, and 95% below `p95Ms`. */
export type StatsFacts = RecordOf<typeof STATS_FIELDS>;

/** Adds up counts of cells. */
export class StatsSum {
  readonly #outcomes = new Float64Array(JOB_OUTCOMES.length);
  readonly #runs = new Map<number, number>();
  readonly #late = new Map<number, number>();
  count = 0;

  add(cell: number, count: number): void {
    const place = Math.floor(cell / OUTCOME_UNIT) - 1;
    if (place >= 0) {
      this.count += count;
      this.#outcomes[place] = (this.#outcomes[place] ?? 0) + count;
    }
    addTo(this.#runs, Math.floor(cell / RUN_UNIT) % RUN_UNIT, count);
    addTo(this.#late, cell % RUN_UNIT, count);
  }

  get facts(): StatsFacts {
    const outcomes = JOB_OUTCOMES.map((outcome, place) => [outcome, this.#outcomes[place] ?? 0] as const);
    return {
      count: this.count,
      outcomes: Object.fromEntries(outcomes) as Record<JobOutcome, number>,
      runTime: quantilesOf(this.#runs),
      lateness: quantilesOf(this.#late),
    };
  }
}

function addTo(counts: Map<number, number>, step: number, count: number): void {
  if (step !== 0) counts.set(step, (counts.get(step) ?? 0) + count);
}

function quantilesOf(counts: ReadonlyMap<number, number>): StatsFacts["runTime"] {
  const steps = [...counts].sort(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const quantile = (part: number): number => {
    let rest = Math.ceil(part * total);
    for (const [step, count] of steps) {
      rest -= count;
      if (rest <= 0) return msOf(step);
    }
    return 0;
  };
  return { p50Ms: quantile(0.5), p95Ms: quantile(0.95) };
}
