import * as v from "valibot";
import { type Issue, OptionsError } from "../core/errors.ts";
import { type InstantLike, localTimeZone, toEpochMs } from "../core/temporal.ts";
import type { DstPolicy } from "../cron/spec.ts";
import { nearest } from "../cron/suggest.ts";
import { canonicalTimeZone } from "../cron/zone.ts";

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
    // For an unknown option, `received` is its name in quotes.
    message: issue.expected === "never" ? unknownOption(issue.received.slice(1, -1), namesOf(schema)) : issue.message,
    path: v.getDotPath(issue) ?? "",
  }));
  const listed = issues.map(({ message, path }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new OptionsError(`invalid options of ${subject}: ${listed}`, issues);
}

/** What is wrong with a name that is no option, with the option that was probably meant. */
export function unknownOption(name: string, names: readonly string[]): string {
  const suggestion = nearest(name, names);
  return suggestion === null ? "unknown option" : `unknown option; did you mean "${suggestion}"?`;
}

function namesOf(schema: v.GenericSchema): string[] {
  return "entries" in schema && typeof schema.entries === "object" ? Object.keys(schema.entries ?? {}) : [];
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
      gap: v.optional(v.picklist(["advance", "shift", "skip"])),
      overlap: v.optional(v.picklist(["first", "second", "both"])),
    }),
  ],
  'expected "auto" or { gap?: "advance" | "shift" | "skip", overlap?: "first" | "second" | "both" }',
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
/** A zone's name may be written in upper and lower case, so there is no end of spellings. */
const ZONE_SPELLINGS_MAX = 1000;

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
  if (zones.size >= ZONE_SPELLINGS_MAX) zones.clear();
  zones.set(name, id);
  return id;
}
