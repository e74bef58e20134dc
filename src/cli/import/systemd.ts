import { EscapementError, IntervalTrigger, type Trigger } from "../../cron.ts";
import { messageOf } from "../failure.ts";
import {
  type Imported,
  type ImportedSchedule,
  type ImportProblem,
  type ImportSettings,
  idPart,
  UniqueIds,
} from "./imported.ts";
import { onCalendar } from "./on-calendar.ts";

/** What timers have that fires at no time of the calendar. */
const NO_CALENDAR = ["OnActiveSec", "OnBootSec", "OnStartupSec", "OnClockChange", "OnTimezoneChange"];

/** The timers of systemd: a unit file, or lines of `OnCalendar=`. */
export function importSystemd(text: string, { timeZone, taskId }: ImportSettings): Imported {
  const schedules: ImportedSchedule[] = [];
  const problems: ImportProblem[] = [];
  const ids = new UniqueIds();
  const lines = text
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.trim());
  const settingOf = (key: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`${key}=`))
      ?.slice(key.length + 1)
      .trim();
  const unit = (settingOf("Unit") ?? settingOf("Description") ?? "timer").replace(/\.service$/, "");
  const delay = settingOf("RandomizedDelaySec");
  const delaySeconds = delay === undefined ? undefined : secondsOf(delay);
  const maxJitter = delaySeconds === undefined ? undefined : `${delaySeconds}s`;
  for (const [index, line] of lines.entries()) {
    const match = /^(On\w+)=(.*)$/.exec(line);
    const [, key = "", written = ""] = match ?? [];
    if (match === null || written === "") continue;
    const where = `line ${index + 1}`;
    if (NO_CALENDAR.includes(key)) {
      problems.push({ where, message: `${key} is no time of the calendar; call the task when the program starts` });
      continue;
    }
    if (!["OnCalendar", "OnUnitActiveSec", "OnUnitInactiveSec"].includes(key)) continue;
    const found = triggerOf(key, written, timeZone);
    if (typeof found === "string") {
      problems.push({ where, message: `${key}=${written}: ${found}` });
      continue;
    }
    const notes: string[] = [];
    if (key === "OnUnitInactiveSec") notes.push("systemd counts from the end of the last run, and this from its start");
    if (key === "OnCalendar" && !/^(yes|true|on|1)$/i.test(settingOf("Persistent") ?? "")) {
      notes.push("without Persistent=, systemd drops what it missed; here misfireGraceTime says how late a run may be");
    }
    if (delay !== undefined && maxJitter === undefined) notes.push(`RandomizedDelaySec=${delay} is not taken over`);
    const settings = maxJitter === undefined ? {} : { maxJitter };
    schedules.push({
      where,
      id: ids.of(idPart(unit)),
      taskId: taskId ?? idPart(unit),
      written,
      trigger: found,
      settings,
      notes,
    });
  }
  return { schedules, problems };
}

/** The trigger; or why there is none. */
function triggerOf(key: string, written: string, timeZone: string): Trigger | string {
  try {
    if (key === "OnCalendar") return onCalendar(written, timeZone);
    const seconds = secondsOf(written);
    return seconds === undefined ? "is no time span that maps" : new IntervalTrigger({ seconds });
  } catch (error) {
    if (error instanceof EscapementError) return messageOf(error).replace(/ \(position .*?"\)(?=;|$)/, "");
    throw error;
  }
}

const UNITS: readonly (readonly [names: RegExp, seconds: number])[] = [
  [/^(s|sec|second|seconds|)$/, 1],
  [/^(m|min|minute|minutes)$/, 60],
  [/^(h|hr|hour|hours)$/, 3600],
  [/^(d|day|days)$/, 86_400],
];

/** A time span of systemd, such as `1h 30min`, in seconds; undefined for one that does not map. */
function secondsOf(text: string): number | undefined {
  if (!/^(\d+\s*[a-z]*\s*)+$/i.test(text.trim()) || text.length > 100) return undefined;
  let total = 0;
  for (const [, count, unit = ""] of text.matchAll(/(\d+)\s*([a-z]*)/gi)) {
    const seconds = UNITS.find(([names]) => names.test(unit))?.[1];
    if (seconds === undefined) return undefined;
    total += Number(count) * seconds;
  }
  return total;
}
