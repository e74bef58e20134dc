import { toDurationMs } from "../core/duration.ts";
import { OptionsError } from "../core/errors.ts";
import { mustBe, optionError, optionsError, unknownOption } from "../core/option-errors.ts";
import { triggerFromJSON } from "./codec.ts";
import { DateTrigger } from "./date.ts";
import { IntervalTrigger } from "./interval.ts";
import { resolveTimeZone } from "./options.ts";
import type { Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";

/**
 * A trigger as JSON can carry it: crontab text (in `timeZone`; default: the scheduler's), which may stand alone, a
 * period such as `"PT5M"` or `"5m"`, one instant (or, with `timeZone`, a civil time), or what `trigger.toJSON()`
 * returns.
 */
export type WireTrigger =
  | string
  | { readonly cron: string; readonly timeZone?: string | undefined }
  | { readonly every: string }
  | { readonly at: string; readonly timeZone?: string | undefined }
  | TriggerJSON;

/**
 * What is taken wherever a trigger is: a {@link Trigger}, crontab text in the time zone of the scheduler, one of the
 * short forms, or the JSON of a trigger. Only a `Trigger` has all options of its rule.
 *
 * @example
 * const triggers: TriggerLike[] = [
 *   "0 9 * * mon-fri",
 *   { cron: "0 9 * * mon-fri", timeZone: "Europe/Berlin" },
 *   { every: "15m" },
 *   { at: "2030-01-31T09:00", timeZone: "Europe/Berlin" },
 *   new IntervalTrigger({ minutes: 15 }),
 * ];
 */
export type TriggerLike = Trigger | WireTrigger;

/** What a short form means. Crontab text stays text, because its caller knows the scheduler's zone, and the id that
 *  picks the values of `H`. */
interface ShortFormMeaning {
  readonly rule: Trigger | string;
  /** That of crontab text, where it names one. */
  readonly timeZone?: string | undefined;
}

/** What an object means that is no trigger. @throws {OptionsError} @throws {DeserializationError} */
export function readShortTrigger(
  given: Readonly<Record<string, unknown>>,
  where: string,
  adviceOf: (value: unknown) => string | null,
): ShortFormMeaning {
  const kind = KINDS.find((name) => name in given);
  if ("type" in given) return { rule: triggerFromJSON(given) };
  if (kind === undefined) throw optionError(where, "trigger", mustBe(TRIGGER_FORMS, given, "", adviceOf(given)));
  const { [kind]: text = "", timeZone } = textsOf(given, kind, where);
  try {
    const zone = timeZone === undefined ? {} : { timeZone: resolveTimeZone(timeZone) };
    if (kind === "cron") return { rule: text, ...zone };
    if (kind === "at") return { rule: new DateTrigger(text, zone) };
    return { rule: new IntervalTrigger({ milliseconds: toDurationMs(text, "every") }) };
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    const issues = error.issues.map(({ path, ...issue }) => ({ ...issue, path: pathWithin(path) }));
    throw new OptionsError(error.message, issues);
  }
}

/** What stands for a trigger, for messages. */
export const TRIGGER_FORMS = "crontab text, { cron }, { every }, { at } or the JSON of a trigger";

const KINDS = ["cron", "every", "at"] as const;
type ShortKind = (typeof KINDS)[number];
const ADVICE: Readonly<Record<ShortKind, string>> = {
  cron: 'write such as { "cron": "0 9 * * *" }',
  every: 'write a period as text, such as { "every": "5m" } or { "every": "PT5M" }',
  at: 'write an instant as text, such as { "at": "2030-01-31T09:00:00Z" }',
};

function textsOf(given: object, kind: ShortKind, where: string): Partial<Record<ShortKind | "timeZone", string>> {
  const known = kind === "every" ? [kind] : [kind, "timeZone"];
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) throw optionsError(where, [unknownOption(`trigger.${name}`, known)]);
    if (typeof value === "string" || (name === "timeZone" && value === undefined)) continue;
    throw optionsError(where, [{ path: `trigger.${name}`, message: mustBe("text", value, name, ADVICE[kind]) }]);
  }
  return given;
}

function pathWithin(path: string): string {
  if (path === "" || path === "runTime") return path === "" ? "trigger" : "trigger.at";
  return path.startsWith("trigger") ? path : `trigger.${path}`;
}
