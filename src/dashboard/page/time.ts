// Times and durations as people read them. Instants are epoch milliseconds here, and ISO 8601 text on the wire.

/** In whose zone times are shown. */
export type ZoneMode = "schedule" | "mine" | "utc";

/** The zone of this browser. */
export const MY_ZONE: string = new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** The zone to show a time in. @param ofSchedule the zone of the rule; null where there is none */
export function zoneOf(mode: ZoneMode, ofSchedule: string | null = null): string {
  if (mode === "utc") return "UTC";
  return mode === "mine" || ofSchedule === null || !isZone(ofSchedule) ? MY_ZONE : ofSchedule;
}

/** Whether this browser knows the zone. */
function isZone(zone: string): boolean {
  try {
    return formatOf(zone, { hour: "2-digit" }) !== null;
  } catch {
    return false;
  }
}

/** All zones that this browser knows. */
export function zoneNames(): string[] {
  return ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone, hourCycle: "h23" });
  formats.set(key, known);
  return known;
}

/** `13:43`, or `13:43:20` where seconds matter. */
export function clockText(ms: number, zone: string, hasSeconds: boolean = ms % 60_000 !== 0): string {
  const seconds = hasSeconds ? ({ second: "2-digit" } as const) : {};
  return formatOf(zone, { hour: "2-digit", minute: "2-digit", ...seconds }).format(ms);
}

/** `02:30:00.201`. */
export function preciseText(ms: number, zone: string): string {
  return `${clockText(ms, zone, true)}.${String(Math.floor(ms) % 1000).padStart(3, "0")}`;
}

/** `Sun 29 Mar`, with the year where it is not this one. */
export function dayText(ms: number, zone: string, nowMs: number): string {
  const year = formatOf(zone, { year: "numeric" });
  const shown = year.format(ms) === year.format(nowMs) ? {} : ({ year: "numeric" } as const);
  return formatOf(zone, { weekday: "short", day: "numeric", month: "short", ...shown })
    .format(ms)
    .replace(",", "");
}

/** `today`, `tomorrow`, `yesterday`, or the day. */
function nearDayText(ms: number, zone: string, nowMs: number): string {
  const day = (at: number) => formatOf(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).format(at);
  const shown = day(ms);
  if (shown === day(nowMs)) return "today";
  if (shown === day(nowMs + DAY_MS)) return "tomorrow";
  return shown === day(nowMs - DAY_MS) ? "yesterday" : dayText(ms, zone, nowMs);
}

/** `today 13:43`, `Sun 29 Mar 03:00`. */
export function whenText(ms: number, zone: string, nowMs: number): string {
  return `${nearDayText(ms, zone, nowMs)} ${clockText(ms, zone)}`;
}

/** `+02:00`. */
export function offsetText(ms: number, zone: string): string {
  const parts = formatOf(zone, { timeZoneName: "longOffset" }).formatToParts(ms);
  const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  return text === "GMT" ? "+00:00" : text.replace("GMT", "");
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
export function offsetMs(ms: number, zone: string): number {
  const [hours = 0, minutes = 0] = offsetText(ms, zone).split(":").map(Number);
  return (hours * 60 + Math.sign(hours) * minutes) * MINUTE_MS;
}

/** All of an instant, for a tooltip: `Sun 29 Mar 2026 03:00:00 +02:00 Europe/Berlin`. */
export function fullText(ms: number, zone: string): string {
  return `${dayText(ms, zone, 0)} ${clockText(ms, zone, true)} ${offsetText(ms, zone)} ${zone}`;
}

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** `in 4 s`, `in 17 min`, `3 h ago`, `now`. */
export function relativeText(ms: number, nowMs: number): string {
  const away = Math.abs(ms - nowMs);
  if (away < 1000) return "now";
  const text = roughText(away);
  return ms > nowMs ? `in ${text}` : `${text} ago`;
}

/** One unit, cut: `4 s`, `17 min`, `3 h`, `2 days`. */
export function roughText(ms: number): string {
  if (ms < 60_000) return `${Math.max(1, Math.floor(ms / 1000))} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / DAY_MS)} days`;
}

/** A duration to two digits or so: `14 ms`, `1.9 s`, `12 s`, `2 min 10 s`, `1 h 5 min`. */
export function durationText(ms: number): string {
  if (ms < 1) return "0 ms";
  if (ms < 1000) return ms < 100 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const [big, small, unit, part] = ms < 3_600_000 ? [60_000, 1000, "min", "s"] : [3_600_000, 60_000, "h", "min"];
  if (ms >= 2 * DAY_MS) return `${Math.round(ms / DAY_MS)} days`;
  const rest = Math.floor((ms % Number(big)) / Number(small));
  return `${Math.floor(ms / Number(big))} ${unit}${rest === 0 ? "" : ` ${rest} ${part}`}`;
}

/** Milliseconds of an ISO 8601 duration without years and months; null for null. */
export function durationMs(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  const found = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(text);
  if (found === null) return null;
  const [weeks, days, hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0));
  return (
    ((((weeks ?? 0) * 7 + (days ?? 0)) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1000
  );
}

/** Epoch milliseconds of an instant; null for null. */
export function msOf(instant: string): number;
export function msOf(instant: string | null | undefined): number | null;
export function msOf(instant: string | null | undefined): number | null {
  return instant === null || instant === undefined ? null : Date.parse(instant);
}
