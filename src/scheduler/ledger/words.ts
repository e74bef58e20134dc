import { instantText } from "../../core/temporal.ts";
import { isoIn } from "../../triggers/words.ts";

// How instants and lengths of time are written in explanations.

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** `Sun 2027-03-28 03:00 +02:00`: an instant on the clocks of a time zone. */
export function clockText(at: number, timeZone: string): string {
  const [date = "", rest = ""] = isoIn(at, timeZone).split("T");
  const [, time = "", offset = ""] = /^([\d:.]+)(Z|[+-].*)$/.exec(rest) ?? [];
  const weekday = WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "";
  return `${weekday} ${date} ${shortTime(time)} ${offset === "Z" ? "UTC" : offset}`.trim();
}

/** The same with the instant itself: `Sun 2027-03-28 03:00 +02:00 (2027-03-28T01:00:00Z)`. */
export function fullText(at: number, timeZone: string): string {
  return `${clockText(at, timeZone)} (${instantText(at)})`;
}

/** `03:00`: the time of day of an instant on the clocks of a time zone. */
export function timeOfDay(at: number, timeZone: string): string {
  return shortTime(/T([\d:.]+)/.exec(isoIn(at, timeZone))?.[1] ?? "");
}

/** `03:00`: a time of day that is given as epoch milliseconds which it would be in UTC. */
export function wallTime(wall: number): string {
  return timeOfDay(wall, "UTC");
}

function shortTime(time: string): string {
  return time.replace(/^(\d\d:\d\d):00$/, "$1");
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

/** `0.1 s`, `12.4 s`, `3 min 5 s`, `2 d 4 h`: the two largest units. */
export function lengthText(ms: number): string {
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(ms < 100 ? 3 : 1))} s`;
  const place = UNITS.findIndex(([unit]) => ms >= unit);
  const [unit, name] = UNITS[place] ?? UNITS[2];
  const [lesser, lesserName] = UNITS[place + 1] ?? [1000, "s"];
  const rest = Math.floor((ms % unit) / lesser);
  return `${Math.floor(ms / unit)} ${name}${rest === 0 ? "" : ` ${rest} ${lesserName}`}`;
}
