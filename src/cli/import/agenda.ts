import { CronTrigger, IntervalTrigger, type Trigger } from "../../cron.ts";
import { CliError } from "../failure.ts";
import {
  amountOf,
  Findings,
  instantOf,
  isoOfMs,
  listOf,
  neededText,
  payloadOf,
  runAtOf,
  StaysBehind,
  wholeOf,
} from "./findings.ts";
import { cronParserTrigger } from "./foreign-cron.ts";
import type { Imported, ImportSettings } from "./imported.ts";
import { isObject, textOf, type YamlObject } from "./yaml.ts";

const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ["second", 1000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000],
  ["week", 604_800_000],
  // As Agenda counts them.
  ["month", 30 * 86_400_000],
  ["year", 365 * 86_400_000],
]);
const NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** The jobs of Agenda: lines of mongoexport, or what `queryJobs()` gives. */
export async function importAgenda(value: unknown, settings: ImportSettings): Promise<Imported> {
  const list = isObject(value) && Array.isArray(value.jobs) ? value.jobs : isObject(value) ? [value] : value;
  const isOfJobs = Array.isArray(list) && (list.length === 0 || list.some((item) => isObject(item) && "name" in item));
  if (!isOfJobs)
    throw new CliError("the file has no jobs of Agenda: mongoexport writes them, or queryJobs() gives them");
  const found = new Findings(settings);
  for (const one of listOf(list)) {
    const where = `job ${textOf((one as YamlObject | null)?.name) ?? "?"} ${idOf(one)}`;
    found.item(where, one, (item) => read(found, where, item));
  }
  return found.imported();
}

/** The `_id`, as MongoDB or another backend writes it. */
function idOf(value: unknown): string {
  const { _id } = Object(value) as YamlObject;
  return (isObject(_id) ? textOf(_id.$oid) : textOf(_id)) ?? "";
}

function read(found: Findings, where: string, item: YamlObject): void {
  const name = neededText(item, "name");
  const id = idOf(item);
  const skipDays = listOf(item.skipDays);
  const repeat = item.repeatInterval ?? undefined;
  const repeatAt = textOf(item.repeatAt);
  const priority = wholeOf(item, "priority");
  const more = { ...payloadOf(item.data ?? undefined), ...(priority === 0 ? {} : { priority }) };
  if (item.fork === true) found.note("fork is an executor of the task");
  if (repeat === undefined && repeatAt === null) {
    if (id === "") throw new StaysBehind("it has no _id, by which it would be added once");
    readOnce(found, where, item, { idempotencyKey: `agenda/${name}/${id}`, ...more });
    return;
  }
  if (skipDays.length > 0) {
    throw new StaysBehind("it has skipDays, which move runs: write the days of the rule, or an ExcludingTrigger");
  }
  const { trigger, written } = triggerOf(found, item, repeat, repeatAt);
  // Of those that every() makes there is one for each name.
  const scheduleId = item.type === "single" || id === "" ? name : `${name}/${id}`;
  const settings = { ...more, ...(item.disabled === true ? { paused: true } : {}) };
  const dueMs = instantOf(item, "nextRunAt");
  found.schedule({ where, id: scheduleId, taskId: name, written, trigger, settings, notes: [], dueMs });
}

function readOnce(
  found: Findings,
  where: string,
  item: YamlObject,
  settings: { readonly idempotencyKey: string; readonly payload?: unknown; readonly priority?: number },
): void {
  const nextRunAt = instantOf(item, "nextRunAt");
  if (nextRunAt === null) {
    found.note("jobs that have ended stay where they are");
    return;
  }
  const startedAt = instantOf(item, "lastRunAt") ?? 0;
  if (instantOf(item, "lockedAt") !== null && startedAt > (instantOf(item, "lastFinishedAt") ?? 0)) {
    throw new StaysBehind("it runs: let it end there");
  }
  if (item.disabled === true) throw new StaysBehind("it is disabled, and has no schedule: add it when it may run");
  const taskId = neededText(item, "name");
  found.job({ where, taskId, settings: { ...settings, ...runAtOf(nextRunAt, found.settings.nowMs) } });
}

function triggerOf(
  found: Findings,
  item: YamlObject,
  repeat: unknown,
  repeatAt: string | null,
): { readonly trigger: Trigger; readonly written: string } {
  const from = instantOf(item, "startDate");
  const until = instantOf(item, "endDate");
  const endTime = until === null ? {} : { endTime: isoOfMs(until) };
  const startTime = from === null ? {} : { startTime: isoOfMs(from) };
  if (repeat === undefined) {
    const timeZone = found.zoneOf(textOf(item.repeatTimezone));
    const trigger = new CronTrigger(ruleOfTime(repeatAt ?? ""), { timeZone, ...startTime, ...endTime });
    return { trigger, written: `at ${repeatAt}` };
  }
  const written = typeof repeat === "number" ? `${repeat}` : (textOf(repeat) ?? "");
  const milliseconds = intervalMs(isObject(repeat) ? amountOf({ repeat: Object.values(repeat)[0] }, "repeat") : repeat);
  if (milliseconds === null) {
    const timeZone = found.zoneOf(textOf(item.repeatTimezone));
    const seed = neededText(item, "name");
    const rule = { text: written, system: "Agenda", timeZone, seed, ...startTime, ...endTime };
    return { trigger: cronParserTrigger({ ...rule, nowMs: found.settings.nowMs }), written };
  }
  // It goes on at the time at which Agenda would run it next.
  const next = instantOf(item, "nextRunAt") ?? from;
  const start = next === null ? {} : { startTime: isoOfMs(next) };
  const unit = /[a-z]/i.test(written) ? "" : " ms";
  const trigger = new IntervalTrigger({ milliseconds, ...start, ...endTime });
  return { trigger, written: `every ${written === "" ? milliseconds : written}${unit}` };
}

/** The length of "3 minutes and 20 seconds", or of a number of milliseconds; null for a rule of cron. */
function intervalMs(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return Math.round(number);
  if (typeof value !== "string" || !/(second|minute|hour|day|week|month|year)/i.test(value)) return null;
  // Agenda takes the length for the rule: it runs @hourly an hour after the last run.
  const nickname = /^@(.*)$/.exec(value);
  if (/^@week(day|end)s$/.test(value)) {
    throw new StaysBehind(`${value} is a length for Agenda: write the days, as 0 0 * * mon-fri, or a number of days`);
  }
  let sum = 0;
  const parts = (nickname?.[1]?.replace(/ly$/, "") ?? value)
    .toLowerCase()
    .split(/[\s,&]+|\band\b/)
    .filter((part) => part !== "");
  for (let index = 0; index < parts.length; index++) {
    const unit = (parts[index] ?? "").replace(/s$/, "");
    const isAlone = UNITS_MS.has(unit);
    const count = isAlone ? 1 : numberOf(parts[index] ?? "");
    const ms = UNITS_MS.get(isAlone ? unit : (parts[++index] ?? "").replace(/s$/, ""));
    if (ms === undefined || count === null) throw new StaysBehind(`cannot be read: every ${JSON.stringify(value)}`);
    sum += count * ms;
  }
  return Math.round(sum);
}

function numberOf(word: string): number | null {
  if (/^\d+(\.\d+)?$/.test(word)) return Number(word);
  const index = word === "a" || word === "an" ? 0 : NUMBERS.indexOf(word);
  return index === -1 ? null : index + 1;
}

/** A rule of cron for "3:30pm". */
function ruleOfTime(text: string): string {
  const match = /^\s*(?:at\s+)?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?\s*$/i.exec(text);
  const [, hours = "", minutes = "0", half] = match ?? [];
  if (match === null || (half === undefined && match[2] === undefined)) {
    throw new StaysBehind(`cannot be read: at ${JSON.stringify(text)}`);
  }
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  return `${Number(minutes)} ${hour} * * *`;
}
