import * as v from "valibot";
import { checker, converted, objectOf } from "../core/check.ts";
import { MaxIterationsReachedError, OptionsError } from "../core/errors.ts";
import { leveledLogger } from "../core/leveled-logger.ts";
import { mustBe, optionError, shown } from "../core/option-errors.ts";
import { type ContentLine, contentLines } from "../rrule/content-lines.ts";
import { parseRule, timeOf } from "../rrule/parse-rule.ts";
import { Exhausted, Recurrence } from "../rrule/recurrence.ts";
import type { RecurrenceRule, TextTime } from "../rrule/rule.ts";
import { type DateLike, dateText, toEpochDay } from "../triggers/civil-date.ts";
import { QUESTION_STEPS_MAX } from "../triggers/limits.ts";
import { type StepShare, withinBudget } from "../triggers/step-budget.ts";
import { type CalendarZone, CalendarZones, lineValue, namedZone, type ZoneDefinition } from "./calendar-zones.ts";
import { CALENDAR_EVENTS_MAX, CALENDAR_TEXT_LENGTH_MAX } from "./limits.ts";

/** Options of {@link datesFromICalendar}. */
export interface CalendarDatesOptions {
  /** The first date, included: such as `"2030-01-01"`. */
  readonly from: DateLike;
  /** The last date, included. */
  readonly until: DateLike;
  /** Takes what could not be read. Default: a warning of the console for each. What it throws ends the reading. */
  readonly onFinding?: ((finding: CalendarFinding) => void) | undefined;
}

/** An event that could not be read, and whose dates are missing. */
export interface CalendarFinding {
  /** Its summary, or else its UID. */
  readonly event: string;
  /** What is wrong with it. */
  readonly message: string;
}

/** A date, or the first and the last of several in a row: what an `ExcludingTrigger` takes. */
export type CalendarDate = string | { readonly from: string; readonly until: string };

const WHERE = "datesFromICalendar()";
const DAY = 86_400;
/** Components within each other: a calendar, an event and an alarm are three. */
const DEPTH_MAX = 16;

const day = () => converted((value: DateLike) => toEpochDay(value, ""));
type CheckedCalendarDates = { from: number; until: number; onFinding?: CalendarDatesOptions["onFinding"] };
const check = checker((): v.GenericSchema<unknown, CheckedCalendarDates> => {
  return objectOf({
    from: day(),
    until: day(),
    onFinding: v.optional(v.function("must be a function")),
  }) as v.GenericSchema<unknown, CheckedCalendarDates>;
});

/**
 * The dates of the events of a calendar (RFC 5545) that last whole days, such as holidays, for an `ExcludingTrigger`.
 * Recurring events count with `RRULE`, `RDATE` and `EXDATE`, and with what was changed of them; cancelled ones do not
 * count, nor do events with times of day. Times in UTC are read in the time zone of their event, those of whole days in
 * that of the calendar (`X-WR-TIMEZONE`, or its only `VTIMEZONE`).
 *
 * An event that cannot be read is left out, and told of: see `onFinding`.
 *
 * @param text at most 1,000,000 characters, and 10,000 events
 * @returns dates, and spans of dates with both their ends, in order
 * @throws {OptionsError} for a text that is no calendar, or too large
 * @throws {MaxIterationsReachedError} for rules that take too many steps, such as one that never fires
 * @example
 * const text = await readFile("holidays.ics", "utf8");
 * const holidays = datesFromICalendar(text, { from: "2030-01-01", until: "2031-12-31" });
 * const trigger = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 * * mon-fri"), holidays);
 */
export function datesFromICalendar(text: string, options: CalendarDatesOptions): CalendarDate[] {
  const { from, until, onFinding = warn } = check(options, WHERE);
  if (until < from) throw optionError(WHERE, "until", "must not be earlier than from");
  if (typeof text !== "string") throw optionError(WHERE, "text", mustBe("the text of a calendar", text));
  if (text.length > CALENDAR_TEXT_LENGTH_MAX) {
    const message = `must have at most ${CALENDAR_TEXT_LENGTH_MAX} characters; got ${text.length}`;
    throw optionError(WHERE, "text", message);
  }
  const { events, zones: definitions, zoneName } = readCalendar(text);
  const changes = changesByUid(events);
  const spans: DaySpan[] = [];
  const findings: CalendarFinding[] = [];
  withinBudget((share) => {
    const zones = new CalendarZones(definitions, share);
    const tell = (event: CalendarEvent, error: OptionsError): void => void findings.push(findingOf(event, error));
    const reader = new CalendarReader(zones, ownZone(zones, zoneName), tell, share);
    for (const event of events) {
      try {
        const own = isChange(event) ? [] : (changes.get(event.uid) ?? []);
        spans.push(...reader.spansOf(event, own, { from, until }));
      } catch (error) {
        if (error instanceof OptionsError) tell(event, error);
        else if (!(error instanceof Exhausted)) throw error;
        else
          throw new MaxIterationsReachedError(
            `the dates of the event ${shown(event.name)} were not found within the ${QUESTION_STEPS_MAX} steps of ` +
              "one question; perhaps its rule never fires, or there are too many events: take a smaller calendar",
          );
      }
    }
  });
  for (const finding of findings) onFinding(finding);
  return merged(spans);
}

/** Days since 1970-01-01, both included. */
interface DaySpan {
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

/** What counts of a calendar. */
interface Calendar {
  readonly events: readonly CalendarEvent[];
  readonly zones: readonly ZoneDefinition[];
  /** The name of its own time zone, if it tells one. */
  readonly zoneName: string | null;
}

const COUNTED = [
  ...["DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "STATUS", "UID", "SUMMARY", "RECURRENCE-ID"],
];

function readCalendar(text: string): Calendar {
  const events: CalendarEvent[] = [];
  const zones: { lines: ContentLine[]; parts: ContentLine[][] }[] = [];
  const open: string[] = [];
  let lines: ContentLine[] = [];
  let zoneName: string | null = null;
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
      if (open[1] === "VTIMEZONE" && open.length === 2) zones.push({ lines: [], parts: [] });
      if (open[1] === "VTIMEZONE" && open.length === 3) zones.at(-1)?.parts.push([]);
    } else if (line.name === "END") {
      if (open.at(-1) !== kind) throw optionError(WHERE, "text", `ends ${shown(kind)}, which is not open`);
      if (isEvent(open)) events.push(eventOf(lines));
      open.pop();
      if (events.length > CALENDAR_EVENTS_MAX) {
        throw optionError(WHERE, "text", `must have at most ${CALENDAR_EVENTS_MAX} events`);
      }
    } else if (isEvent(open) && COUNTED.includes(line.name)) lines.push(line);
    else if (open[1] === "VTIMEZONE")
      (open.length === 2 ? zones.at(-1)?.lines : zones.at(-1)?.parts.at(-1))?.push(line);
    else if (open.length === 1 && line.name === "X-WR-TIMEZONE") zoneName ??= line.value.trim();
  }
  if (!isCalendar) throw optionError(WHERE, "text", 'must be a calendar, which begins with "BEGIN:VCALENDAR"');
  if (open.length > 0) throw optionError(WHERE, "text", `ends within ${shown(open.at(-1))}`);
  const [zone, ...others] = zones;
  if (zone !== undefined && others.length === 0) zoneName ??= lineValue(zone.lines, "TZID") ?? null;
  return { events, zones, zoneName };
}

/** The zone of whole days. A calendar's zone that cannot be read is none. */
function ownZone(zones: CalendarZones, name: string | null): CalendarZone {
  try {
    if (name !== null) return zones.of(name);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
  }
  return UTC;
}

function isEvent(open: readonly string[]): boolean {
  return open.length === 2 && open[1] === "VEVENT";
}

function eventOf(lines: readonly ContentLine[]): CalendarEvent {
  const uid = textOf(lines, "UID") ?? "";
  const name = textOf(lines, "SUMMARY") ?? uid;
  const event = { name, uid, lines };
  // A change stands for times of the rule that its event has, and has none of its own.
  return isChange(event) ? { ...event, lines: lines.filter((line) => !/^R(RULE|DATE)$/.test(line.name)) } : event;
}

function isChange({ lines }: CalendarEvent): boolean {
  return lines.some(({ name }) => name === "RECURRENCE-ID");
}

/** The events that stand for one time of a recurring event. */
function changesByUid(events: readonly CalendarEvent[]): ReadonlyMap<string, readonly CalendarEvent[]> {
  const changes = new Map<string, CalendarEvent[]>();
  for (const event of events) {
    if (!isChange(event)) continue;
    const own = changes.get(event.uid);
    if (own === undefined) changes.set(event.uid, [event]);
    else own.push(event);
  }
  return changes;
}

function textOf(lines: readonly ContentLine[], name: string): string | undefined {
  return lines.find((line) => line.name === name)?.value;
}

const UTC = namedZone("UTC");
const EVER: DaySpan = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

/** What a change makes of a day. */
interface DayChange {
  readonly on: number;
  /** Whether the days after it move by as many days, and last as long (`RANGE=THISANDFUTURE`). */
  readonly isLater: boolean;
  readonly by: number;
  readonly length: number;
}

/** Reads events. All times become those of the clocks of their event. */
class CalendarReader {
  readonly #zones: CalendarZones;
  readonly #ownZone: CalendarZone;
  readonly #tell: (event: CalendarEvent, error: OptionsError) => void;
  readonly #share: StepShare;

  /** @param tell takes what is wrong with a change of an event */
  constructor(
    zones: CalendarZones,
    ownZone: CalendarZone,
    tell: (event: CalendarEvent, error: OptionsError) => void,
    share: StepShare,
  ) {
    this.#zones = zones;
    this.#ownZone = ownZone;
    this.#tell = tell;
    this.#share = share;
  }

  /** @param changes the events that stand for one time of this one */
  spansOf({ lines }: CalendarEvent, changes: readonly CalendarEvent[], range: DaySpan): DaySpan[] {
    const line = lines.find(({ name }) => name === "DTSTART");
    if (line === undefined || textOf(lines, "STATUS")?.trim().toUpperCase() === "CANCELLED") return [];
    const start = bareTimeOf(line, line.value);
    // What has a time of day does not count, whatever else is wrong with it.
    if (!isMidnight(start.wall)) return [];
    const zone = this.#zoneOf(line, start);
    const length = this.#lengthOf(lines, start, zone);
    if (length === null) return [];
    const first = dayOf(start.wall);
    const value = textOf(lines, "RRULE");
    const changed = changes.flatMap((change) => this.#changedBy(change, start, zone));
    const later = changed.filter((one) => one.isLater).sort((a, b) => a.on - b.on);
    const excluded = new Set([...this.#datesOf(lines, "EXDATE", start, zone), ...changed.map(({ on }) => on)]);
    const wide = {
      from: range.from - Math.max(length, ...later.map((one) => one.by + one.length)),
      until: range.until + Math.max(0, ...later.map(({ by }) => -by)),
    };
    const days = value === undefined ? [first] : daysOf(parseRule(value), first, wide, zone, this.#share);
    return [...days, ...this.#datesOf(lines, "RDATE", start, zone)]
      .filter((one) => !excluded.has(one))
      .map((one) => {
        const { by, length: lasts } = later.findLast(({ on }) => on <= one) ?? { by: 0, length };
        return { from: Math.max(one + by, range.from), until: Math.min(one + by + lasts - 1, range.until) };
      })
      .filter((span) => span.from <= span.until);
  }

  #zoneOf(line: ContentLine, { timeZone, isDate }: TextTime): CalendarZone {
    const name = line.parameters.get("TZID");
    if (timeZone === "UTC") return UTC;
    return name === undefined || isDate ? this.#ownZone : this.#zones.of(name);
  }

  /** What the clocks of an event show at a time of one of its lines. */
  #wallOf(line: ContentLine, value: string, start: TextTime, zone: CalendarZone): number {
    const time = bareTimeOf(line, value);
    if (time.isDate) return time.wall;
    if (time.timeZone === "UTC") return zone.wallAt(time.wall);
    const name = line.parameters.get("TZID");
    // Outlook writes days of whole days as midnights of a zone.
    if (name === undefined || start.isDate) return time.wall;
    const other = this.#zones.of(name);
    return other === zone ? time.wall : zone.wallAt(other.instantOf(time.wall));
  }

  #datesOf(lines: readonly ContentLine[], name: string, start: TextTime, zone: CalendarZone): number[] {
    const own = lines.filter((line) => line.name === name);
    return own.flatMap((line) => {
      const values = line.value.split(",").filter((value) => value.trim() !== "");
      return values.map((value) => dayOf(this.#wallOf(line, value, start, zone)));
    });
  }

  #changedBy(change: CalendarEvent, start: TextTime, zone: CalendarZone): DayChange[] {
    try {
      const isLater = change.lines.some(({ name, parameters }) => name === "RECURRENCE-ID" && parameters.has("RANGE"));
      return this.#datesOf(change.lines, "RECURRENCE-ID", start, zone).map((on) => {
        // What was cancelled, or got a time of day, lasts no day.
        const [own = { from: on, until: on - 1 }] = isLater ? this.spansOf(change, [], EVER) : [];
        return { on, isLater, by: own.from - on, length: own.until - own.from + 1 };
      });
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      this.#tell(change, error);
      return [];
    }
  }

  /** How many days an event lasts; null for one that does not last whole days. */
  #lengthOf(lines: readonly ContentLine[], start: TextTime, zone: CalendarZone): number | null {
    const end = lines.find(({ name }) => name === "DTEND");
    if (end !== undefined) {
      const until = this.#wallOf(end, end.value, start, zone);
      const days = dayOf(until) - dayOf(start.wall);
      if (start.isDate) return Math.max(days, 1);
      return isMidnight(until) && days > 0 ? days : null;
    }
    const duration = DURATION.exec(textOf(lines, "DURATION")?.trim().toUpperCase() ?? "");
    const days = Number(duration?.[1] ?? 0) * 7 + Number(duration?.[2] ?? 0);
    if (days > 0) return days;
    return start.isDate ? 1 : null;
  }
}

/** A date and a time as they are written: the name of the zone is not looked at. @throws {OptionsError} */
function bareTimeOf({ name, parameters }: ContentLine, value: string): TextTime {
  const kept = new Map([...parameters].filter(([key, text]) => key === "VALUE" && !/^DATE$/i.test(text)));
  return timeOf({ name, parameters: kept }, value);
}

/** The days of a range on which a rule begins an event. */
function daysOf(rule: RecurrenceRule, first: number, range: DaySpan, zone: CalendarZone, share: StepShare): number[] {
  const recurrence = new Recurrence({ ...rule, hours: [], minutes: [], seconds: [] }, first * DAY);
  const { until } = rule;
  const end = until === null ? null : until.timeZone === "UTC" ? zone.wallAt(until.wall) : until.wall;
  const last = Math.min(range.until, end === null ? range.until : dayOf(end));
  const days: number[] = [];
  // With a COUNT, what comes before the range counts too.
  let at = rule.count === null ? Math.max(first, range.from) : first;
  for (let count = 0; count < (rule.count ?? Number.POSITIVE_INFINITY); count++) {
    if (!share.take(1)) throw new Exhausted();
    const found = recurrence.from(at * DAY, share);
    if (found === null || found >= (last + 1) * DAY) break;
    const one = Math.floor(found / DAY);
    if (one >= range.from) days.push(one);
    at = one + 1;
  }
  return days;
}

function dayOf(wall: number): number {
  return Math.floor(wall / DAY);
}

function isMidnight(wall: number): boolean {
  return wall === dayOf(wall) * DAY;
}

const DURATION = /^\+?P(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T0*[HMS]?)?$/;

/** Spans that touch are one. */
function merged(spans: readonly DaySpan[]): CalendarDate[] {
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

function findingOf({ name }: CalendarEvent, error: OptionsError): CalendarFinding {
  const message = (error.issues[0]?.message ?? error.message).slice(0, 300);
  return { event: name, message: `${error.issues[0]?.path ?? ""} ${message}`.trim() };
}

function warn({ event, message }: CalendarFinding): void {
  leveledLogger().warn(`escapement: the event ${shown(event)} of the calendar is left out: ${message}`);
}
