import { zonedOf } from "../core/temporal.ts";
import { zoneTable } from "../cron/zone.ts";

/** The tables of time zones know the offsets from here on. */
const TABLE_LO_MS = 2 * 86_400_000;

/** ISO 8601 text of epoch milliseconds, in UTC. A number that is no instant gives its digits. */
export function isoOf(epochMs: number): string {
  // A trigger of the user's may answer with what is no number.
  return typeof epochMs === "number" && Math.abs(epochMs) <= 8.64e15
    ? new Date(epochMs).toISOString().replace(".000Z", "Z")
    : String(epochMs);
}

/** ISO 8601 text of epoch milliseconds as a clock of a time zone shows it: `2026-01-01T00:00:00+01:00`. */
export function isoIn(epochMs: number, timeZone: string): string {
  // The offset of a zone would lead beyond what Temporal represents at its very ends, where nothing fires.
  if (timeZone === "UTC" || Math.abs(epochMs) > 8.6e15) return isoOf(epochMs);
  const offset = epochMs < TABLE_LO_MS ? null : zoneTable(timeZone).offsetAt(Math.floor(epochMs / 1000));
  // Temporal rounds an offset that has seconds.
  if (offset === null || offset % 60 !== 0) return zonedOf(epochMs, timeZone).toString({ timeZoneName: "never" });
  const local = new Date(epochMs + offset * 1000).toISOString().replace(/\.?0+Z$|Z$/, "");
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 3600), (Math.abs(offset) / 60) % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${local}${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
}

/** `Every day`, `Every 2 hours`, `Every 1 day, 12 hours and 5 minutes`: the amounts above zero, coarsest first. */
export function periodText(amounts: readonly (readonly [count: number, unit: string])[]): string {
  const parts = amounts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count > 1 ? "s" : ""}`);
  const last = parts.pop() ?? "";
  return `Every ${parts.length === 0 ? last.replace(/^1 /, "") : `${parts.join(", ")} and ${last}`}`;
}

/** `, from ... until ...`, with the parts that are given. */
export function boundsText(from: string | null, until: string | null): string {
  const start = from === null ? "" : ` from ${from}`;
  const end = until === null ? "" : ` until ${until}`;
  return start + end === "" ? "" : `,${start}${end}`;
}
