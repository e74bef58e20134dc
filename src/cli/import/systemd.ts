import { IntervalTrigger, type Trigger } from "../../cron.ts";
import { Findings, StaysBehind } from "./findings.ts";
import { type Imported, type ImportSettings, idPart, UniqueIds } from "./imported.ts";
import { onCalendar } from "./on-calendar.ts";

/** What timers have that fires at no time of the calendar. */
const NO_CALENDAR = ["OnActiveSec", "OnBootSec", "OnStartupSec"];
const TIMERS = [...NO_CALENDAR, "OnCalendar", "OnUnitActiveSec", "OnUnitInactiveSec"];
const CHANGES = ["OnClockChange", "OnTimezoneChange"];

/** A line that assigns something. */
interface Assignment {
  /** Counted from 1. */
  readonly line: number;
  readonly key: string;
  readonly value: string;
}

/** One timer: a file, or those of `systemctl cat`, where comments name them. */
interface TimerUnit {
  readonly name: string | null;
  /** The last value of each setting. */
  readonly settings: Map<string, string>;
  /** What makes it elapse. An empty assignment takes away all that stand before it. */
  timers: Assignment[];
}

/** The timers of systemd: unit files, or lines of `OnCalendar=`. */
export async function importSystemd(text: string, settings: ImportSettings): Promise<Imported> {
  const found = new Findings(settings);
  const ids = new UniqueIds();
  for (const unit of unitsOf(text)) {
    for (const timer of unit.timers) {
      found.item(`line ${timer.line}`, timer, () => readTimer(found, ids, unit, timer));
    }
  }
  return found.importedFile();
}

const HEADER = /^#\s+\/\S*\/([^/\s]+)\.timer(?:\.d\/[^/\s]+\.conf)?$/;

function unitsOf(text: string): TimerUnit[] {
  const units: TimerUnit[] = [{ name: null, settings: new Map(), timers: [] }];
  let section = "Timer";
  for (const { line, text: written } of linesOf(text)) {
    const name = HEADER.exec(written)?.[1];
    let unit = units.at(-1);
    if (name !== undefined && name !== unit?.name) {
      unit = { name, settings: new Map(), timers: [] };
      units.push(unit);
    }
    section = /^\[(.*)\]$/.exec(written)?.[1] ?? section;
    const [, key = "", value = ""] = /^([A-Za-z]+)\s*=\s*(.*)$/s.exec(written) ?? [];
    if (unit === undefined || key === "" || (section !== "Timer" && key !== "Description")) continue;
    unit.settings.set(key, value);
    if (TIMERS.includes(key) && value === "") unit.timers = [];
    else if (TIMERS.includes(key) || (CHANGES.includes(key) && isTrue(value))) unit.timers.push({ line, key, value });
  }
  return units;
}

/** Lines, where those that end with a backslash go on in the next one. Comments between them are left out. */
function linesOf(text: string): { readonly line: number; readonly text: string }[] {
  const lines: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | null = null;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const trimmed = written.trim();
    if (open !== null && /^[#;]/.test(trimmed)) continue;
    const goesOn = trimmed.endsWith("\\") && !/^[#;]/.test(trimmed);
    const part = goesOn ? trimmed.slice(0, -1) : trimmed;
    const whole: { line: number; text: string } = open ?? { line: index + 1, text: "" };
    whole.text = `${whole.text} ${part}`.trim();
    if (open === null) lines.push(whole);
    open = goesOn ? whole : null;
  }
  return lines;
}

function isTrue(value: string | undefined): boolean {
  return /^(yes|y|true|t|on|1)$/i.test(value ?? "");
}

function readTimer(
  found: Findings,
  ids: UniqueIds,
  { name, settings }: TimerUnit,
  { line, key, value }: Assignment,
): void {
  if (NO_CALENDAR.includes(key) || CHANGES.includes(key)) {
    throw new StaysBehind(`${key} is no time of the calendar; call the task when the program starts`);
  }
  const unit = settings.get("Unit") || name || settings.get("Description") || "timer";
  const taskId = idPart(unit.replace(/\.service$/, ""));
  const id = ids.of(taskId);
  const trigger = triggerOf(found, key, value);
  const notes: string[] = [];
  if (key === "OnUnitInactiveSec") notes.push("systemd counts from the end of the last run, and this from its start");
  if (key === "OnCalendar" && !isTrue(settings.get("Persistent"))) {
    notes.push("without Persistent=, systemd drops what it missed; here misfireGraceTime says how late a run may be");
  }
  const delay = settings.get("RandomizedDelaySec") || "0";
  const delayMs = spanMs(delay);
  if (delayMs === null) notes.push(`RandomizedDelaySec=${delay} is not taken over`);
  const maxJitter = delayMs === null || delayMs % 1000 !== 0 ? `${delayMs}ms` : `${delayMs / 1000}s`;
  found.schedule({
    where: `line ${line}`,
    id,
    taskId,
    written: value,
    trigger,
    settings: delayMs === null || delayMs === 0 ? {} : { maxJitter },
    notes,
  });
}

function triggerOf({ settings: { timeZone, nowMs } }: Findings, key: string, value: string): Trigger {
  if (key === "OnCalendar") return onCalendar(value, timeZone, nowMs);
  const milliseconds = spanMs(value);
  if (milliseconds !== null && milliseconds > 0) return new IntervalTrigger({ milliseconds });
  throw new StaysBehind(`${key}=${value} is no time span that maps`);
}

const UNITS_MS: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(us|usec|µs|μs)$/, 0.001],
  [/^(ms|msec)$/, 1],
  [/^(s|sec|second|seconds|)$/, 1000],
  [/^(m|min|minute|minutes)$/, 60_000],
  [/^(h|hr|hour|hours)$/, 3_600_000],
  [/^(d|day|days)$/, 86_400_000],
  [/^(w|week|weeks)$/, 604_800_000],
  // As systemd counts them: 30.44 and 365.25 days.
  [/^(M|month|months)$/, 2_629_800_000],
  [/^(y|year|years)$/, 31_557_600_000],
];
const SPAN = /(\d+(?:\.\d+)?)\s*([a-zµμ]*)\s*/gi;

/** A time span of systemd, such as `1h 30min`, in milliseconds; null for one that does not map. */
function spanMs(text: string): number | null {
  if (text.replace(SPAN, "") !== "" || text === "" || text.length > 100) return null;
  let total = 0;
  for (const [, count, unit = ""] of text.matchAll(SPAN)) {
    const ms = UNITS_MS.find(([names]) => names.test(unit))?.[1];
    if (ms === undefined) return null;
    total += Number(count) * ms;
  }
  return Math.round(total);
}
