import { DeserializationError, type Issue, OptionsError } from "../core/errors.ts";
import { mustBe, optionsError } from "../core/option-errors.ts";
import { toEpochMs } from "../core/temporal.ts";
import { CRON_TEXT_LENGTH_MAX } from "../cron/limits.ts";
import { CalendarIntervalTrigger } from "./calendar-interval.ts";
import { toEpochDay } from "./civil-date.ts";
import { AndTrigger, OrTrigger } from "./combining.ts";
import { type CronOptions, CronTrigger } from "./cron.ts";
import { DateTrigger } from "./date.ts";
import { ExcludingTrigger } from "./excluding.ts";
import { IntervalTrigger } from "./interval.ts";
import { COMBINED_TRIGGERS_MAX, TRIGGER_DEPTH_MAX } from "./limits.ts";
import { Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";

/** Reads a child trigger from its parent's JSON. `path` says where the child stands in that JSON, for error
 *  messages. */
export type ReadTrigger = (json: unknown, path: string) => Trigger;

/** How the triggers of one tag come back from JSON. */
export interface TriggerCodec {
  /** The newest version that {@link fromJSON} reads, which is the one that `toJSON` writes. */
  readonly version: number;
  /** Makes the trigger. An error that this function throws becomes the cause of a `DeserializationError`. */
  fromJSON(json: TriggerJSON, read: ReadTrigger): Trigger;
}

const builtIn: Readonly<Record<string, TriggerCodec>> = {
  date: codec(({ runTime, ...options }) => new DateTrigger(text(runTime, "runTime"), checkedLater(options))),
  interval: codec(({ anchor, ...options }) => {
    return new IntervalTrigger(checkedLater(options), anchor === undefined ? null : toEpochMs(text(anchor, "anchor")));
  }),
  calendarInterval: codec(({ anchor, ...options }) => {
    const anchorDay = anchor === undefined ? null : toEpochDay(text(anchor, "anchor"), "anchor");
    return new CalendarIntervalTrigger(checkedLater(options), anchorDay);
  }),
  cron: codec(({ expression, written, ...options }) => {
    const shown = written === undefined ? null : text(written, "written").slice(0, CRON_TEXT_LENGTH_MAX);
    return new CronTrigger(text(expression, "expression"), checkedLater<CronOptions>(options), shown);
  }),
  or: codec(({ triggers }, read) => new OrTrigger(readAll(triggers, read))),
  and: codec(({ triggers, ...options }, read) => new AndTrigger(readAll(triggers, read), checkedLater(options))),
  excluding: codec(({ trigger, excluded, ...options }, read) => {
    const out = Array.isArray(excluded) ? excluded : read(excluded, "excluded");
    return new ExcludingTrigger(read(trigger, "trigger"), out, checkedLater(options));
  }),
};
const registered = new Map<string, TriggerCodec>();

/**
 * Teaches `triggerFromJSON` a tag. The subclass's `toJSON` writes the tag as its `type`. Call this function at module
 * scope, in every program that may read the trigger from a store.
 *
 * The codec that was registered last counts, so a module may be loaded again while the program runs. Put the name of
 * your package into the tag, so that no other package replaces your codec.
 *
 * @throws {OptionsError} when the tag is that of a built-in trigger, or the codec is none
 * @example
 * registerTrigger("weekdaysOnly", {
 *   version: 1,
 *   fromJSON: (json, read) => new WeekdaysOnly(read(json.trigger, "trigger")),
 * });
 */
export function registerTrigger(tag: string, codec: TriggerCodec): void {
  const issue = problemOf(tag, codec);
  if (issue !== null) throw optionsError("registerTrigger()", [issue]);
  registered.set(tag, codec);
}

function problemOf(tag: unknown, codec: Partial<TriggerCodec> | null | undefined): Issue | null {
  if (typeof tag !== "string" || tag === "") return { path: "tag", message: mustBe("text that is not empty", tag) };
  if (Object.hasOwn(builtIn, tag)) {
    const advice = "put the name of your package into it";
    return { path: "tag", message: mustBe("another tag than those of built-in triggers", tag, "tag", advice) };
  }
  const isCodec = typeof codec?.fromJSON === "function" && Number.isInteger(codec.version) && Number(codec.version) > 0;
  const what = "{ version, fromJSON }, whose version is a whole number of 1 or more";
  return isCodec ? null : { path: "codec", message: mustBe(what, codec) };
}

/**
 * The trigger that some JSON (`json`, an object and no text) describes: it gives the same answers as the trigger whose
 * `toJSON` wrote the JSON.
 *
 * @throws {DeserializationError} naming the path to what is malformed: no trigger JSON, a tag that is not registered,
 *   a newer version, or fields that the trigger refuses, whose error is the cause
 * @example
 * const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
 */
export function triggerFromJSON(json: unknown): Trigger {
  return readAt(json, "", 1);
}

function readAt(json: unknown, path: string, depth: number): Trigger {
  const refuse = (problem: string, cause?: unknown): DeserializationError =>
    new DeserializationError(`${path === "" ? "trigger" : `trigger at ${path}`}: ${problem}`, { cause });
  if (depth > TRIGGER_DEPTH_MAX) throw refuse(`nests deeper than ${TRIGGER_DEPTH_MAX} levels`);
  if (!isTriggerJSON(json)) throw refuse("expected an object with a text `type` and a whole-number `version`");
  const { type, version } = json;
  const codec = Object.hasOwn(builtIn, type) ? builtIn[type] : registered.get(type);
  if (codec === undefined) {
    const types = [...Object.keys(builtIn), ...registered.keys()].join(", ");
    const advice = "call registerTrigger for another before the store is read";
    throw refuse(`the type ${quoted(type)} is unknown; the types are ${types}; ${advice}`);
  }
  if (version > codec.version) {
    throw refuse(`${quoted(type)} has version ${version}, newer than ${codec.version}, the newest known; update first`);
  }
  try {
    const trigger = codec.fromJSON(json, (child, at) => readAt(child, path === "" ? at : `${path}.${at}`, depth + 1));
    if (trigger instanceof Trigger) return trigger;
  } catch (cause) {
    // The error of a child names the child's own path already.
    if (cause instanceof DeserializationError) throw cause;
    throw refuse(cause instanceof Error ? cause.message : String(cause), cause);
  }
  throw refuse(`the codec of ${quoted(type)} returned no trigger`);
}

type JSONFields = Readonly<Record<string, unknown>>;

/** A codec of version 1 that gets the fields alone. */
function codec(make: (fields: JSONFields, read: ReadTrigger) => Trigger): TriggerCodec {
  return { version: 1, fromJSON: ({ type: _type, version: _version, ...fields }, read) => make(fields, read) };
}

/** Fields that are used as options without a check, because the trigger's constructor checks them in full. */
function checkedLater<Options>(fields: JSONFields): Options {
  return fields as Options;
}

function readAll(list: unknown, read: ReadTrigger): Trigger[] {
  if (!Array.isArray(list)) throw new OptionsError("triggers: expected a list");
  return list.slice(0, COMBINED_TRIGGERS_MAX + 1).map((child, index) => read(child, `triggers.${index}`));
}

function text(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw new OptionsError(`${path}: expected text`, [{ path, message: "expected text" }]);
}

function isTriggerJSON(value: unknown): value is TriggerJSON {
  return (
    typeof value === "object" &&
    value !== null &&
    "type" in value &&
    typeof value.type === "string" &&
    "version" in value &&
    Number.isInteger(value.version) &&
    Number(value.version) > 0
  );
}

function quoted(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 80));
}
