import { MaxIterationsReachedError } from "../core/errors.ts";
import { EXCLUDED_DATES_MAX, EXCLUDED_FIRE_TIMES_MAX } from "../core/limits.ts";
import { mustBe, optionsError } from "../core/option-errors.ts";
import { type Dateish, dateText, startOfDayMs, toEpochDay } from "./civil-date.ts";
import { checkChildren } from "./combining.ts";
import { checkOptions, checkOrder, optional, resolveTimeZone, text } from "./options.ts";
import { Trigger, type TriggerJSON } from "./trigger.ts";
import { isoOf } from "./words.ts";

/** Dates from `from` to `until`, both included. */
export interface DateRange {
  readonly from: Dateish;
  readonly until: Dateish;
}

/** What an {@link ExcludingTrigger} leaves out: the instants at which another trigger fires, or whole dates. */
export type Excluded = Trigger | readonly (Dateish | DateRange)[];

/** Settings of an {@link ExcludingTrigger}. */
export interface ExcludingOptions {
  /** The zone in which excluded dates begin and end. Default: that of the inner trigger. */
  readonly timeZone?: string | undefined;
}

const rules = { timeZone: optional(text) };

type Span = readonly [first: number, last: number];

/**
 * Fires when another trigger does, except on excluded dates, or except at the instants at which a second trigger
 * fires. A cron trigger of whole days must name every second: `{ month: 12, day: 25, hour: "*", minute: "*", second:
 * "*" }`. Long spans are cheap as dates and cost one step for each fire time as a trigger.
 *
 * @example
 * const trigger = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }), [
 *   "2026-10-03",
 *   { from: "2026-12-24", until: "2026-12-31" },
 * ]);
 */
export class ExcludingTrigger extends Trigger {
  /** The trigger whose fire times these are, less the excluded ones. */
  readonly trigger: Trigger;
  readonly #excluded: Trigger | null;
  readonly #spans: readonly Span[];
  readonly #zone: string | null;
  /** Starts and ends of the spans in epoch milliseconds, made at the first question: each costs a calendar look-up. */
  #startsMs: number[] | null = null;
  #endsMs: number[] = [];

  /** @throws {OptionsError} for something else than triggers and dates, or a range that ends before it starts */
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
    const rule = this.anchoredAt(afterMs);
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
    const rule = this.#excluded === null ? this : this.anchoredAt(beforeMs);
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

  override anchoredAt(atMs: number): this {
    const trigger = this.trigger.anchoredAt(atMs);
    const excluded = this.#excluded?.anchoredAt(atMs) ?? null;
    if (trigger === this.trigger && excluded === this.#excluded) return this;
    // A subclass answers for itself; this class is what its constructor makes.
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

  /** The span that an instant falls in, or -1. */
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
function mergedSpans(excluded: readonly (Dateish | DateRange)[]): Span[] {
  if (!Array.isArray(excluded) || excluded.length > EXCLUDED_DATES_MAX) {
    const message = mustBe(`a trigger or a list of at most ${EXCLUDED_DATES_MAX} dates`, excluded);
    throw optionsError("ExcludingTrigger", [{ path: "excluded", message }]);
  }
  const spans = excluded.map((item: Dateish | DateRange, index): [number, number] => {
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
