import * as v from "valibot";
import { toDurationMs } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import type { Labels, Metadata } from "../../records/policies.ts";
import type { SerializedError } from "../../records/serialized-error.ts";

// What routers send, as records have it: instants as epoch milliseconds, durations as milliseconds, values as text. The
// schemas are functions, because what is made at module scope costs every program that imports it.

/** Text such as `2030-01-31T09:00:00.5Z`. */
const INSTANT = /^([+-]\d{6}|\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;
const DURATION = /^PT(?=\d)(?:(\d{1,12})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:\.(\d{1,3}))?S)?$/;

/** Epoch milliseconds of an instant; NaN for what is none. All engines read exactly three digits of a second. */
export function instantMs(text: string): number {
  const fraction = INSTANT.exec(text)?.[2];
  if (fraction === undefined) return INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Date.parse(text.replace(/\.\d+Z$/, `${fraction.padEnd(4, "0")}Z`));
}

/** Milliseconds of a duration; NaN for what is none. */
export function durationMs(text: string): number {
  const match = DURATION.exec(text);
  if (match === null) return otherDurationMs(text);
  const [, hours = "0", minutes = "0", seconds = "0", fraction = "0"] = match;
  return (
    Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(fraction.padEnd(3, "0"))
  );
}

function otherDurationMs(text: string): number {
  try {
    return toDurationMs(text, "duration");
  } catch {
    return Number.NaN;
  }
}

export type WireSchema<T> = v.GenericSchema<unknown, T>;

export const instant = (): WireSchema<number> => read(instantMs, "no instant, such as 2030-01-31T09:00:00Z");
export const duration = (): WireSchema<number> => read(durationMs, "no duration, such as PT5M");

function read(convert: (text: string) => number, problem: string): WireSchema<number> {
  return v.pipe(v.string(problem), v.transform(convert), v.number(problem));
}

export const orNull = <T>(schema: WireSchema<T>): WireSchema<T | null> => v.nullable(schema);
export const text = (): WireSchema<string> => v.string();
export const number = (): WireSchema<number> => v.number();
export const flag = (): WireSchema<boolean> => v.boolean();

/** A payload or a returned value, as the text that stores would keep. JSON has no undefined, so that a value that is
 *  missing is none. */
export const value = (): v.OptionalSchema<v.GenericSchema<unknown, string | null>, undefined> =>
  v.optional(v.pipe(v.unknown(), v.transform(textOf)) as v.GenericSchema<unknown, string | null>);

function textOf(given: unknown): string | null {
  return given === undefined ? null : JSON.stringify(given);
}

/** An object, as it is. */
export const metadata = (): WireSchema<Metadata> =>
  v.custom<Metadata>((given) => typeof given === "object" && given !== null && !Array.isArray(given), "no object");

export const labels = (): WireSchema<Labels> => metadata() as WireSchema<Labels>;

/** One of the given words. */
export const oneOf = <const Words extends readonly string[]>(words: Words): WireSchema<Words[number]> =>
  v.picklist(words);

/** An error that a job ended with. */
export const error: () => WireSchema<SerializedError> = once(() =>
  v.object({
    name: v.string(),
    message: v.string(),
    stack: v.exactOptional(v.string()),
    code: v.exactOptional(v.string()),
    cause: v.exactOptional(v.lazy(() => error())),
    properties: v.exactOptional(metadata()),
    errors: v.exactOptional(v.array(v.lazy(() => error()))),
  }),
);
