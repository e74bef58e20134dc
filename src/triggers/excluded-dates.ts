import { OptionsError } from "../core/errors.ts";
import { isPlain, listOf, mustBe, optionError, optionsError, shown } from "../core/option-errors.ts";
import { dayAt, wallTimes } from "../cron/wall-clock.ts";
import { type DateLike, dateText, toEpochDay } from "./civil-date.ts";
import { EXCLUDED_DATES_MAX } from "./limits.ts";
import { checkOrder } from "./options.ts";
import type { StepShare } from "./step-budget.ts";

/** Dates from `from` to `until`, both included. */
export interface DateRange {
  readonly from: DateLike;
  readonly until: DateLike;
}

/** Excluded dates that follow each other, in days since 1970-01-01. */
export type ExcludedSpan = readonly [first: number, last: number];

/** What a look at the clock before 1970 takes from the budget of a question, because the tables of zones begin
 *  there. */
const STEPS_AN_OLD_LOOK = 1000;

/** Whole dates of a time zone: spans of days, in order and without overlaps. Looked up by the date of an instant, so
 *  that there is nothing to prepare, however many there are. */
export class ExcludedDates {
  /** In order, and none of them next to another. */
  readonly spans: readonly ExcludedSpan[];
  readonly timeZone: string;

  /** @throws {OptionsError} for anything but dates, or for a range that ends before it starts */
  constructor(dates: readonly (DateLike | DateRange)[], timeZone: string) {
    this.spans = mergedSpans(dates);
    this.timeZone = timeZone;
  }

  /** An instant, not before an excluded one, up to which all are excluded; null when the instant is not excluded. */
  endAfter(atMs: number, share: StepShare): number | null {
    const span = this.spanAt(atMs, share);
    if (span === null) return null;
    // Clocks will be put back to the date before, so there is no leaping to the end.
    const [, again = atMs] = this.midnights(span[0]);
    if (atMs < again) return atMs;
    return this.midnights(span[1] + 1).find((midnightMs) => midnightMs > atMs) ?? atMs;
  }

  /** An instant, not after an excluded one, from which on all are excluded; null when the instant is not excluded. */
  startBefore(atMs: number, share: StepShare): number | null {
    const span = this.spanAt(atMs, share);
    if (span === null) return null;
    // Clocks were put back to the date, so there is no leaping over the time before.
    if (atMs >= (this.midnights(span[1] + 1)[0] ?? Number.POSITIVE_INFINITY)) return atMs;
    return this.midnights(span[0]).findLast((midnightMs) => midnightMs <= atMs) ?? atMs;
  }

  toJSON(): (string | DateRange)[] {
    return this.spans.map(([first, last]) =>
      first === last ? dateText(first) : { from: dateText(first), until: dateText(last) },
    );
  }

  /** The excluded dates around an instant; null when the instant is not excluded. */
  spanAt(atMs: number, share: StepShare): ExcludedSpan | null {
    if (this.spans.length === 0) return null;
    if (atMs < 0 && this.timeZone !== "UTC") share.take(STEPS_AN_OLD_LOOK);
    const day = dayAt(atMs, this.timeZone);
    const span = this.spans[this.spanFrom(day)];
    return span !== undefined && span[0] <= day ? span : null;
  }

  /** The place of the first span that ends on a day or later. */
  spanFrom(day: number): number {
    let low = 0;
    let high = this.spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.spans[middle]?.[1] ?? 0) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first instant of a date; two where clocks are put back just after midnight, as in St. John's until 2011. */
  midnights(day: number): readonly number[] {
    return wallTimes(day, 0, this.timeZone, "advance", "both");
  }
}

function dayOf(date: DateLike, path: string): number {
  try {
    return toEpochDay(date, path);
  } catch (error) {
    throw error instanceof OptionsError
      ? optionsError("ExcludingTrigger", error.issues, { cause: error.cause })
      : error;
  }
}

function isRange(item: unknown): item is DateRange {
  return typeof item === "object" && item !== null && "from" in item && "until" in item;
}

function rangeProblem(item: Readonly<Record<string, unknown>>): string {
  const last = ["to", "end", "till", "through"].find((name) => name in item);
  const advice = "from" in item && last !== undefined ? `the last date is named "until", not "${last}"` : null;
  return mustBe('a date such as "2026-12-25", or { from, until }', item, "", advice);
}

function listAdvice(value: unknown): string | null {
  if (typeof value === "string") return `write [${shown(value)}]`;
  if (value instanceof Date) return 'write the date as text, in a list: ["2026-12-25"]';
  return isPlain(value) ? "write it in a list: [{ from, until }]" : null;
}

function mergedSpans(dates: readonly (DateLike | DateRange)[]): ExcludedSpan[] {
  const list = listOf(dates, "ExcludingTrigger", "excluded", EXCLUDED_DATES_MAX);
  if (list === null) {
    const what = `a trigger or a list of at most ${EXCLUDED_DATES_MAX} dates`;
    const message = mustBe(what, dates, "", Array.isArray(dates) ? null : listAdvice(dates));
    throw optionError("ExcludingTrigger", "excluded", message);
  }
  const spans = list.map((item: DateLike | DateRange, index): [number, number] => {
    const path = `excluded.${index}`;
    if (isPlain(item) && !isRange(item)) throw optionError("ExcludingTrigger", path, rangeProblem(item));
    if (!isRange(item)) {
      const day = dayOf(item, path);
      return [day, day];
    }
    const first = dayOf(item.from, `${path}.from`);
    const last = dayOf(item.until, `${path}.until`);
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
