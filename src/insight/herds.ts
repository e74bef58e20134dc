import { OptionsError } from "../core/errors.ts";
import { mapInTurns } from "../core/in-turns.ts";
import { instantOf } from "../core/temporal.ts";
import { parseTrigger } from "../triggers/parse-trigger.ts";
import { type ForecastedSchedule, forecast } from "./forecast.ts";
import type { HerdFacts } from "./plan-report.ts";

/** What a forecast needs of a record. */
export interface ForecastedRecord {
  readonly id: string;
  readonly taskId: string;
  readonly trigger: string;
  readonly nextFireTime: number | null;
  readonly paused: boolean;
}

/** How many fires of one minute are a herd. */
const HERD_MIN = 10;
const HERDS_MAX = 5;
const DAY_MS = 86_400_000;

/**
 * The minutes of the next day in which many schedules fire, and more than now.
 * @param stored all stored schedules @param gone those of them that the plan changes or removes
 * @param coming what they are after the plan, and those that it adds
 */
export async function herdsOf(
  stored: readonly ForecastedRecord[],
  gone: readonly ForecastedRecord[],
  coming: readonly ForecastedRecord[],
  now: number,
): Promise<HerdFacts[]> {
  if (coming.length === 0) return [];
  try {
    const firesOf = async (records: readonly ForecastedRecord[]): Promise<number[]> => {
      const options = { from: instantOf(now), until: instantOf(now + DAY_MS) };
      return (await forecast((await mapInTurns(records, forecasted)).flat(), options)).buckets.map(
        ({ fires }) => fires,
      );
    };
    const [before, less, more] = [await firesOf(stored), await firesOf(gone), await firesOf(coming)];
    return before
      .map((count, minute) => {
        const after = count - (less[minute] ?? 0) + (more[minute] ?? 0);
        return { from: now + minute * 60_000, before: count, after };
      })
      .filter((one) => one.after >= HERD_MIN && one.after > one.before)
      .sort((a, b) => b.after - a.after || a.from - b.from)
      .slice(0, HERDS_MAX);
  } catch (error) {
    // So many fire times that a forecast refuses to count them.
    if (error instanceof OptionsError) return [];
    throw error;
  }
}

function forecasted({ id, taskId, trigger, nextFireTime, paused }: ForecastedRecord): ForecastedSchedule[] {
  if (paused || nextFireTime === null) return [];
  try {
    return [{ id, taskId, trigger: parseTrigger(trigger), nextFireTime: instantOf(nextFireTime) }];
  } catch {
    // This program does not know the trigger.
    return [];
  }
}
