import { durationOption } from "./durations.ts";
import { firstInstantOf } from "./engine.ts";
import { CliError } from "./failure.ts";
import type { CliIo } from "./io.ts";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** ISO text with an offset, as people read it: `Sun 2027-03-28 03:00 +02:00`. Seconds are shown if asked for. */
export function readableTime(iso: string, withSeconds: boolean): string {
  const match = /^(\d+-\d\d-\d\d)T(\d\d:\d\d):(\d\d(?:\.\d+)?)(Z|[+-].*)$/.exec(iso);
  if (match === null) return iso;
  const [, date = "", minutes = "", seconds = "", offset = ""] = match;
  const weekday = WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "";
  return `${weekday} ${date} ${minutes}${withSeconds ? `:${seconds}` : ""} ${offset === "Z" ? "+00:00" : offset}`;
}

/** An instant in UTC, to the second. */
export function instantText(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/** The instant of an option, in epoch milliseconds. What names no offset is a time of a zone's clocks, in the order in
 *  which they show it: the first of two, or where they go over it, the first after it.
 *  @throws {CliError} for other text */
export function instantOption(text: string | undefined, name: string, io: CliIo, timeZone = "UTC"): number {
  if (text === undefined || text === "now") return io.clock.now();
  const [, date, time = "00:00", offset] = INSTANT.exec(text) ?? [];
  const wallMs = date === undefined ? Number.NaN : Date.parse(`${date}T${time}Z`);
  // Some runtimes read 30 February as 2 March.
  if (Number.isFinite(wallMs) && new Date(wallMs).toISOString().startsWith(date ?? "")) {
    return offset === undefined ? firstInstantOf(wallMs, timeZone) : Date.parse(`${date}T${time}${offset}`);
  }
  const advice = `an instant, such as 2030-01-31T09:00:00Z, or what clocks show in ${timeZone}: "2030-01-31 09:00"`;
  throw new CliError(`--${name} must be ${advice}; got ${JSON.stringify(text)}`);
}

const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

/** Whether the text of an option is a time of clocks, whose zone matters. */
export function isWallTime(text: string | undefined): boolean {
  const match = text === undefined ? null : INSTANT.exec(text);
  return match !== null && match[3] === undefined;
}

/** A whole number of an option. @throws {CliError} for other text */
export function countOption(text: string | undefined, name: string, otherwise: number, max: number): number {
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
  throw new CliError(`--${name} must be a number from 1 to ${max}; got ${JSON.stringify(text)}`);
}

/** How long ago or ahead something is, in one or two units: `3d 4h`, `12m`, `0.4s`. */
export function spanText(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10}s`;
  const units: readonly (readonly [number, string])[] = [
    [86_400, "d"],
    [3600, "h"],
    [60, "m"],
    [1, "s"],
  ];
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0 && parts.length < 2) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.join(" ");
}

/** An instant of a scheduler as a zone's clocks show it, to the second where it has seconds; a dash for none. */
export function zonedText(zoned: { toString(options: { timeZoneName: "never" }): string } | null): string {
  if (zoned === null) return "-";
  const text = zoned.toString({ timeZoneName: "never" });
  return readableTime(text, !/T\d\d:\d\d:00[Z+-]/.test(text)).slice(4);
}

/** An instant of a scheduler in UTC, to the second: `2030-01-31 09:00:00Z`; a dash for none. */
export function utcText(instant: { readonly epochMilliseconds: number } | null): string {
  return instant === null
    ? "-"
    : `${new Date(instant.epochMilliseconds).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** An instant of an option: itself, or a duration that is counted back from now: `24h`. */
export function sinceOption(text: string | undefined, name: string, io: CliIo, timeZone?: string): string | undefined {
  if (text === undefined) return undefined;
  if (DURATION.test(text)) return instantText(io.clock.now() - durationOption(text, name, 0));
  return instantText(instantOption(text, name, io, timeZone));
}

/** An instant of an option: itself, or a duration from now on: `2h`. */
export function aheadOption(text: string | undefined, name: string, io: CliIo, timeZone?: string): string | undefined {
  if (text === undefined) return undefined;
  if (DURATION.test(text)) return instantText(io.clock.now() + durationOption(text, name, 0));
  return instantText(instantOption(text, name, io, timeZone));
}

const DURATION = /^\d+(\.\d+)?[a-z]+$/i;
