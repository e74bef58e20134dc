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

/** The instant of an option, in epoch milliseconds. @throws {CliError} for other text */
export function instantOption(text: string | undefined, name: string, io: CliIo): number {
  if (text === undefined || text === "now") return io.clock.now();
  const ms = Date.parse(text);
  if (/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/.test(text) && Number.isFinite(ms)) return ms;
  throw new CliError(`--${name} must be an instant, such as 2030-01-31T09:00:00Z; got ${JSON.stringify(text)}`);
}

/** A whole number of an option. @throws {CliError} for other text */
export function countOption(text: string | undefined, name: string, otherwise: number, max: number): number {
  if (text === undefined) return otherwise;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
  throw new CliError(`--${name} must be a number from 1 to ${max}; got ${JSON.stringify(text)}`);
}
