import fc from "fast-check";
import { TRIGGERS } from "./triggers.ts";

/** Ids that may exist in the store of a run, because requests before may have made them. */
export const KNOWN_IDS = ["t", "a", "a/b", "ü.%2F", "..", "0"] as const;

const HOSTILE_TEXTS = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "' OR '1'='1' --",
  '"; DROP TABLE jobs; --',
  "%",
  "_",
  "../../etc/passwd",
  "file:///etc/passwd",
  "http://169.254.169.254/",
  "data:text/javascript,globalThis.hit=1",
  "__proto__",
  "constructor",
  "toString",
  "<script>1</script>",
  "{{7*7}}",
  "\r\nset-cookie: a=b",
  "x".repeat(257),
  "x".repeat(5000),
  "1e309",
  "-0",
  "null",
] as const;

const GOOD_INSTANTS = ["2030-01-01T00:00:00Z", "2030-01-01T00:10:00.000Z", "2029-12-31T23:59:59+05:30"] as const;
const GOOD_DURATIONS = ["PT5M", "5m", "1h 30m", "PT0.5S"] as const;
const TEMPORAL_TEXTS = [
  ...GOOD_INSTANTS,
  ...GOOD_DURATIONS,
  "2030-06-01T00:00:00",
  "2030-01-01",
  "+275760-09-13T00:00:00Z",
  "-271821-04-20T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "now",
  "PT0S",
  "-PT1S",
  "P1000Y",
  "P999999999999Y",
  "5",
] as const;

/** Text for any purpose: an id, an instant, a duration, a cursor, or nothing of the kind. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...KNOWN_IDS) },
  { weight: 3, arbitrary: fc.constantFrom(...TEMPORAL_TEXTS) },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
);

/** Any JSON, now and then deep or with names that mean something to JavaScript. */
const json: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("__proto__", "then", "toJSON", "constructor", "a"), text) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2000 }).map(nested) },
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** The parts of a valibot schema that say what fits it. */
interface Schema {
  readonly type: string;
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly wrapped?: Schema;
  readonly item?: Schema;
  readonly options?: readonly unknown[];
  readonly pipe?: readonly { readonly type: string; readonly requirement?: unknown }[];
}

/** Values that mostly fit a schema: each part of an object has a chance of its own to be missing or wrong. */
export function fitting(schema: object, name = ""): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: fits(schema as Schema, name) }, { weight: 1, arbitrary: json });
}

function fits(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const { type, entries = {}, wrapped, item, options = [] } = schema;
  switch (type) {
    case "object":
    case "strict_object":
      return objectOf(entries);
    case "optional":
    case "exact_optional":
    case "nullish":
      return wrapped === undefined ? json : fits(wrapped, name);
    case "nullable":
      return wrapped === undefined ? json : fc.oneof(fits(wrapped, name), fc.constant(null));
    case "array":
      return item === undefined ? json : fc.array(fitting(item), { maxLength: 4 });
    case "picklist":
      return fc.constantFrom(...options);
    case "literal":
      return json;
    case "boolean":
      return fc.boolean();
    case "number":
      return numberOf(schema);
    case "string":
      return textFor(name);
    default:
      // What has no schema of its own: triggers, payloads, metadata.
      if (name === "metadata")
        return fc.oneof({ weight: 9, arbitrary: fc.dictionary(text, json, { maxKeys: 3 }) }, json);
      return /trigger/i.test(name) ? fc.oneof({ weight: 9, arbitrary: TRIGGERS }, json) : json;
  }
}

/** Mostly what a name asks for. */
function textFor(name: string): fc.Arbitrary<string> {
  const mostly = (good: readonly string[]) => fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...good) }, text);
  if (name === "taskId") return mostly(["t", "a"]);
  if (/^(runAt|startDeadline|from|until|nextFireTime|resumeFrom)$/.test(name)) {
    return mostly(GOOD_INSTANTS);
  }
  if (name === "at") return mostly([...GOOD_INSTANTS, "2030-01-01", "2030-01-01 00:05", "2029-12-31T23:59:59"]);
  if (/^(misfireGraceTime|maxJitter|resultExpirationTime|uniqueFor|wait|maxWait|per)$/.test(name)) {
    return mostly(GOOD_DURATIONS);
  }
  if (name === "executor") return mostly(["inline"]);
  return mostly(KNOWN_IDS);
}

function objectOf(entries: Readonly<Record<string, Schema>>): fc.Arbitrary<unknown> {
  const values = Object.entries(entries).map(([name, entry]) => {
    const isOptional = "wrapped" in entry && entry.type !== "nullable";
    const missing = { weight: isOptional ? 200 : 1, arbitrary: fc.constant(undefined) };
    return [name, fc.oneof({ weight: 40, arbitrary: fitting(entry, name) }, missing)] as const;
  });
  const known = fc.record(Object.fromEntries(values));
  const unknownNames = fc.dictionary(fc.constantFrom("id", "fence", "acquiredBy", "__proto__", "x"), text, {
    maxKeys: 1,
  });
  const more = fc.oneof({ weight: 20, arbitrary: fc.constant({}) }, unknownNames);
  return fc.tuple(known, more).map(([object, names]) => withoutUndefined({ ...object, ...names }));
}

function withoutUndefined(object: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function numberOf({ pipe = [] }: Schema): fc.Arbitrary<unknown> {
  const bound = (type: string, otherwise: number): number => {
    const found = pipe.flatMap((part) => ("pipe" in part ? (part.pipe as typeof pipe) : [part]));
    return Number(found.find((part) => part.type === type)?.requirement ?? otherwise);
  };
  const [min, max] = [bound("min_value", -1000), bound("max_value", 1000)];
  return fc.oneof(
    { weight: 10, arbitrary: fc.integer({ min, max: Math.min(max, min + 1000) }) },
    fc.constantFrom(min - 1, max, max + 1, 0, -1, 0.5, 1e300, 2 ** 53, 2 ** 31),
  );
}
