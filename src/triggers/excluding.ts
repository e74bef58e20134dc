import { MaxIterationsReachedError } from "../core/errors.ts";
import { optionError } from "../core/option-errors.ts";
import { matchesOf, nextOf, previousOf } from "./asking.ts";
import { type DateLike, dateText } from "./civil-date.ts";
import { checkChildren, zonesOf } from "./combining.ts";
import { type DateRange, ExcludedDates } from "./excluded-dates.ts";
import { FIRE_TIME_MS_MAX, QUESTION_STEPS_MAX, SHIFTED_DATES_MAX } from "./limits.ts";
import { checkOptions, oneOf, optional, resolveTimeZone, text } from "./options.ts";
import { ShiftedTimes } from "./shifted-times.ts";
import { type StepShare, withinBudget } from "./step-budget.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { isoOf } from "./words.ts";

/** What an {@link ExcludingTrigger} leaves out: the instants at which a second trigger fires, or whole dates. */
export type Excluded = Trigger | readonly (DateLike | DateRange)[];

/** Settings of an {@link ExcludingTrigger}. */
export interface ExcludingOptions {
  /** The zone in which excluded dates begin and end. Default: that of the inner trigger. */
  readonly timeZone?: string | undefined;
  /**
   * What becomes of a fire time on an excluded date: it moves to the nearest day `before` or `after` that is not
   * excluded, at the same time on the clocks of the trigger's {@link Trigger.timeZone}. Default: it is left out.
   *
   * A time that does not exist on that day becomes the first instant after the gap; of a time that comes twice, the
   * first counts. Where it meets another fire time, both are one. At most 366 dates in a row can be excluded so, and no
   * trigger.
   */
  readonly shift?: "before" | "after" | undefined;
}

const rules = { timeZone: optional(text), shift: optional(oneOf(["before", "after"])) };

/**
 * Fires when another trigger does, except on excluded dates, or except at the instants at which a second trigger fires.
 * With `shift`, what falls on an excluded date is moved to a day beside it.
 *
 * Dates are the cheap form: a span of any length is passed in one step. A second trigger costs one step for each fire
 * time that it excludes, and it excludes exact instants only. So a cron trigger that stands for a whole day must name
 * every second of it: `{ month: 12, day: 25, hour: "*", minute: "*", second: "*" }`.
 *
 * @example
 * const trigger = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }), [
 *   "2026-10-03",
 *   { from: "2026-12-24", until: "2026-12-31" },
 * ]);
 */
export class ExcludingTrigger extends Trigger {
  /** The trigger whose fire times are kept or left out. */
  readonly trigger: Trigger;
  /** What is left out. Copies with an anchor share the dates. */
  #excluded: Trigger | ExcludedDates;
  readonly #zone: string | null;
  readonly #shift: "before" | "after" | undefined;

  /** @throws {OptionsError} for anything but triggers and dates, for a range that ends before it starts, and for
   *  `shift` with a trigger as `excluded`, or with more than 366 dates in a row */
  constructor(trigger: Trigger, excluded: Excluded, options: ExcludingOptions = {}) {
    super();
    const { timeZone, shift } = checkOptions(rules, options, "ExcludingTrigger");
    checkChildren(excluded instanceof Trigger ? [trigger, excluded] : [trigger], "ExcludingTrigger");
    this.trigger = trigger;
    this.#zone = timeZone === undefined ? null : resolveTimeZone(timeZone);
    this.#excluded =
      excluded instanceof Trigger ? excluded : new ExcludedDates(excluded, this.#zone ?? trigger.timeZone);
    this.#shift = shift;
    if (shift !== undefined) checkShift(this.#excluded);
  }

  override get depth(): number {
    return 1 + Math.max(this.trigger.depth, this.#excluded instanceof Trigger ? this.#excluded.depth : 0);
  }

  override get timeZone(): string {
    return this.trigger.timeZone;
  }

  override get ruleZones(): readonly string[] {
    if (this.#excluded instanceof Trigger) return zonesOf([this.trigger, this.#excluded]);
    return [...new Set([...this.trigger.ruleZones, this.#zone ?? this.trigger.timeZone, this.trigger.timeZone])];
  }

  override get startMs(): number | null {
    const { startMs } = this.trigger;
    const dates = startMs === null || this.#shift !== "before" ? null : this.#dates;
    // What fires first may be moved to the day before the excluded dates.
    return dates === null || startMs === null
      ? startMs
      : withinBudget((share) => (dates.startBefore(startMs, share) ?? startMs + START_MARGIN_MS) - START_MARGIN_MS);
  }

  /** @throws {MaxIterationsReachedError} when too many fire times in a row are excluded by a trigger */
  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return withinBudget((share) => {
      const ownMs = this.#nextOwn(afterMs, share);
      const moved = this.#shifted?.first(
        this.trigger.startingAtMs(afterMs),
        Math.floor(afterMs),
        ownMs ?? FIRE_TIME_MS_MAX + 1,
        share,
      );
      return moved?.atMs ?? ownMs;
    });
  }

  /** @throws {MaxIterationsReachedError} when too many fire times in a row are excluded by a trigger */
  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return withinBudget((share) => {
      const ownMs = this.#previousOwn(beforeMs, share);
      const limitMs = Math.min(Math.ceil(beforeMs), FIRE_TIME_MS_MAX + 1);
      const moved = this.#shifted?.last(this.trigger, ownMs ?? Number.NEGATIVE_INFINITY, limitMs, share);
      return moved?.atMs ?? ownMs;
    });
  }

  override shiftedFromMs(atMs: number): number | null {
    checkMs(atMs, "atMs");
    return withinBudget((share) => {
      const dates = this.#dates;
      const isOwn = matchesOf(this.trigger, atMs, "trigger") && dates?.spanAt(atMs, share) === null;
      if (dates === null || isOwn) return this.trigger.shiftedFromMs(atMs);
      return this.#shifted?.first(this.trigger, atMs - 1, atMs + 1, share)?.fromMs ?? null;
    });
  }

  /** Where a fire time of the inner trigger (`atMs`) is moved, in epoch milliseconds; null for one that is not
   *  excluded, and without `shift`. */
  shiftedToMs(atMs: number): number | null {
    checkMs(atMs, "atMs");
    return withinBudget((share) => this.#shifted?.targetOf(atMs, share) ?? null);
  }

  get #dates(): ExcludedDates | null {
    return this.#excluded instanceof Trigger ? null : this.#excluded;
  }

  get #shifted(): ShiftedTimes | null {
    if (this.#shift === undefined || this.#dates === null) return null;
    return new ShiftedTimes(this.#dates, this.trigger.timeZone, this.#shift === "after" ? 1 : -1);
  }

  /** The first fire time of the inner trigger that is not excluded. */
  #nextOwn(afterMs: number, share: StepShare): number | null {
    const trigger = this.trigger.startingAtMs(afterMs);
    const excluded = anchored(this.#excluded, afterMs);
    for (let atMs = afterMs; ; ) {
      take("after", afterMs, share);
      const foundMs = nextOf(trigger, atMs, "trigger");
      if (foundMs === null) return null;
      if (excluded instanceof Trigger) {
        if (!matchesOf(excluded, foundMs, "excluded")) return foundMs;
        atMs = foundMs;
      } else {
        const endMs = excluded.endAfter(foundMs, share);
        if (endMs === null) return foundMs;
        // A fire time at the end of the span counts. One that is found again would not advance.
        atMs = Math.max(endMs - 1, foundMs);
      }
    }
  }

  #previousOwn(beforeMs: number, share: StepShare): number | null {
    const excluded = anchored(this.#excluded, beforeMs);
    for (let atMs = beforeMs; ; ) {
      take("before", beforeMs, share);
      const foundMs = previousOf(this.trigger, atMs, "trigger");
      if (foundMs === null) return null;
      if (excluded instanceof Trigger) {
        if (!matchesOf(excluded, foundMs, "excluded")) return foundMs;
        atMs = foundMs;
      } else {
        const startMs = excluded.startBefore(foundMs, share);
        if (startMs === null) return foundMs;
        atMs = startMs;
      }
    }
  }

  override startingAtMs(atMs: number): this {
    checkMs(atMs, "atMs");
    const trigger = this.trigger.startingAtMs(atMs);
    const excluded = anchored(this.#excluded, atMs);
    if (trigger === this.trigger && excluded === this.#excluded) return this;
    const copy = new ExcludingTrigger(trigger, excluded instanceof Trigger ? excluded : [], this.#options());
    copy.#excluded = excluded;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return copy as this;
  }

  describe(): string {
    const inner = this.trigger.describe();
    if (this.#excluded instanceof Trigger) return `${inner}, except (${this.#excluded.describe()})`;
    const dates = this.#excluded
      .toJSON()
      .map((item) => (typeof item === "string" ? item : `${String(item.from)} to ${String(item.until)}`));
    if (dates.length === 0) return inner;
    const more = dates.length > DESCRIBED_DATES_MAX ? ` and ${dates.length - DESCRIBED_DATES_MAX} more` : "";
    const zone = this.#zone === null || this.#zone === this.trigger.timeZone ? "" : ` in ${this.#zone}`;
    const list = `(${dates.slice(0, DESCRIBED_DATES_MAX).join(", ")}${more}${zone})`;
    if (this.#shift === undefined) return `${inner}, except ${list}`;
    const day = this.#shift === "after" ? "the next day that is not" : "the last day before that is not";
    return `${inner}, moved from excluded dates ${list} to ${day}`;
  }

  toJSON(): TriggerJSON {
    const excluded = this.#excluded.toJSON();
    return { type: "excluding", version: 1, trigger: this.trigger.toJSON(), excluded, ...this.#options() };
  }

  #options(): ExcludingOptions {
    return {
      ...(this.#zone === null ? {} : { timeZone: this.#zone }),
      ...(this.#shift === undefined ? {} : { shift: this.#shift }),
    };
  }
}

/** Most dates that a description names, so that it stays a line. */
const DESCRIBED_DATES_MAX = 5;
/** No day, and no difference of two time zones, is longer. */
const START_MARGIN_MS = 2 * 86_400_000;

function checkShift(excluded: Trigger | ExcludedDates): void {
  if (excluded instanceof Trigger) {
    const message = "takes excluded dates alone; leave it out where a trigger says what is excluded";
    throw optionError("ExcludingTrigger", "shift", message);
  }
  for (const [first, last] of excluded.spans) {
    const count = last - first + 1;
    if (count <= SHIFTED_DATES_MAX) continue;
    const row = `${dateText(first)} to ${dateText(last)} are ${count}`;
    const most = `needs at most ${SHIFTED_DATES_MAX} excluded dates in a row`;
    const message = `${most}, and ${row}; a trigger ends by its endTime`;
    throw optionError("ExcludingTrigger", "shift", message);
  }
}

function anchored(excluded: Trigger | ExcludedDates, atMs: number): Trigger | ExcludedDates {
  return excluded instanceof Trigger ? excluded.startingAtMs(atMs) : excluded;
}

/** Two steps: a question to each of the two triggers, or to the trigger and the dates. */
function take(side: string, atMs: number, share: StepShare): void {
  if (share.take(2)) return;
  throw new MaxIterationsReachedError(
    `no fire time ${side} ${isoOf(atMs)} was found that is not excluded, within the ` +
      `${QUESTION_STEPS_MAX} steps of one question; ` +
      "exclude dates instead of a trigger, or check that the excluded trigger does not cover the other",
  );
}
