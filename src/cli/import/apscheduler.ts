import { withoutUndefined } from "../../core/without-undefined.ts";
import {
  AndTrigger,
  CalendarIntervalTrigger,
  type CronOptions,
  CronTrigger,
  DateTrigger,
  IntervalTrigger,
  OrTrigger,
  type Trigger,
} from "../../cron.ts";
import { CliError } from "../failure.ts";
import { amountOf, Findings, instantOf, isoOfMs, listOf, neededText, payloadOf, StaysBehind } from "./findings.ts";
import { differsAtChanges } from "./foreign-cron.ts";
import type { Imported, ImportedSchedule, ImportSettings } from "./imported.ts";
import { isObject, textOf, type YamlObject } from "./yaml.ts";

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const CRON_FIELDS = {
  ...{ year: "year", month: "month", day: "day", week: "week", day_of_week: "dayOfWeek" },
  ...{ hour: "hour", minute: "minute", second: "second" },
} as const;
const UNITS = ["years", "months", "weeks", "days"] as const;
const UNITS_S: Readonly<Record<string, number>> = {
  ...{ weeks: 604_800, days: 86_400, hours: 3600, minutes: 60, seconds: 1, microseconds: 0.000_001 },
};

/** The schedules of an APScheduler, as examples/apscheduler/export.py writes them. @param version which one is meant */
export async function importAPScheduler(value: unknown, version: 3 | 4, settings: ImportSettings): Promise<Imported> {
  const { apscheduler, jobs, schedules } = Object(value) as YamlObject;
  const list = version === 3 ? jobs : schedules;
  if (apscheduler !== version || !Array.isArray(list)) {
    const is =
      apscheduler === undefined ? "is not written by export.py" : `is of version ${JSON.stringify(apscheduler)}`;
    throw new CliError(`the file ${is}; --from apscheduler${version} takes what examples/apscheduler/export.py writes`);
  }
  const found = new Findings(settings);
  for (const one of list as readonly unknown[]) {
    const where = `${version === 3 ? "job" : "schedule"} ${textOf((one as YamlObject | null)?.id) ?? "?"}`;
    found.item(where, one, (item) => {
      const { notes, ...schedule } = version === 3 ? jobOf3(item) : scheduleOf4(item);
      const id = neededText(item, "id");
      const trigger = triggerOf(item.trigger, found);
      const dueMs = instantOf(item, "next_run_time") ?? instantOf(item, "next_fire_time");
      found.schedule({ where, id, written: trigger.describe(), trigger, notes, dueMs, ...schedule });
    });
  }
  return found.imported();
}

type OfSchedule = Pick<ImportedSchedule, "taskId" | "settings" | "notes">;

function jobOf3(item: YamlObject): OfSchedule {
  const taskId = textOf(item.func_ref);
  if (taskId === null) throw new StaysBehind("its function has no name, as a lambda: give it one, or write the task");
  const name = textOf(item.name);
  const jitter = isObject(item.trigger) ? amountOf(item.trigger, "jitter") : null;
  const instances = amountOf(item, "max_instances");
  const notes: string[] = [];
  if (jitter !== null) notes.push("jitter may also be earlier there");
  if (instances !== null && instances > 1) notes.push(`max_instances ${instances} is maxRunningJobs of the task`);
  if (item.executor !== undefined && item.executor !== "default") notes.push(`executor ${textOf(item.executor)}`);
  return {
    taskId,
    notes,
    settings: {
      ...(name === null || taskId.endsWith(`:${name}`) ? {} : { name: name.slice(0, 256) }),
      ...argumentsOf(item),
      ...graceOf(item),
      ...(item.coalesce === false ? { coalesce: "all" } : {}),
      ...(instances === 1 ? { overlap: "skip" } : {}),
      ...(jitter === null || jitter === 0 ? {} : { maxJitter: duration(jitter) }),
      // A job that was not yet added to its store has no such time.
      ...(item.next_run_time === null ? { paused: true } : {}),
    },
  };
}

function scheduleOf4(item: YamlObject): OfSchedule {
  const jitter = amountOf(item, "max_jitter");
  const { coalesce, metadata } = item;
  const notes: string[] = [];
  if (typeof item.job_executor === "string") notes.push(`job_executor ${item.job_executor} is executor of the task`);
  return {
    taskId: neededText(item, "task_id"),
    notes,
    settings: {
      ...argumentsOf(item),
      ...graceOf(item),
      ...(coalesce === "earliest" || coalesce === "all" ? { coalesce } : {}),
      ...(jitter === null || jitter === 0 ? {} : { maxJitter: duration(jitter) }),
      ...(item.paused === true ? { paused: true } : {}),
      ...(isObject(metadata) && Object.keys(metadata).length > 0 ? { metadata } : {}),
    },
  };
}

/** One payload in place of positional and named arguments. */
function argumentsOf(item: YamlObject): { readonly payload?: unknown } {
  const args = listOf(item.args);
  const named = isObject(item.kwargs) ? item.kwargs : {};
  const lost = /"not_json":"([^"]*)"/.exec(JSON.stringify([args, named]));
  if (lost !== null) throw new StaysBehind(`its arguments have a ${lost[1]}, which is no JSON`);
  if (args.length > 0 && Object.hasOwn(named, "args")) {
    throw new StaysBehind("it has positional arguments, and one of the name args: a payload has room for one of them");
  }
  if (args.length > 0) return payloadOf({ args, ...named });
  return Object.keys(named).length > 0 ? payloadOf(named) : {};
}

function graceOf(item: YamlObject): { readonly misfireGraceTime?: string } {
  const seconds = amountOf(item, "misfire_grace_time");
  return seconds === null || seconds === 0 ? {} : { misfireGraceTime: duration(seconds) };
}

function duration(seconds: number): string {
  return `${Math.max(1, Math.round(seconds * 1000))}ms`;
}

function triggerOf(value: unknown, found: Findings): Trigger {
  if (!isObject(value)) throw new StaysBehind("it has no trigger");
  switch (value.class) {
    case "CronTrigger":
      return cronTrigger(value, found);
    case "IntervalTrigger":
      return new IntervalTrigger({ milliseconds: Math.round(secondsOf(value) * 1000), ...bounds(value) });
    case "DateTrigger": {
      const at = instantOf(value, "run_date") ?? instantOf(value, "run_time");
      if (at === null) throw new StaysBehind("its trigger has no date");
      return new DateTrigger(isoOfMs(at));
    }
    case "CalendarIntervalTrigger":
      return calendarInterval(value, found);
    case "AndTrigger": {
      const threshold = amountOf(value, "threshold");
      // In version 3, times must be equal.
      return new AndTrigger(triggersOf(value, found), { threshold: threshold === null ? "1ms" : duration(threshold) });
    }
    case "OrTrigger":
      return new OrTrigger(triggersOf(value, found));
    default:
      throw new StaysBehind(`its trigger is a ${textOf(value.class) ?? "?"}, which is the program's own`);
  }
}

function triggersOf(value: YamlObject, found: Findings): Trigger[] {
  return listOf(value.triggers).map((trigger) => triggerOf(trigger, found));
}

function zoneOf(value: YamlObject, found: Findings): string {
  return found.zoneOf(textOf(value.timezone));
}

function bounds(value: YamlObject): { readonly startTime?: string; readonly endTime?: string } {
  const from = instantOf(value, "start_date") ?? instantOf(value, "start_time");
  const until = instantOf(value, "end_date") ?? instantOf(value, "end_time");
  return {
    ...(from === null ? {} : { startTime: isoOfMs(from) }),
    ...(until === null ? {} : { endTime: isoOfMs(until) }),
  };
}

/** The period: one number in version 3, and one for each unit in version 4. */
function secondsOf(value: YamlObject): number {
  const sum = Object.entries(UNITS_S).reduce((total, [unit, s]) => total + (amountOf(value, unit) ?? 0) * s, 0);
  return amountOf(value, "interval") ?? sum;
}

function calendarInterval(value: YamlObject, found: Findings): Trigger {
  const period = Object.fromEntries(UNITS.map((unit) => [unit, amountOf(value, unit) ?? 0]));
  const time = Object.fromEntries(["hour", "minute", "second"].map((name) => [name, amountOf(value, name) ?? 0]));
  const startDate = textOf(value.start_date)?.slice(0, 10);
  const endDate = textOf(value.end_date)?.slice(0, 10);
  return new CalendarIntervalTrigger({
    ...period,
    ...time,
    timeZone: zoneOf(value, found),
    // There a date is left out whose time clocks go over.
    dst: { gap: "skip" },
    ...(startDate === undefined ? {} : { startDate }),
    ...(endDate === undefined ? {} : { endDate }),
  });
}

const LEFT_OUT = { gap: "skip", overlap: "both" } as const;
const SHIFTED = { gap: "shift", overlap: "second" } as const;

/** Version 4 leaves out what clocks skip, and runs twice what comes twice. Version 3, which has a list of fields,
 *  shifts the one, and takes the second of the other; of rules of every hour it loses times, which stay here. */
function cronTrigger(value: YamlObject, found: Findings): Trigger {
  const fields = cronFields(value);
  const timeZone = zoneOf(value, found);
  const options = { timeZone, ...bounds(value) };
  const { second, minute, hour } = fields;
  const times = { ...withoutUndefined({ second, minute, hour }), day: "*" };
  const daily = (more: CronOptions) => new CronTrigger(times, { timeZone, ...more });
  const isHourly = new CronTrigger(fields, { timeZone, dst: LEFT_OUT }).options.dst === "auto";
  const dst = Array.isArray(value.fields) && !isHourly ? SHIFTED : LEFT_OUT;
  return new CronTrigger(fields, differsAtChanges(daily, dst, found.settings.nowMs) ? { ...options, dst } : options);
}

/** The fields that were given: a list of version 3, or values by their names in version 4. */
function cronFields(value: YamlObject): Record<string, string> {
  const listed = listOf(value.fields).filter(isObject);
  const given = Object.entries(CRON_FIELDS).flatMap(([theirs, ours]) => {
    const field = listed.find(({ name }) => name === theirs);
    const text = field === undefined ? value[theirs] : field.default === true ? undefined : field.text;
    if (text === undefined || text === null) return [];
    return [[ours, dialect(ours, String(text))] as const];
  });
  if (given.length === 0) throw new StaysBehind("its trigger has no fields");
  return Object.fromEntries(given);
}

function dialect(field: string, text: string): string {
  if (field === "dayOfWeek") return text.split(",").map(weekdays).join(",");
  return field === "day" ? text.replace(/(^|,)\s*last\s*(?=,|$)/gi, "$1L") : text;
}

/** Weekdays by their names, because Monday is 0 there. */
function weekdays(part: string): string {
  const match = /^(?:\*|(\d|[a-z]{3})(?:-(\d|[a-z]{3}))?)(?:\/(\d+))?$/i.exec(part.trim());
  if (match === null || part.trim() === "*") return part.trim();
  const [, from, until, step] = match;
  const first = from === undefined ? 0 : weekday(from);
  const last = until === undefined ? (step === undefined ? first : 6) : weekday(until);
  const names = WEEKDAYS.filter((_, day) => day >= first && day <= last && (day - first) % Number(step ?? 1) === 0);
  if (names.length === 0) throw new StaysBehind(`its trigger has a weekday that cannot be read: ${part}`);
  return names.join(",");
}

function weekday(text: string): number {
  const named = WEEKDAYS.indexOf(text.toLowerCase());
  return named === -1 ? Number(text) : named;
}
