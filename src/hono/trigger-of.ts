import { toDurationMs } from "../core/duration.ts";
import { OptionsError } from "../core/errors.ts";
import { mustBe, optionError, optionsError, unknownOption } from "../core/option-errors.ts";
import { checkTrigger, type Spreading } from "../scheduler/options/check-options.ts";
import { triggerFromJSON } from "../triggers/codec.ts";
import { DateTrigger } from "../triggers/date.ts";
import { IntervalTrigger } from "../triggers/interval.ts";
import type { Trigger } from "../triggers/trigger.ts";
import type { WireTrigger } from "./wire.ts";

/**
 * The trigger of a request. Crontab text without a time zone stays text, because the scheduler reads it in its own
 * zone.
 * @param spreading the id of the schedule, which picks the values of `H`
 * @throws {OptionsError} @throws {CronSyntaxError} @throws {DeserializationError}
 */
export function triggerOf(wire: WireTrigger, where: string, spreading: Spreading = {}): Trigger | string {
  if (typeof wire === "string") return wire;
  try {
    if ("type" in wire) return triggerFromJSON(wire);
    const { cron, every, at, timeZone } = textsOf(wire, where);
    if (cron !== undefined) return timeZone === undefined ? cron : checkTrigger(cron, where, timeZone, spreading);
    if (every !== undefined) return new IntervalTrigger({ milliseconds: toDurationMs(every, "every") });
    return new DateTrigger(at ?? "", timeZone === undefined ? {} : { timeZone });
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    const issues = error.issues.map(({ path, ...issue }) => ({ ...issue, path: pathWithin(path) }));
    throw new OptionsError(error.message, issues);
  }
}

const KINDS = ["cron", "every", "at"] as const;
const ADVICE: Readonly<Record<(typeof KINDS)[number], string>> = {
  cron: 'write such as { "cron": "0 9 * * *" }',
  every: 'write a period as text, such as { "every": "5m" } or { "every": "PT5M" }',
  at: 'write an instant as text, such as { "at": "2030-01-31T09:00:00Z" }',
};

function textsOf(wire: object, where: string): Partial<Record<(typeof KINDS)[number] | "timeZone", string>> {
  const kind = KINDS.find((name) => name in wire);
  if (kind === undefined) {
    const message = mustBe("crontab text, { cron }, { every }, { at } or the JSON of a trigger", wire);
    throw optionError(where, "trigger", message);
  }
  const known = kind === "every" ? [kind] : [kind, "timeZone"];
  for (const [name, value] of Object.entries(wire)) {
    if (!known.includes(name)) throw optionsError(where, [unknownOption(`trigger.${name}`, known)]);
    if (typeof value === "string") continue;
    throw optionsError(where, [{ path: `trigger.${name}`, message: mustBe("text", value, name, ADVICE[kind]) }]);
  }
  return wire;
}

function pathWithin(path: string): string {
  if (path === "" || path === "runTime") return path === "" ? "trigger" : "trigger.at";
  return path.startsWith("trigger") ? path : `trigger.${path}`;
}
