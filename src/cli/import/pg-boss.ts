import type { Trigger } from "../../cron.ts";
import { RRuleTrigger } from "../../rrule/mod.ts";
import { isoIn } from "../engine.ts";
import { CliError } from "../failure.ts";
import {
  amountOf,
  Findings,
  instantOf,
  listOf,
  neededText,
  payloadOf,
  runAtOf,
  StaysBehind,
  wholeOf,
} from "./findings.ts";
import { cronParserTrigger } from "./foreign-cron.ts";
import type { Imported, ImportedRetry, ImportSettings } from "./imported.ts";
import { isObject, textOf, type YamlObject } from "./yaml.ts";

const FORM = '{ "schedules": await boss.getSchedules(), "jobs": await boss.findJobs(queue) }';
/** From here pg-boss counts for a rule that names no start. */
const EPOCH = "DTSTART:19700101T000000";

/** The schedules of pg-boss, and its jobs that wait. @param value what `FORM` shows, or the schedules alone */
export async function importPgBoss(value: unknown, settings: ImportSettings): Promise<Imported> {
  const all = Array.isArray(value) ? { schedules: value } : value;
  if (!isObject(all) || !(Array.isArray(all.schedules) || Array.isArray(all.jobs))) {
    throw new CliError("the file has no schedules of pg-boss", { lines: [`  ${FORM}`] });
  }
  const found = new Findings(settings);
  for (const one of listOf(all.schedules)) {
    const where = `schedule ${nameOf(one)}`;
    found.item(where, one, (item) => readSchedule(found, where, item));
  }
  for (const one of listOf(all.jobs)) {
    const where = `queue ${nameOf(one)}, job ${textOf((one as YamlObject | null)?.id) ?? "?"}`;
    found.item(where, one, (item) => readJob(found, where, camelCased(item)));
  }
  const active = amountOf(all, "active") ?? 0;
  if (active > 0) found.left("active", `jobs that run (${active}): let them end there`);
  return found.imported();
}

function nameOf(value: unknown): string {
  const { name, key } = Object(value) as YamlObject;
  return typeof key === "string" && key !== "" ? `${textOf(name) ?? "?"}/${key}` : (textOf(name) ?? "?");
}

function readSchedule(found: Findings, where: string, item: YamlObject): void {
  const queue = neededText(item, "name");
  const written = neededText(item, "cron");
  const options = isObject(item.options) ? item.options : {};
  const timeZone = textOf(item.timezone) ?? textOf(options.tz) ?? "UTC";
  const trigger: Trigger = CALENDAR.test(written)
    ? calendarTrigger(written, timeZone)
    : cronParserTrigger({
        ...{ text: written, system: "pg-boss", timeZone, seed: nameOf(item) },
        nowMs: found.settings.nowMs,
      });
  const notes: string[] = [];
  if (trigger instanceof RRuleTrigger) notes.push("programs on this store import escapement/rrule");
  if (options.retryLimit !== undefined) notes.push("retryLimit and retryDelay are the task's retry");
  if (options.expireInSeconds !== undefined) notes.push("expireInSeconds is the task's timeout");
  if (options.singletonKey !== undefined || options.singletonSeconds !== undefined) {
    notes.push("for singletonKey and singletonSeconds, choose an overlap");
  }
  const priority = wholeOf(options, "priority");
  const settings = {
    ...payloadOf(item.data ?? undefined),
    ...(priority === 0 ? {} : { priority }),
    // pg-boss sends what is due within a minute, and nothing of before.
    ...(options.missed === "once" ? {} : { catchUp: { maxAge: "1m" } }),
  };
  found.schedule({ where, id: nameOf(item), taskId: queue, written, trigger, settings, notes });
}

/** What tells a rule of iCalendar from one of cron, of which no field has a `:`, `;` or `=`. */
const CALENDAR = /^[ \t]*[a-z][a-z0-9-]*[;:]|(^|[\s;])FREQ=/im;
const UTC_START = /^DTSTART(?:;VALUE=DATE-TIME)?:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/i;

/** A rule as pg-boss takes it: lines of a calendar, or what follows `RRULE:` alone. */
function calendarTrigger(text: string, timeZone: string): RRuleTrigger {
  const lines = text
    .replace(/\r?\n[ \t]/g, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => (/^[a-z][a-z0-9-]*[;:]/i.test(line) ? line : `RRULE:${line}`))
    // An instant is a time of the wall clock in the zone of the schedule: later ones are at this time of day.
    .map((line) => line.replace(UTC_START, (_, ...digits: string[]) => startIn(timeZone, digits)));
  const start = lines.find((line) => /^DTSTART/i.test(line));
  const whole = (start === undefined ? [EPOCH, ...lines] : lines).join("\n");
  return /;TZID=|Z$/i.test(start ?? "") ? new RRuleTrigger(whole) : new RRuleTrigger(whole, { timeZone });
}

function startIn(timeZone: string, [year, month, day, hour, minute, second]: readonly string[]): string {
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(ms)) throw new StaysBehind("DTSTART must be an instant");
  return `DTSTART;TZID=${timeZone}:${isoIn(ms, timeZone).slice(0, 19).replace(/[-:]/g, "")}`;
}

function readJob(found: Findings, where: string, item: YamlObject): void {
  const queue = neededText(item, "name");
  // What pg-boss sends to itself.
  if (queue.startsWith("__pgboss__")) return;
  const state = textOf(item.state);
  if (state === "active") throw new StaysBehind("it runs: let it end there");
  if (state !== "created" && state !== "retry") return;
  if (item.blocked === true || wholeOf(item, "pendingDependencies") > 0) {
    throw new StaysBehind("it waits for other jobs: add them anew, with after");
  }
  if (item.deadLetter !== undefined && item.deadLetter !== null) {
    found.note("deadLetter is not needed: jobs that failed stay, and retryJobs repeats them");
  }
  if (typeof item.singletonKey === "string") {
    found.note("singletonKey is an option of additions: idempotencyKey, throttle or debounce");
  }
  if (typeof item.groupId === "string") found.note("group is concurrencyKey of the task");
  const priority = wholeOf(item, "priority");
  const retry = retryOf(item, state);
  const settings = {
    idempotencyKey: `pgboss/${neededText(item, "id")}`,
    ...payloadOf(item.data ?? undefined),
    ...runAtOf(instantOf(item, "startAfter"), found.settings.nowMs),
    ...(priority === 0 ? {} : { priority }),
    ...(retry === null ? {} : { retry }),
  };
  found.job({ where, taskId: queue, settings });
}

/** How often a job is tried from now on: one that failed has its count raised when it is fetched again. */
function retryOf(item: YamlObject, state: "created" | "retry"): ImportedRetry | null {
  const left = Math.min(wholeOf(item, "retryLimit"), 1000) - wholeOf(item, "retryCount");
  const maxAttempts = Math.max(1, state === "retry" ? left : left + 1);
  if (maxAttempts === 1) return null;
  const isGrowing = item.retryBackoff === true;
  const delayMs = Math.round((amountOf(item, "retryDelay") ?? 0) * 1000);
  const initial = delayMs === 0 && isGrowing ? "1s" : `${Math.max(1, delayMs)}ms`;
  return { maxAttempts, backoff: { initial, factor: isGrowing ? 2 : 1, jitter: isGrowing ? "full" : "none" } };
}

/** A row of the table has other names than the objects of pg-boss, and had others again before version 10. */
function camelCased(item: YamlObject): YamlObject {
  const entries = Object.entries(item).map(([name, value]) => {
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [BEFORE_10[camel] ?? camel, value] as const;
  });
  return Object.fromEntries(entries);
}

const BEFORE_10: Readonly<Record<string, string>> = {
  retrylimit: "retryLimit",
  retrycount: "retryCount",
  retrydelay: "retryDelay",
  retrybackoff: "retryBackoff",
  startafter: "startAfter",
  singletonkey: "singletonKey",
};
