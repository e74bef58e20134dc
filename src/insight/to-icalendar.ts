import * as v from "valibot";
import { checker, instantMs, objectOf, textUpTo, wholeNumber } from "../core/check.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import { type InstantLike, instantText, type Temporal } from "../core/temporal.ts";
import { withinBudget } from "../triggers/step-budget.ts";
import { Trigger } from "../triggers/trigger.ts";
import { CALENDAR_EVENTS_MAX } from "./limits.ts";

/** A schedule as a calendar needs it. A `Schedule` is one. */
export interface CalendarSchedule {
  readonly id: string;
  /** Its fire times are the events. */
  readonly trigger: Trigger;
  /** What programs show. Default: the id. */
  readonly name?: string | null | undefined;
  readonly taskId?: string | undefined;
  /** Of a paused schedule nothing is shown. Default: false. */
  readonly paused?: boolean | undefined;
  /** Fire times before this one are left out. Null: none is to come. Default: none are left out. */
  readonly nextFireTime?: Temporal.Instant | null | undefined;
}

/** Options of {@link toICalendar}. */
export interface CalendarOptions {
  /** The first instant, included. */
  readonly from: InstantLike;
  /** The last instant, not included. */
  readonly until: InstantLike;
  /** What programs call the calendar: text of 1 to 256 characters. Default: `"Schedules"`. */
  readonly name?: string | undefined;
  /** Most fire times of one schedule; others are left out. Default: 1,000. */
  readonly limit?: number | undefined;
}

interface CheckedCalendarOptions {
  readonly from: number;
  readonly until: number;
  readonly name: string;
  readonly limit: number;
}

const WHERE = "toICalendar()";
const check = checker(
  (): v.GenericSchema<unknown, CheckedCalendarOptions> =>
    objectOf({
      from: instantMs,
      until: instantMs,
      name: v.optional(textUpTo(256), "Schedules"),
      limit: v.optional(wholeNumber(1), 1000),
    }),
);

/**
 * The fire times of schedules as a calendar (RFC 5545), which programs such as Thunderbird, Outlook and Google Calendar
 * read: an event without a duration for each, in UTC. Equal questions get equal texts. Where fire times are left out
 * because of `limit`, the property `X-ESCAPEMENT-LEFT-OUT` names their schedules.
 *
 * @param schedules what `getSchedules` returns, or `{ id, trigger }`
 * @throws {OptionsError} for wrong options, and for more than 10,000 fire times
 * @example
 * const { items } = await scheduler.getSchedules({ state: "active" });
 * const text = toICalendar(items, { from: "2030-01-01T00:00:00Z", until: "2030-02-01T00:00:00Z" });
 */
export function toICalendar(schedules: Iterable<CalendarSchedule>, options: CalendarOptions): string {
  const steps = calendarSteps(schedules, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What `toICalendar` makes, in steps: one a schedule, and one a fire time. */
export function* calendarSteps(
  schedules: Iterable<CalendarSchedule>,
  options: CalendarOptions,
): Generator<void, string> {
  const { from, until, name, limit } = check(options, WHERE);
  if (until <= from) throw optionError(WHERE, "until", "must be later than from");
  const lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Escapement//Schedules//EN", "CALSCALE:GREGORIAN"];
  lines.push("METHOD:PUBLISH", folded(`NAME:${escaped(name)}`), folded(`X-WR-CALNAME:${escaped(name)}`));
  const stamp = timeText(from);
  const bounded: string[] = [];
  let count = 0;
  let place = 0;
  for (const schedule of schedules) {
    if (!(schedule?.trigger instanceof Trigger)) {
      const given: unknown = schedule?.trigger;
      const advice = typeof given === "string" ? "write CronTrigger.fromCrontab(text, { timeZone })" : null;
      throw optionError(WHERE, `schedules.${place}.trigger`, mustBe("a trigger", given, "", advice));
    }
    place++;
    yield;
    const [fireTimes, isWhole] = fireTimesOf(schedule, from, until, limit);
    if (!isWhole) bounded.push(schedule.id);
    for (const fireTime of fireTimes) {
      if (++count > CALENDAR_EVENTS_MAX) {
        const message = `leaves more than ${CALENDAR_EVENTS_MAX} fire times: take a shorter time, or a lower limit`;
        throw optionError(WHERE, "until", message);
      }
      lines.push(...eventOf(schedule, fireTime, stamp).map(folded));
      yield;
    }
  }
  if (bounded.length > 0) {
    const more = bounded.length > BOUNDED_NAMED_MAX ? " and others" : "";
    const names = bounded.slice(0, BOUNDED_NAMED_MAX).join(", ");
    lines.splice(
      HEAD_LINES,
      0,
      folded(`${LEFT_OUT}:${escaped(`each has more fire times than the ${limit} here: ${names}${more}`)}`),
    );
  }
  lines.push("END:VCALENDAR", "");
  return lines.join("\r\n");
}

/** The property of a calendar that leaves fire times out. */
const LEFT_OUT = "X-ESCAPEMENT-LEFT-OUT";
/** It stands before the events, of which there may be none. */
const HEAD_LINES = 7;
/** Most schedules that the note names, so that it stays readable. */
const BOUNDED_NAMED_MAX = 10;

/** What a calendar says of the fire times that it leaves out, each schedule having a bound; null for none. */
export function leftOutOf(calendar: string): string | null {
  const head = calendar.slice(0, calendar.indexOf("BEGIN:VEVENT")).replaceAll("\r\n ", "");
  return (
    head
      .split("\r\n")
      .find((line) => line.startsWith(`${LEFT_OUT}:`))
      ?.slice(LEFT_OUT.length + 1) ?? null
  );
}

function fireTimesOf(
  { trigger, paused, nextFireTime }: CalendarSchedule,
  from: number,
  until: number,
  limit: number,
): readonly [times: readonly number[], isWhole: boolean] {
  const times: number[] = [];
  if (paused === true || nextFireTime === null) return [times, true];
  const start = Math.max(from, nextFireTime?.epochMilliseconds ?? from);
  const rule = trigger.startingAtMs(start);
  for (let at = start - 1; ; ) {
    const next = withinBudget(() => rule.nextMs(at));
    if (next === null || !(next > at) || next >= until) return [times, true];
    if (times.length === limit) return [times, false];
    times.push(next);
    at = next;
  }
}

function eventOf({ id, name, taskId, trigger }: CalendarSchedule, fireTime: number, stamp: string): string[] {
  const task = taskId === undefined ? "" : `Task ${taskId}. `;
  return [
    "BEGIN:VEVENT",
    `UID:${escaped(`${id}/${instantText(fireTime)}@escapement`)}`,
    `DTSTAMP:${stamp}`,
    `DTSTART:${timeText(fireTime)}`,
    `SUMMARY:${escaped(name ?? id)}`,
    `DESCRIPTION:${escaped(`${task}${trigger.describe()}`)}`,
    ...(taskId === undefined ? [] : [`CATEGORIES:${escaped(taskId)}`]),
    // It keeps nobody from being free.
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ];
}

/** `20300101T090000Z`. Calendars have whole seconds. */
function timeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}

/** A value of the kind TEXT. Control characters, which no calendar may have, are left out. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, "\\$&")
    .replaceAll(/\r\n|\r|\n/g, "\\n")
    .replaceAll(/[\p{Cc}]/gu, "");
}

/** Most octets of a line, without its end. */
const LINE_OCTETS_MAX = 75;

/** A line in pieces of at most 75 octets, none of which ends within a character. */
function folded(line: string): string {
  if (line.length * 3 <= LINE_OCTETS_MAX) return line;
  const pieces: string[] = [];
  let piece = "";
  let octets = 0;
  for (const character of line) {
    const code = character.codePointAt(0) ?? 0;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (octets + size > LINE_OCTETS_MAX) {
      pieces.push(piece);
      // The space at the beginning counts.
      [piece, octets] = [" ", 1];
    }
    piece += character;
    octets += size;
  }
  return [...pieces, piece].join("\r\n");
}
