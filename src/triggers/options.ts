import * as v from "valibot";
import { type Issue, OptionsError } from "../core/errors.ts";
import { type InstantLike, localTimeZone, toEpochMs } from "../core/temporal.ts";
import type { DstPolicy } from "../cron/spec.ts";
import { nearest } from "../cron/suggest.ts";
import { canonicalTimeZone } from "../cron/zone.ts";
import type { TriggerJSON } from "./trigger.ts";

/**
 * A caller's options, checked against a schema.
 *
 * @throws {OptionsError} with one issue per problem; unknown names are problems
 */
export function checkOptions<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  subject: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const issues: Issue[] = result.issues.map((issue) => ({
    message: issue.expected === "never" ? unknownOption(schema, issue.received) : issue.message,
    path: v.getDotPath(issue) ?? "",
  }));
  const listed = issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new OptionsError(`invalid options of ${subject}: ${listed}`, issues);
}

/** `received` is the name in quotes. */
function unknownOption(schema: v.GenericSchema, received: string): string {
  const names = "entries" in schema && typeof schema.entries === "object" ? Object.keys(schema.entries ?? {}) : [];
  const suggestion = nearest(received.slice(1, -1), names);
  return suggestion === null ? "unknown option" : `unknown option; did you mean "${suggestion}"?`;
}

/** An {@link InstantLike}. Only its type is checked here; `toEpochMs` checks the value. */
export const instantSchema: v.GenericSchema<InstantLike> = v.custom<InstantLike>(
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
  "expected an instant: a Temporal object, a Date or ISO 8601 text with an offset",
);

export const dstSchema: v.GenericSchema<DstPolicy> = v.union(
  [
    v.literal("auto"),
    v.strictObject({
      gap: v.picklist(["advance", "shift", "skip"]),
      overlap: v.picklist(["first", "second", "both"]),
    }),
  ],
  'expected "auto" or { gap: "advance" | "shift" | "skip", overlap: "first" | "second" | "both" }',
);

/** Epoch milliseconds of an optional instant, or `none` where it is left out. */
export function msOr<None>(value: InstantLike | undefined, name: string, none: None): number | None {
  return value === undefined ? none : toEpochMs(value, name);
}

/** @throws {OptionsError} when the end is before the start, so that nothing would ever fire */
export function checkOrder(startMs: number | null, endMs: number | null, start: string, end: string): void {
  if (startMs === null || endMs === null || startMs <= endMs) return;
  const message = `is before ${start}, so nothing would ever fire`;
  throw new OptionsError(`${end} ${message}`, [{ path: end, message }]);
}

const zones = new Map<string, string>();

/**
 * The name of a time zone as Temporal spells it; `"local"` is the host's.
 *
 * @throws {OptionsError} when the runtime does not know it
 */
export function resolveTimeZone(name: string): string {
  const known = zones.get(name);
  if (known !== undefined) return known;
  // Not kept in the map, because a host's time zone can change while the program runs.
  if (name === "local") return localTimeZone();
  const id = canonicalTimeZone(name);
  zones.set(name, id);
  return id;
}

/** The JSON without its undefined fields, so that equal rules have equal text. */
export function withoutUndefined(json: TriggerJSON): TriggerJSON {
  const { type, version, ...fields } = json;
  return { type, version, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
}
