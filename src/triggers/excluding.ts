import { MaxIterationsReachedError } from "../core/errors.ts";
import { EXCLUDED_DATES_MAX, EXCLUDED_FIRE_TIMES_MAX } from "../core/limits.ts";
import { mustBe, optionsError } from "../core/option-errors.ts";
import { type DateLike, dateText, startOfDayMs, toEpochDay } from "./civil-date.ts";
import { checkChildren } from "./combining.ts";
import { checkOptions, checkOrder, optional, resolveTimeZone, text } from "./options.ts";
import { Trigger, type TriggerJSON } from "./trigger.ts";
import { isoOf } from "./words.ts";

/** Dates from `from` to `until`, both included. */
export interface DateRange {
  readonly from: DateLike;
  readonly until: DateLike;
}

/** What an {@link ExcludingTrigger} leaves out: the instants at which a second trigger fires, or whole dates. */
export type Excluded = Trigger | readonly (DateLike | DateRange)[];

/** Settings of an {@link ExcludingTrigger}. */
export interface ExcludingOptions {
  /** The zone in which excluded dates begin and end. Default: that of the inner trigger. */
  readonly timeZone?: string | undefined;
}

const rules = { timeZone: optional(text) };

type Span = readonly [first: number, last: number];

/**
 * Fires when another trigger does, except on excluded dates, or except at the instants at which a second trigger fires.
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
  readonly #excluded: Trigger | null;
  readonly #spans: readonly Span[];
  readonly #zone: string | null;
  /** Starts and ends of the spans in epoch milliseconds. They are computed at the first question, because each of them
   *  costs a calendar look-up. */
  #startsMs: number[] | null = null;
  #endsMs: number[] = [];

  /** @throws {OptionsError} for anything but triggers and dates, or for a range that ends before it starts */
  constructor(trigger: Trigger, excluded: Excluded, options: ExcludingOptions = {}) {
    super();
    const { timeZone } = checkOptions(rules, options, "ExcludingTrigger");
    checkChildren(excluded instanceof Trigger ? [trigger, excluded] : [trigger], "ExcludingTrigger");
    this.trigger = trigger;
    this.#excluded = excluded instanceof Trigger ? excluded : null;
    this.#spans = excluded instanceof Trigger ? [] : mergedSpans(excluded);
    this.#zone = timeZone === undefined ? null : resolveTimeZone(timeZone);
  }

  override get depth(): number {
    return 1 + Math.max(this.trigger.depth, this.#excluded?.depth ?? 0);
  }

  override get timeZone(): string {
    return this.trigger.timeZone;
  }

  override get startMs(): number | null {
    return this.trigger.startMs;
  }

  /** @throws {MaxIterationsReachedError} when too many fire times in a row are excluded by a trigger */
  nextMs(afterMs: number): number | null {
    const rule = this.startingAtMs(afterMs);
    let atMs = rule.trigger.nextMs(afterMs);
    for (let passed = 0; passed < EXCLUDED_FIRE_TIMES_MAX; passed++) {
      if (atMs === null) return null;
      const span = rule.#spanAt(atMs);
      if (span >= 0) atMs = rule.trigger.nextMs((rule.#endsMs[span] ?? atMs) - 1);
      else if (rule.#excluded?.matchesMs(atMs) === true) atMs = rule.trigger.nextMs(atMs);
      else return atMs;
    }
    throw exhausted("after", afterMs);
  }

  /** @throws {MaxIterationsReachedError} when too many fire times in a row are excluded by a trigger */
  previousMs(beforeMs: number): number | null {
    const rule = this.#excluded === null ? this : this.startingAtMs(beforeMs);
    let atMs = this.trigger.previousMs(beforeMs);
    for (let passed = 0; passed < EXCLUDED_FIRE_TIMES_MAX; passed++) {
      if (atMs === null) return null;
      const span = rule.#spanAt(atMs);
      if (span >= 0) atMs = this.trigger.previousMs(rule.#startsMs?.[span] ?? atMs);
      else if (rule.#excluded?.matchesMs(atMs) === true) atMs = this.trigger.previousMs(atMs);
      else return atMs;
    }
    throw exhausted("before", beforeMs);
  }

  override startingAtMs(atMs: number): this {
    const trigger = this.trigger.startingAtMs(atMs);
    const excluded = this.#excluded?.startingAtMs(atMs) ?? null;
    if (trigger === this.trigger && excluded === this.#excluded) return this;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return new ExcludingTrigger(trigger, excluded ?? this.#dates(), this.#options()) as this;
  }

  describe(): string {
    const dates = this.#spans.map(([first, last]) =>
      first === last ? dateText(first) : `${dateText(first)} to ${dateText(last)}`,
    );
    const more = dates.length > DESCRIBED_DATES_MAX ? ` and ${dates.length - DESCRIBED_DATES_MAX} more` : "";
    const excluded = this.#excluded?.describe() ?? dates.slice(0, DESCRIBED_DATES_MAX).join(", ") + more;
    return `${this.trigger.describe()}, except (${excluded})`;
  }

  toJSON(): TriggerJSON {
    const excluded = this.#excluded?.toJSON() ?? this.#dates();
    return { type: "excluding", version: 1, trigger: this.trigger.toJSON(), excluded, ...this.#options() };
  }

  #dates(): (string | DateRange)[] {
    return this.#spans.map(([first, last]) =>
      first === last ? dateText(first) : { from: dateText(first), until: dateText(last) },
    );
  }

  #options(): ExcludingOptions {
    return this.#zone === null ? {} : { timeZone: this.#zone };
  }

  /** The index of the span that an instant lies in, or -1. */
  #spanAt(atMs: number): number {
    if (this.#spans.length === 0) return -1;
    if (this.#startsMs === null) {
      const zone = this.#zone ?? this.trigger.timeZone;
      this.#endsMs = this.#spans.map(([, last]) => startOfDayMs(last + 1, zone));
      this.#startsMs = this.#spans.map(([first]) => startOfDayMs(first, zone));
    }
    let low = 0;
    let high = this.#spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#endsMs[middle] ?? 0) <= atMs) low = middle + 1;
      else high = middle;
    }
    return (this.#startsMs[low] ?? Number.POSITIVE_INFINITY) <= atMs ? low : -1;
  }
}

const DESCRIBED_DATES_MAX = 5;

/** Dates and ranges as spans of days, in order, without overlaps. */
function mergedSpans(excluded: readonly (DateLike | DateRange)[]): Span[] {
  if (!Array.isArray(excluded) || excluded.length > EXCLUDED_DATES_MAX) {
    const message = mustBe(`a trigger or a list of at most ${EXCLUDED_DATES_MAX} dates`, excluded);
    throw optionsError("ExcludingTrigger", [{ path: "excluded", message }]);
  }
  const spans = excluded.map((item: DateLike | DateRange, index): [number, number] => {
    const path = `excluded.${index}`;
    if (typeof item !== "object" || item === null || !("from" in item && "until" in item)) {
      const day = toEpochDay(item, path);
      return [day, day];
    }
    const first = toEpochDay(item.from, `${path}.from`);
    const last = toEpochDay(item.until, `${path}.until`);
    checkOrder("ExcludingTrigger", first, last, [`${path}.from`, `${path}.until`]);
    return [first, last];
  });
  spans.sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span[0] <= last[1] + 1) last[1] = Math.max(last[1], span[1]);
    else merged.push(span);
  }
  return merged;
}

function exhausted(side: string, atMs: number): MaxIterationsReachedError {
  return new MaxIterationsReachedError(
    `more than ${EXCLUDED_FIRE_TIMES_MAX} fire times in a row ${side} ${isoOf(atMs)} are excluded; ` +
      "exclude dates instead of a trigger, or check that the excluded trigger does not cover the other",
  );
}
