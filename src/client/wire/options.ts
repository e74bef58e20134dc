import { durationText } from "../../core/duration.ts";
import { instantText } from "../../core/temporal.ts";

// Options on their way to a router. Only what the caller gave travels, so that the defaults are those of the scheduler
// behind the router.

const DURATIONS: readonly string[] = [
  "misfireGraceTime",
  "maxJitter",
  "resultExpirationTime",
  "uniqueFor",
  "expectStartWithin",
  "expectFinishWithin",
];
/** Options that are objects, most of whose parts are durations. */
const WITHIN: readonly string[] = ["debounce", "throttle", "catchUp"];
const INSTANTS: readonly string[] = ["runAt", "startDeadline", "nextFireTime"];
const FILTER_INSTANTS: readonly string[] = [
  "finishedAfter",
  "finishedBefore",
  "runAfter",
  "runBefore",
  "from",
  "until",
];
/** Filters that have another name in queries. */
const IN_QUERIES: Readonly<Record<string, string>> = { finishedAfter: "since", finishedBefore: "until", search: "q" };

/** Options of a schedule or a job as JSON.
 *  @param checked times are milliseconds
 *  @param given the same before defaults were added to it, which do not travel */
export function wireOptions(checked: object, given: object = checked): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(checked)) {
    if (!(name in given) || value === undefined) continue;
    wire[name] = wireOption(name, value);
  }
  return wire;
}

function wireOption(name: string, value: unknown): unknown {
  if (value === null) return null;
  if (DURATIONS.includes(name)) return durationText(Number(value));
  if (INSTANTS.includes(name)) return instantText(Number(value));
  return WITHIN.includes(name) ? wireWithin(value as object) : value;
}

function wireWithin(option: object): Record<string, unknown> {
  const entries = Object.entries(option).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isPlainPart(name, value) ? value : durationText(value)]),
  );
}

function isPlainPart(name: string, value: unknown): boolean {
  return name === "key" || name === "maxCount" || value === null;
}

/** A filter as JSON, or as a query. */
export function wireFilter(checked: object): Record<string, string | number | boolean> {
  const wire: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(checked)) {
    if (value === undefined || value === null) continue;
    const text = Array.isArray(value) ? value.join(",") : value;
    wire[IN_QUERIES[name] ?? name] = FILTER_INSTANTS.includes(name) ? instantText(Number(value)) : text;
  }
  return wire;
}
