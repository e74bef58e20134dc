import { clockStretch, wallTimes } from "../cron/wall-clock.ts";
import { FIRE_TIME_MS_MAX } from "../triggers/limits.ts";
import type { StepShare } from "../triggers/step-budget.ts";
import { type Recurrence, spend } from "./recurrence.ts";

// Everything here is in seconds since 1970, and not on the clock of a wall.

const DAY = 86_400;
const LAST = Math.floor(FIRE_TIME_MS_MAX / 1000);
/** What a look at a stretch of a day takes from the budget of a question. Times before 1970 are not in the tables of
 *  zones. */
const STEPS_A_STRETCH = 2;
const STEPS_AN_OLD_STRETCH = 1000;

/**
 * What a rule of hours, minutes or seconds gives in elapsed time, without `COUNT` and `UNTIL`. Its periods follow each
 * other in elapsed time from the start on, whatever clocks do. Dates and times that it asks for are those of the clock.
 *
 * A search goes from day to day, and where clocks change also from the one part of a day to the other. Within such a
 * stretch the clock of a wall goes as time does.
 */
export class ElapsedRecurrence {
  /** The start: a time that clocks go over is read with the offset from before. */
  readonly start: number;
  readonly #recurrence: Recurrence;
  readonly #timeZone: string;

  constructor(recurrence: Recurrence, startWall: number, timeZone: string) {
    const day = Math.floor(startWall / DAY);
    this.start = (wallTimes(day, startWall - day * DAY, timeZone, "shift", "first")[0] ?? 0) / 1000;
    this.#recurrence = recurrence;
    this.#timeZone = timeZone;
  }

  /** The first time of [least, most]; null for none. @throws {Exhausted} */
  first(least: number, most: number, share: StepShare): number | null {
    for (let at = Math.max(least, this.start); at <= Math.min(most, LAST); ) {
      const { until, offset } = this.#stretchAt(at, share);
      const anchor = this.start + offset;
      const found = this.#recurrence.shortFrom(at + offset, until + offset, anchor, share);
      if (found !== null) return found - offset <= most ? found - offset : null;
      at = Math.max(until, this.#recurrence.leastAfter(until + offset, anchor) - offset);
    }
    return null;
  }

  /** The last time that is not after a time; null for none. @throws {Exhausted} */
  last(most: number, share: StepShare): number | null {
    for (let at = Math.min(most, LAST); at >= this.start; ) {
      const { from, offset } = this.#stretchAt(at, share);
      const anchor = this.start + offset;
      const least = Math.max(from, this.start) + offset;
      const found = this.#recurrence.shortUntil(least, at + offset, anchor, share);
      if (found !== null) return found - offset;
      at = Math.min(from - 1, this.#recurrence.mostBefore(from + offset, anchor) - offset);
    }
    return null;
  }

  #stretchAt(at: number, share: StepShare): ReturnType<typeof clockStretch> {
    spend(share, at < 0 && this.#timeZone !== "UTC" ? STEPS_AN_OLD_STRETCH : STEPS_A_STRETCH);
    return clockStretch(at, this.#timeZone);
  }
}
