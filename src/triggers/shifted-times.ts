import { MaxIterationsReachedError } from "../core/errors.ts";
import { dayAt, firstInstantOf, firstWallFrom, stretchesOf, wallAt } from "../cron/wall-clock.ts";
import { nextOf, previousOf } from "./asking.ts";
import type { ExcludedDates, ExcludedSpan } from "./excluded-dates.ts";
import { QUESTION_STEPS_MAX } from "./limits.ts";
import type { StepShare } from "./step-budget.ts";
import type { Trigger } from "./trigger.ts";
import { isoOf } from "./words.ts";

/** A fire time that was moved. */
export interface ShiftedTime {
  readonly atMs: number;
  readonly fromMs: number;
}

/** Times of a wall clock, as epoch milliseconds that they would be in UTC: [from, until). */
type Walls = readonly [from: number, until: number];

const DAY_MS = 86_400_000;
/** Time zones differ by 26 hours at most, so that dates of one are at most two from those of another. */
const ZONES_APART_DAYS = 3;
/** What looking at one day takes from the budget of a question, before 1970 where clocks are not those of UTC. */
const STEPS_A_DAY = 2;
const STEPS_AN_OLD_DAY = 4000;

/**
 * Where fire times go that fall on excluded dates: as many whole days later or earlier, on the wall clock of the
 * trigger, as lead to the first instant that is not excluded.
 *
 * A search looks at the day next to each span of excluded dates, and from there at the same times of each excluded day.
 * So it takes as many steps as there are days in a span, however often the trigger fires on them.
 */
export class ShiftedTimes {
  readonly #dates: ExcludedDates;
  readonly #timeZone: string;
  /** 1 for later days, -1 for earlier ones. */
  readonly #way: 1 | -1;

  constructor(dates: ExcludedDates, timeZone: string, way: 1 | -1) {
    this.#dates = dates;
    this.#timeZone = timeZone;
    this.#way = way;
  }

  /** Where a fire time goes; null when it is not excluded. */
  targetOf(fromMs: number, share: StepShare): number | null {
    const wallMs = wallAt(fromMs, this.#timeZone);
    let days = 0;
    for (let atMs = fromMs; ; ) {
      const span = this.#dates.spanAt(atMs, share);
      if (span === null) return days === 0 ? null : atMs;
      const day = dayAt(atMs, this.#dates.timeZone);
      // The dates of another zone are not exactly as many days apart.
      days += Math.max(1, (this.#way > 0 ? span[1] - day : day - span[0]) - 1);
      atMs = firstInstantOf(wallMs + this.#way * days * DAY_MS, this.#timeZone);
    }
  }

  /** The first moved fire time in (afterMs, beforeMs), which may be infinite. */
  first(trigger: Trigger, afterMs: number, beforeMs: number, share: StepShare): ShiftedTime | null {
    const { spans } = this.#dates;
    const fromWallMs = firstWallFrom(afterMs + 1, this.#timeZone);
    let found: ShiftedTime | null = null;
    let untilMs = beforeMs;
    let place = this.#dates.spanFrom(dayAt(afterMs, this.#dates.timeZone) - ZONES_APART_DAYS);
    for (let span = spans[place]; span !== undefined; span = spans[++place]) {
      const [regionFrom, regionUntil] = this.#besides(span);
      const untilWallMs = this.#wallFrom(untilMs);
      if (regionFrom >= untilWallMs) break;
      const walls = [Math.max(regionFrom, fromWallMs), Math.min(regionUntil, untilWallMs)] as const;
      found = this.#within(trigger, walls, [afterMs, untilMs], 1, share) ?? found;
      untilMs = found?.atMs ?? untilMs;
    }
    return found;
  }

  /** The last moved fire time in (afterMs, beforeMs), of which `afterMs` may be infinite. */
  last(trigger: Trigger, afterMs: number, beforeMs: number, share: StepShare): ShiftedTime | null {
    const { spans } = this.#dates;
    const untilWallMs = firstWallFrom(beforeMs, this.#timeZone);
    let found: ShiftedTime | null = null;
    let fromMs = afterMs;
    let place = this.#dates.spanFrom(dayAt(beforeMs, this.#dates.timeZone) + ZONES_APART_DAYS);
    place = Math.min(place, spans.length - 1);
    for (let span = spans[place]; span !== undefined; span = spans[--place]) {
      const [regionFrom, regionUntil] = this.#besides(span);
      const fromWallMs = this.#wallFrom(fromMs + 1);
      if (regionUntil <= fromWallMs) break;
      const walls = [Math.max(regionFrom, fromWallMs), Math.min(regionUntil, untilWallMs)] as const;
      found = this.#within(trigger, walls, [fromMs, beforeMs], -1, share) ?? found;
      fromMs = found?.atMs ?? fromMs;
    }
    return found;
  }

  #wallFrom(epochMs: number): number {
    return Number.isFinite(epochMs) ? firstWallFrom(epochMs, this.#timeZone) : epochMs;
  }

  /** The times of the day beside a span: what was moved from the span, a day before it came there, was excluded. */
  #besides([first, last]: ExcludedSpan): Walls {
    const midnights = this.#dates.midnights(this.#way > 0 ? last + 1 : first);
    const [from = 0, until = from] = midnights.map((atMs) => firstWallFrom(atMs, this.#timeZone));
    return this.#way > 0 ? [from, until + DAY_MS] : [from - DAY_MS, until];
  }

  /** The first (`side` 1) or last (-1) fire time that was moved to one of some times of the wall clock. */
  #within(
    trigger: Trigger,
    walls: Walls,
    [afterMs, beforeMs]: readonly [afterMs: number, beforeMs: number],
    side: 1 | -1,
    share: StepShare,
  ): ShiftedTime | null {
    let found: ShiftedTime | null = null;
    let [fromWallMs, untilWallMs] = walls;
    for (let days = 1; ; days++) {
      // What is moved by more days than one was excluded on each day in between.
      [fromWallMs, untilWallMs] = this.#excludedOf([fromWallMs, untilWallMs], days, share);
      if (fromWallMs >= untilWallMs) return found;
      const movedMs = this.#way * days * DAY_MS;
      for (const stretch of stretchesOf(fromWallMs - movedMs, untilWallMs - movedMs, this.#timeZone)) {
        const moved = this.#movedFrom(trigger, stretch, movedMs, [afterMs, beforeMs], side, share);
        if (moved === null || (found !== null && (moved.atMs - found.atMs) * side >= 0)) continue;
        found = moved;
        const wallMs = firstWallFrom(side > 0 ? moved.atMs : moved.atMs + 1, this.#timeZone);
        if (side > 0) untilWallMs = Math.min(untilWallMs, wallMs);
        else fromWallMs = Math.max(fromWallMs, wallMs);
      }
    }
  }

  /** The part of some times of the wall clock that is excluded so many days before. */
  #excludedOf([fromWallMs, untilWallMs]: Walls, days: number, share: StepShare): Walls {
    if (fromWallMs >= untilWallMs) return [0, 0];
    const { timeZone } = this.#dates;
    const movedMs = this.#way * days * DAY_MS;
    this.#take(fromWallMs - movedMs, share);
    const firstDay = dayAt(firstInstantOf(fromWallMs - movedMs, this.#timeZone), timeZone);
    const lastDay = dayAt(firstInstantOf(untilWallMs - movedMs, this.#timeZone), timeZone);
    let [from, until] = [untilWallMs, fromWallMs];
    // The date before may come once more where clocks are put back.
    for (let day = firstDay - 1; day <= lastDay; day++) {
      const span = this.#dates.spans[this.#dates.spanFrom(day)];
      if (span === undefined || span[0] > day) continue;
      const startMs = this.#dates.midnights(day)[0] ?? 0;
      const endMs = this.#dates.midnights(day + 1).at(-1) ?? 0;
      // At the second of two times clocks show less than what follows the first.
      const startWallMs = Math.min(firstWallFrom(startMs, this.#timeZone), wallAt(startMs, this.#timeZone));
      from = Math.min(from, Math.max(startWallMs + movedMs, fromWallMs));
      until = Math.max(until, Math.min(firstWallFrom(endMs, this.#timeZone) + movedMs, untilWallMs));
    }
    return [from, until];
  }

  #movedFrom(
    trigger: Trigger,
    [startMs, endMs]: readonly [startMs: number, endMs: number],
    movedMs: number,
    [afterMs, beforeMs]: readonly [afterMs: number, beforeMs: number],
    side: 1 | -1,
    share: StepShare,
  ): ShiftedTime | null {
    const ask = side > 0 ? nextOf : previousOf;
    for (let fromMs = ask(trigger, side > 0 ? startMs - 1 : endMs, "trigger"); ; ) {
      this.#take(startMs, share);
      if (fromMs === null || fromMs < startMs || fromMs >= endMs) return null;
      const atMs = firstInstantOf(wallAt(fromMs, this.#timeZone) + movedMs, this.#timeZone);
      const isWanted = atMs > afterMs && atMs < beforeMs;
      if (isWanted && this.targetOf(fromMs, share) === atMs) return { atMs, fromMs };
      fromMs = ask(trigger, fromMs, "trigger");
    }
  }

  #take(atMs: number, share: StepShare): void {
    if (share.take(atMs < 0 && this.#timeZone !== "UTC" ? STEPS_AN_OLD_DAY : STEPS_A_DAY)) return;
    throw new MaxIterationsReachedError(
      `the fire time to which an excluded one near ${isoOf(atMs)} is moved was not found within the ` +
        `${QUESTION_STEPS_MAX} steps of one question; exclude fewer dates in a row`,
    );
  }
}
