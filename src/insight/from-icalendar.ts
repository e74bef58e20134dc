import type * as v from "valibot";
import { checker, converted, objectOf } from "../core/check.ts";
import { MaxIterationsReachedError, OptionsError } from "../core/errors.ts";
import { CALENDAR_EVENTS_MAX, CALENDAR_TEXT_LENGTH_MAX, QUESTION_STEPS_MAX } from "../core/limits.ts";
import { mustBe, optionError, shown } from "../core/option-errors.ts";
import { type ContentLine, contentLines } from "../rrule/content-lines.ts";
import { parseRule, timeOf } from "../rrule/parse-rule.ts";
import { Exhausted, Recurrence } from "../rrule/recurrence.ts";
import type { Rule, TextTime } from "../rrule/rule.ts";
import { type DateLike, dateText, toEpochDay } from "../triggers/civil-date.ts";
import { type StepShare, withinBudget } from "../triggers/step-budget.ts";

/** Options of {@link datesFromICalendar}. */
export interface CalendarDatesOptions {
  /** The first date, included: such as `"2030-01-01"`. */
  readonly from: DateLike;
  /** The last date, included. */
  readonly until: DateLike;
}

/** A date, or the first and the last of several in a row: what an `ExcludingTrigger` takes. */
export type CalendarDate = string | { readonly from: string; readonly until: string };

const WHERE = "datesFromICalendar()";
const DAY = 86_400;
/** Components within each other: a calendar, an event and an alarm are three. */
const DEPTH_MAX = 16;

const day = () => converted((value: DateLike) => toEpochDay(value, ""));
const check = checker((): v.GenericSchema<unknown, { from: number; until: number }> => {
  return objectOf({ from: day(), until: day() });
});

/**
 * The dates of the events of a calendar (RFC 5545) that last whole days, such as holidays, for an `ExcludingTrigger`.
 * Recurring events count with `RRULE`, `RDATE` and `EXDATE`, and with what was changed of them; cancelled ones do not
 * count, nor do events with times of day.
 *
 * @param text at most 1,000,000 characters, and 10,000 events
 * @returns dates, and spans of dates with both their ends, in order
 * @throws {OptionsError} for a text that is no calendar, or too large, and for wrong dates and rules in it
 * @throws {MaxIterationsReachedError} for rules that take too many steps, such as one that never fires
 * @example
 * const text = await readFile("holidays.ics", "utf8");
 * const holidays = datesFromICalendar(text, { from: "2030-01-01", until: "2031-12-31" });
 * const trigger = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 * * mon-fri"), holidays);
 */
export function datesFromICalendar(text: string, options: CalendarDatesOptions): CalendarDate[] {
  const { from, until } = check(options, WHERE);
  if (until < from) throw optionError(WHERE, "until", "must not be earlier than from");
  if (typeof text !== "string") throw optionError(WHERE, "text", mustBe("the text of a calendar", text));
  if (text.length > CALENDAR_TEXT_LENGTH_MAX) {
    const message = `must have at most ${CALENDAR_TEXT_LENGTH_MAX} characters; got ${text.length}`;
    throw optionError(WHERE, "text", message);
  }
  const events = readEvents(text);
  const changed = changedDays(events);
  const spans: Span[] = [];
  withinBudget((share) => {
    for (const event of events) {
      try {
        spans.push(...spansOf(event, changed, { from, until }, share));
      } catch (error) {
        if (error instanceof OptionsError) throw within(event, error);
        if (!(error instanceof Exhausted)) throw error;
        throw new MaxIterationsReachedError(
          `the dates of the event ${shown(event.name)} were not found within the ${QUESTION_STEPS_MAX} steps of one ` +
            "question; perhaps its rule never fires, or there are too many events: take a smaller calendar",
        );
      }
    }
  });
  return merged(spans);
}

/** Days since 1970-01-01, both included. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** What counts of an event. */
interface CalendarEvent {
  /** What to call it in errors: its summary, or else its UID. */
  readonly name: string;
  readonly uid: string;
  readonly lines: readonly ContentLine[];
}

const COUNTED = [
  "DTSTART",
  "DTEND",
  "DURATION",
  "RRULE",
  "RDATE",
  "EXDATE",
  "STATUS",
  "UID",
  "SUMMARY",
  "RECURRENCE-ID",
];

function readEvents(text: string): CalendarEvent[] {
  const events: CalendarEvent[] = [];
  const open: string[] = [];
  let lines: ContentLine[] = [];
  let isCalendar = false;
  for (const line of contentLines(text.replace(/^\uFEFF/, ""))) {
    // Programs write lines that are none. They are no line that counts.
    if (line === null) {
      if (!isCalendar) break;
      continue;
    }
    const kind = line.value.trim().toUpperCase();
    if (line.name === "BEGIN") {
      if (open.length === 0 && kind !== "VCALENDAR") break;
      isCalendar = true;
      open.push(kind);
      if (open.length > DEPTH_MAX) throw optionError(WHERE, "text", `nests deeper than ${DEPTH_MAX} components`);
      if (isEvent(open)) lines = [];
    } else if (line.name === "END") {
      if (open.at(-1) !== kind) throw optionError(WHERE, "text", `ends ${shown(kind)}, which is not open`);
      if (isEvent(open)) events.push(eventOf(lines));
      open.pop();
      if (events.length > CALENDAR_EVENTS_MAX) {
        throw optionError(WHERE, "text", `must have at most ${CALENDAR_EVENTS_MAX} events`);
      }
    } else if (isEvent(open) && COUNTED.includes(line.name)) lines.push(line);
  }
  if (!isCalendar) throw optionError(WHERE, "text", 'must be a calendar, which begins with "BEGIN:VCALENDAR"');
  if (open.length > 0) throw optionError(WHERE, "text", `ends within ${shown(open.at(-1))}`);
  return events;
}

function isEvent(open: readonly string[]): boolean {
  return open.length === 2 && open[1] === "VEVENT";
}

function eventOf(lines: readonly ContentLine[]): CalendarEvent {
  const uid = textOf(lines, "UID") ?? "";
  return { name: textOf(lines, "SUMMARY") ?? uid, uid, lines };
}

function textOf(lines: readonly ContentLine[], name: string): string | undefined {
  return lines.find((line) => line.name === name)?.value;
}

/** The days of recurring events that other events of the same UID stand for. */
function changedDays(events: readonly CalendarEvent[]): ReadonlyMap<string, ReadonlySet<number>> {
  const days = new Map<string, Set<number>>();
  for (const event of events) {
    const line = event.lines.find(({ name }) => name === "RECURRENCE-ID");
    if (line === undefined) continue;
    const of = days.get(event.uid) ?? new Set<number>();
    days.set(event.uid, of);
    try {
      of.add(dayOf(timeOf(line, line.value)));
    } catch (error) {
      throw error instanceof OptionsError ? within(event, error) : error;
    }
  }
  return days;
}

function spansOf(
  { lines, uid }: CalendarEvent,
  changed: ReadonlyMap<string, ReadonlySet<number>>,
  range: Span,
  share: StepShare,
): Span[] {
  const line = lines.find(({ name }) => name === "DTSTART");
  if (line === undefined || textOf(lines, "STATUS")?.trim().toUpperCase() === "CANCELLED") return [];
  const start = timeOf(line, line.value);
  const length = lengthOf(lines, start);
  if (length === null) return [];
  const first = dayOf(start);
  const value = textOf(lines, "RRULE");
  const isChange = lines.some(({ name }) => name === "RECURRENCE-ID");
  const excluded = new Set([...datesOf(lines, "EXDATE"), ...(isChange ? [] : (changed.get(uid) ?? []))]);
  const days = value === undefined ? [first] : daysOf(parseRule(value), first, range, length, share);
  return [...days, ...datesOf(lines, "RDATE")]
    .filter((one) => !excluded.has(one))
    .map((one) => ({ from: Math.max(one, range.from), until: Math.min(one + length - 1, range.until) }))
    .filter((span) => span.from <= span.until);
}

/** The days on which a rule begins an event that reaches into a range. */
function daysOf(rule: Rule, first: number, range: Span, length: number, share: StepShare): number[] {
  const recurrence = new Recurrence({ ...rule, hours: [], minutes: [], seconds: [] }, first * DAY);
  const last = Math.min(range.until, rule.until === null ? range.until : dayOf(rule.until));
  const days: number[] = [];
  // With a COUNT, what comes before the range counts too.
  let at = rule.count === null ? Math.max(first, range.from - length + 1) : first;
  for (let count = 0; count < (rule.count ?? Number.POSITIVE_INFINITY); count++) {
    if (!share.take(1)) throw new Exhausted();
    const found = recurrence.from(at * DAY, share);
    if (found === null || found >= (last + 1) * DAY) break;
    const one = Math.floor(found / DAY);
    if (one + length > range.from) days.push(one);
    at = one + 1;
  }
  return days;
}

function datesOf(lines: readonly ContentLine[], name: string): number[] {
  const own = lines.filter((line) => line.name === name);
  return own.flatMap((line) => line.value.split(",").map((value) => dayOf(timeOf(line, value))));
}

function dayOf({ wall }: TextTime): number {
  return Math.floor(wall / DAY);
}

const DURATION = /^\+?P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T0*[HMS]?)?$/;

/** How many days an event lasts; null for one that does not last whole days. */
function lengthOf(lines: readonly ContentLine[], start: TextTime): number | null {
  const isMidnight = ({ wall }: TextTime): boolean => wall === Math.floor(wall / DAY) * DAY;
  if (!isMidnight(start)) return null;
  const end = lines.find(({ name }) => name === "DTEND");
  if (end !== undefined) {
    const until = timeOf(end, end.value);
    const days = dayOf(until) - dayOf(start);
    if (start.isDate) return Math.max(days, 1);
    return isMidnight(until) && days > 0 ? days : null;
  }
  const duration = DURATION.exec(textOf(lines, "DURATION")?.trim().toUpperCase() ?? "");
  const days = Number(duration?.[1] ?? 0) * 7 + Number(duration?.[2] ?? 0);
  if (days > 0) return days;
  return start.isDate ? 1 : null;
}

/** Spans that touch are one. */
function merged(spans: readonly Span[]): CalendarDate[] {
  const found: { from: number; until: number }[] = [];
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.until + 1) last.until = Math.max(last.until, until);
    else found.push({ from, until });
  }
  return found.map(({ from, until }) => {
    return from === until ? dateText(from) : { from: dateText(from), until: dateText(until) };
  });
}

/** What is wrong with an event. */
function within({ name }: CalendarEvent, error: OptionsError): OptionsError {
  const message = (error.issues[0]?.message ?? error.message).slice(0, 300);
  return optionError(
    WHERE,
    "text",
    `has an event ${shown(name)} with a wrong part ${error.issues[0]?.path ?? ""}: ${message}`,
  );
}
