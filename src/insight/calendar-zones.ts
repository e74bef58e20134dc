import { optionError, shown } from "../core/option-errors.ts";
import { wallAt, wallTimes } from "../cron/wall-clock.ts";
import type { ContentLine } from "../rrule/content-lines.ts";
import { parseRule, timeOf } from "../rrule/parse-rule.ts";
import { Recurrence } from "../rrule/recurrence.ts";
import { resolveTimeZone } from "../triggers/options.ts";
import type { StepShare } from "../triggers/step-budget.ts";
import { windowsZone } from "./windows-zones.ts";

const DAY = 86_400;

/** A time zone of a calendar. All in seconds since 1970, instants and what clocks show. */
export interface CalendarZone {
  wallAt(instant: number): number;
  instantOf(wall: number): number;
}

/** A component `VTIMEZONE`. */
export interface ZoneDefinition {
  readonly lines: readonly ContentLine[];
  /** Its `STANDARD` and `DAYLIGHT`. */
  readonly parts: readonly (readonly ContentLine[])[];
}

/** What the `TZID`s of a calendar mean. */
export class CalendarZones {
  readonly #definitions: ReadonlyMap<string, ZoneDefinition>;
  readonly #share: StepShare;
  readonly #known = new Map<string, CalendarZone>();

  constructor(definitions: readonly ZoneDefinition[], share: StepShare) {
    this.#definitions = new Map(definitions.map((one) => [lineValue(one.lines, "TZID") ?? "", one]));
    this.#share = share;
  }

  /** @throws {OptionsError} for a name that no one knows, and that the calendar does not define */
  of(name: string): CalendarZone {
    const known = this.#known.get(name) ?? this.#zoneOf(name);
    this.#known.set(name, known);
    return known;
  }

  #zoneOf(name: string): CalendarZone {
    const definition = this.#definitions.get(name);
    const iana = ianaZone(name) ?? (definition && ianaZone(lineValue(definition.lines, "X-LIC-LOCATION") ?? ""));
    if (iana) return namedZone(iana);
    if (definition !== undefined && definition.parts.length > 0) return definedZone(definition, this.#share);
    const display = displayedZone(name);
    if (display !== null) return namedZone(display);
    const known = "a time zone of IANA or Windows, nor a VTIMEZONE of the calendar";
    const message = `is ${shown(name)}, which is neither ${known}`;
    throw optionError("datesFromICalendar()", "TZID", message);
  }
}

/** The value of the first line with a name. */
export function lineValue(lines: readonly ContentLine[], name: string): string | undefined {
  return lines.find((line) => line.name === name)?.value.trim();
}

/** The IANA zone, or the offset, that a name stands for; null for none. */
function ianaZone(given: string): string | null {
  const name = given.trim();
  // Programs of libical and Mozilla write /freeassociation.sourceforge.net/Europe/London, others tzone://Microsoft/Utc.
  const parts = name.split("/");
  const tails = name.includes("/") ? [3, 2, 1].map((count) => parts.slice(-count).join("/")) : [];
  for (const one of [name, windowsZone(name) ?? "", ...tails]) {
    if (/^[A-Za-z]/.test(one) && isZone(one)) return resolveTimeZone(one);
  }
  const [, sign, hours = "0", minutes = "00"] = /^\(?(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?\)?$/i.exec(name) ?? [];
  const offset = `${sign}${hours.padStart(2, "0")}:${minutes}`;
  return sign !== undefined && isZone(offset) ? resolveTimeZone(offset) : null;
}

function isZone(name: string): boolean {
  try {
    resolveTimeZone(name);
    return true;
  } catch {
    return false;
  }
}

/** The zone of what Outlook shows in the place of a name: `(UTC+01:00) Amsterdam, Berlin, Bern`. It is the zone of a
 *  city that it names, if clocks there are as far from UTC in a winter or a summer. */
function displayedZone(name: string): string | null {
  const [, sign, hours, minutes, places = ""] = /^\((?:UTC|GMT)(?:([+-])(\d\d)[:.](\d\d))?\)\s*(.+)$/i.exec(name) ?? [];
  const offset = (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60;
  const isThere = (zone: string): boolean => [0, 182].some((day) => offsetAt(zone, day * DAY) === offset);
  const standard = /^(.+) Time \((?:US & )?Canada\)$/i.exec(places)?.[1] ?? places;
  const windows = windowsZone(places) ?? windowsZone(`${standard} Standard Time`);
  if (windows !== undefined && isThere(windows)) return windows;
  const cities = places.split(/[,/]/).map((place) => place.trim().replaceAll(/[ .]+/g, "_").toLowerCase());
  const zones = Intl.supportedValuesOf?.("timeZone") ?? [];
  const found = cities.map((city) => zones.find((zone) => zone.toLowerCase().endsWith(`/${city}`) && isThere(zone)));
  return found.find((zone) => zone !== undefined) ?? null;
}

/** In seconds, of the year 2025 from a second of it on. */
function offsetAt(zone: string, second: number): number {
  const at = Date.UTC(2025, 0, 10) + second * 1000;
  return (wallAt(at, zone) - at) / 1000;
}

/** A zone that the runtime knows. */
export function namedZone(name: string): CalendarZone {
  return {
    wallAt: (instant) => wallAt(instant * 1000, name) / 1000,
    instantOf(wall) {
      const day = Math.floor(wall / DAY);
      return (wallTimes(day, wall - day * DAY, name, "shift", "first")[0] ?? wall * 1000) / 1000;
    },
  };
}

/** Since when a part of a definition holds: the last time before an instant, in seconds; null for never. */
interface Observance {
  readonly offset: number;
  readonly before: number;
  since(instant: number): number | null;
}

/** A zone as its calendar defines it. @throws {OptionsError} for a definition that cannot be read */
function definedZone({ parts }: ZoneDefinition, share: StepShare): CalendarZone {
  const observances = parts.map((lines) => observanceOf(lines, share));
  const offsetOf = (instant: number): number => {
    let [last, offset] = [Number.NEGATIVE_INFINITY, observances[0]?.before ?? 0];
    for (const one of observances) {
      const since = one.since(instant);
      if (since !== null && since > last) [last, offset] = [since, one.offset];
    }
    return offset;
  };
  return {
    wallAt: (instant) => instant + offsetOf(instant),
    instantOf: (wall) => wall - offsetOf(wall - offsetOf(wall)),
  };
}

function observanceOf(lines: readonly ContentLine[], share: StepShare): Observance {
  const [offset, before] = [offsetIn(lines, "TZOFFSETTO"), offsetIn(lines, "TZOFFSETFROM")];
  const start = lines.find(({ name }) => name === "DTSTART");
  const line = { name: "DTSTART", parameters: new Map() };
  const first = timeOf(line, start?.value ?? "").wall;
  const value = lineValue(lines, "RRULE");
  const rule = value === undefined ? null : parseRule(value);
  const recurrence = rule === null ? null : new Recurrence(rule, first);
  const until = rule?.until ?? null;
  const end = until === null ? Number.POSITIVE_INFINITY : until.wall + (until.timeZone === "UTC" ? before : 0);
  const dates = lines.filter(({ name }) => name === "RDATE").flatMap((one) => one.value.split(",").filter(Boolean));
  const given = [first, ...dates.map((date) => timeOf(line, date).wall)];
  return {
    offset,
    before,
    since(instant) {
      const wall = instant + before;
      const found = [...given.filter((one) => one <= wall), recurrence?.until(Math.min(wall, end), share) ?? first];
      const last = Math.max(...found);
      return last <= wall ? last - before : null;
    },
  };
}

function offsetIn(lines: readonly ContentLine[], name: string): number {
  const value = lineValue(lines, name) ?? "";
  const [, sign, hours, minutes, seconds = "0"] = /^([+-])(\d\d)(\d\d)(\d\d)?$/.exec(value) ?? [];
  if (sign === undefined) throw optionError("VTIMEZONE", name, `must be an offset such as +0100; got ${shown(value)}`);
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}
