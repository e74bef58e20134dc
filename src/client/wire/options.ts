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
  ...["wait", "maxWait", "per", "maxAge", "pace"],
];
/** Options that are objects of options. */
const WITHIN: readonly string[] = ["debounce", "throttle", "catchUp"];
const INSTANTS: readonly string[] = ["runAt", "startDeadline", "nextFireTime", "from", "until"];

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
  return WITHIN.includes(name) ? wireOptions(value as object) : value;
}

/** A filter as JSON, or as a query. */
export function wireFilter(checked: object): Record<string, string | number | boolean> {
  const wire: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(wireOptions(checked))) {
    if (value !== null) wire[name] = Array.isArray(value) ? value.join(",") : (value as string | number | boolean);
  }
  return wire;
}
