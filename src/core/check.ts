import * as v from "valibot";
import { DURATION_MS_MAX, ISSUES_MAX } from "./check-limits.ts";
import { type Duration, type MsName, msName, toDurationMs } from "./duration.ts";
import { EscapementError, type Issue, OptionsError } from "./errors.ts";
import { once } from "./once.ts";
import {
  canHoldOptions,
  cannotBeRead,
  isPlain,
  mustBe,
  mustBeOneOf,
  optionError,
  optionsError,
  readingError,
  takes,
  unknownOption,
} from "./option-errors.ts";
import { isSameWord, normalized } from "./suggest.ts";
import { synonymsOf } from "./synonyms.ts";
import { toEpochMs } from "./temporal.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "./text.ts";

// Options are checked against valibot schemas, which carry the defaults. The messages of refused options come from
// option-errors.ts. The schemas below are the kinds of values that options have.

/**
 * Checks a value. Returns the value with its defaults; instants are epoch milliseconds, and durations are milliseconds,
 * of which {@link msName} makes the name: `timeoutMs` for `timeout`.
 * @param where the call that got the value, such as `addJob()`; the message of the error begins with it
 * @throws {OptionsError} with one issue per problem, each with its path
 */
export type Checker<T> = (value: unknown, where: string) => T;

/** What a checker knows about likely mistakes. */
export interface Hints {
  /** What the call takes. Default: `an object of options`. */
  readonly takes?: string;
  /** What the caller should do about a value that is no object of options; null where that is unknown. */
  readonly instead?: (value: unknown) => string | null;
  /** What the caller should do about a name that is no option here, but is one of another call; null where that is
   *  unknown. */
  readonly elsewhere?: (name: string) => string | null;
  /** What a name that is no option means at a path of the options: an option, or advice, which has spaces; null where
   *  that is unknown. */
  readonly words?: (path: string, name: string) => string | null;
  /** The option that is meant by another word for it. The keys are those words, in lower case and without `_`. */
  readonly synonyms?: Readonly<Record<string, string>>;
}

/** The checker of an object of options.
 *  @param schema a schema, or what makes one when the checker is first used
 *  @internal */
export function checker<T>(
  schema: v.GenericSchema<unknown, T> | (() => v.GenericSchema<unknown, T>),
  hints: Hints = {},
): Checker<T> {
  const check = once(() => checkerOf(typeof schema === "function" ? schema() : schema, hints));
  return (value, where) => check()(value, where);
}

function checkerOf<T>(schema: v.GenericSchema<unknown, T>, hints: Hints): Checker<T> {
  const names = namesOf(schema);
  const quick = quickCheck(schema);
  const check: Checker<T> = (value, where) => {
    const known = isPlain(value) ? quick(value) : null;
    if (known !== null) return known;
    let found: readonly v.BaseIssue<unknown>[] = [];
    if (canHoldOptions(value, names)) {
      const dataset = schema["~run"]({ value }, {});
      if (dataset.issues === undefined) return dataset.value as T;
      found = dataset.issues;
    }
    const advice = hints.instead?.(value) ?? (value instanceof Promise ? "await it first" : null);
    if (found.length > 0 && advice === null) throw optionsError(where, issuesOf(found, schema, hints));
    throw optionError(where, "", takes(hints.takes ?? "an object of options", value, advice));
  };
  return (value, where) => {
    try {
      return check(value, where);
    } catch (error) {
      throw readingError(error, value, where, names);
    }
  };
}

/** Quick tests, by schema, for kinds of values that the schema does not change: whether a value surely fits. */
const surely = new WeakMap<object, (value: unknown) => boolean>();

/**
 * A check that reads only the options that are given, and adds the defaults. It is several times as fast as the schema
 * of the whole object, because that schema also visits the options that are not given. The check returns null where
 * something is wrong; then the schema says what.
 */
function quickCheck<T>(schema: v.GenericSchema<unknown, T>): (value: Readonly<Record<string, unknown>>) => T | null {
  const entries = Object.entries((schema as { entries?: Record<string, v.GenericSchema> }).entries ?? {});
  const required = entries.filter(([, entry]) => !("wrapped" in entry)).map(([name]) => name);
  const readers = new Map(
    entries.map(([name, entry]) => {
      const isFine = surely.get(unwrapped(entry)) ?? (() => false);
      return [name, { entry, isFine, key: checkedName(name, entry) }];
    }),
  );
  let unset: Readonly<Record<string, unknown>> | undefined;
  return (value) => {
    for (const name of required) if (!(name in value)) return null;
    unset ??= defaultsOf(schema);
    // Begins with an empty literal, because a copy of the defaults would have to grow, and growing costs more.
    const checked: Record<string, unknown> = {};
    for (const name in value) {
      const reader = readers.get(name);
      if (reader === undefined) return null;
      const item = value[name];
      if (reader.isFine(item)) {
        checked[reader.key] = item;
      } else {
        const dataset = reader.entry["~run"]({ value: item }, {});
        if (dataset.issues !== undefined) return null;
        checked[reader.key] = dataset.value;
      }
    }
    for (const name in unset) if (!(name in checked)) checked[name] = unset[name];
    return checked as T;
  };
}

/** The options that a schema adds to an empty object. */
function defaultsOf(schema: v.GenericSchema): Readonly<Record<string, unknown>> {
  const { value } = schema["~run"]({ value: {} }, {});
  return value as Record<string, unknown>;
}

function issuesOf(found: readonly v.BaseIssue<unknown>[], schema: v.GenericSchema, hints: Hints): Issue[] {
  const issues = new Map<string, Issue>();
  for (const issue of found) {
    // Only the first problem of each value counts: for example, a number can be neither whole nor in range.
    for (const one of issuesOfOne(issue, schema, hints)) if (!issues.has(one.path)) issues.set(one.path, one);
    if (issues.size >= ISSUES_MAX) break;
  }
  return [...issues.values()].slice(0, ISSUES_MAX);
}

function issuesOfOne(issue: v.BaseIssue<unknown>, schema: v.GenericSchema, hints: Hints): Issue[] {
  const path = (issue.path ?? []).map(({ key }) => String(key));
  if (issue.type === "strict_object" && issue.expected === "never") {
    return unknownOptions(path.slice(0, -1), issue, schema, hints);
  }
  if (issue.type === "strict_object" && issue.expected?.startsWith('"') === true) return [missingOption(path, schema)];
  return [{ path: path.join("."), message: issue.message }];
}

function missingOption(path: readonly string[], schema: v.GenericSchema): Issue {
  const dataset = schemaAt(path, schema)?.["~run"]({ value: undefined }, {});
  const rule = dataset?.issues?.[0]?.message.replace(/; got .*/s, "");
  return { path: path.join("."), message: rule === undefined ? "is missing" : `is missing; it ${rule}` };
}

/** The unknown names of an object, as many as an error lists. (valibot names only the first.) */
function unknownOptions(
  path: readonly string[],
  issue: v.BaseIssue<unknown>,
  schema: v.GenericSchema,
  hints: Hints,
): Issue[] {
  const given = issue.path?.at(-1)?.input as object;
  const known = namesOf(schemaAt(path, schema) ?? {});
  const issues: Issue[] = [];
  for (const name in given) {
    if (known.includes(name)) continue;
    if (issues.length === ISSUES_MAX) break;
    issues.push(unknownOption([...path, name].join("."), known, meaningOf(path, name, known, hints)));
  }
  return issues;
}

/** The option that a name means, or what to do about it. The object's own options come before those of other calls. */
function meaningOf(
  path: readonly string[],
  name: string,
  known: readonly string[],
  { words, synonyms = {}, elsewhere }: Hints,
): { synonym?: string | null; advice?: string | null } {
  const lower = normalized(name);
  if (path.length > 0) {
    const inner = innerSynonym(["inner"], name);
    return meant(words?.(path.join("."), name) ?? known.find((option) => option === inner) ?? null);
  }
  if (known.some((option) => isSameWord(option, name))) return {};
  const synonym = Object.hasOwn(synonyms, lower) ? (synonyms[lower] ?? null) : null;
  const found = meant(synonym ?? words?.("", name) ?? null);
  return found.synonym === undefined && found.advice === undefined ? { advice: elsewhere?.(name) ?? null } : found;
}

/** Advice has spaces, and no option does. */
function meant(text: string | null): { synonym?: string; advice?: string } {
  return text === null ? {} : text.includes(" ") ? { advice: text } : { synonym: text };
}

/** Other words for options of objects within options. */
const innerSynonym = synonymsOf({
  "inner: attempts retries limit count": "maxAttempts",
  "inner: delay": "initial",
  "inner: multiplier": "factor",
  "inner: max": "limit",
  "inner: duration interval window": "per",
});

/** The names of the options that an object of this schema may have. */
export function namesOf(schema: object): readonly string[] {
  const { entries } = unwrapped(schema) as { entries?: object };
  return Object.keys(entries ?? {});
}

/** The schema of what lies at a path; null where it depends on the value. */
function schemaAt(path: readonly string[], schema: v.GenericSchema): v.GenericSchema | null {
  let found: v.GenericSchema = schema;
  for (const name of path) {
    const { entries, value, item } = unwrapped(found) as {
      entries?: Record<string, v.GenericSchema>;
      value?: v.GenericSchema;
      item?: v.GenericSchema;
    };
    const child = entries?.[name] ?? value ?? item;
    if (child === undefined) return null;
    found = child;
  }
  return found;
}

/** The schema within `optional` and `nullable`. */
function unwrapped(schema: object): object {
  return "wrapped" in schema ? unwrapped(schema.wrapped as object) : schema;
}

/** An object of options, also within other options. The checked object has its durations by their {@link msName}.
 *  @param instead what the caller should do about another value, or null
 *  @internal */
export function objectOf<Entries extends v.ObjectEntries>(
  entries: Entries,
  instead: (value: unknown) => string | null = () => null,
): v.StrictObjectSchema<InMs<Entries>, v.ErrorMessage<v.StrictObjectIssue>> {
  const schema = v.strictObject(entries, ({ input }) => mustBe("an object", input, "", instead(input)));
  const run = schema["~run"];
  return {
    ...schema,
    // `v.partial` makes another object of this one, with entries of its own.
    "~run"(dataset, config) {
      const given = dataset.value;
      const checked = run.call(this, dataset, config);
      // What is no object stays as it was given. An object that lacks an option has its defaults all the same.
      if (checked.value === given) return checked;
      const items = Object.entries(checked.value as object);
      const named = items.map(([name, item]) => [checkedName(name, this.entries[name] ?? {}), item]);
      checked.value = Object.fromEntries(named);
      return checked;
    },
  } as typeof schema as unknown as v.StrictObjectSchema<InMs<Entries>, v.ErrorMessage<v.StrictObjectIssue>>;
}

/** Entries by the names of their checked values. */
type InMs<Entries extends v.ObjectEntries> = {
  [N in keyof Entries as Unwrapped<Entries[N]> extends InMilliseconds ? MsName<N> : N]: Entries[N];
};
type Unwrapped<Schema> = Schema extends { readonly wrapped: infer Inner } ? Unwrapped<Inner> : Schema;

function checkedName(name: string, schema: object): string {
  return "isMs" in unwrapped(schema) ? msName(name) : name;
}

/** A value that `convert` reads. An `OptionsError` of `convert` becomes an issue, and so does what an object throws
 *  where it is read; other errors of ours pass through. @internal */
export function converted<I, O>(convert: (value: I) => O): v.GenericSchema<I, O> {
  return {
    ...v.unknown(),
    "~run"({ value: input }: { readonly value: unknown }) {
      try {
        return { typed: true, value: convert(input as I) };
      } catch (error) {
        const isOurs = error instanceof EscapementError;
        if (isOurs ? !(error instanceof OptionsError) : typeof input !== "object") throw error;
        const message =
          error instanceof OptionsError ? (error.issues[0]?.message ?? error.message) : cannotBeRead(error);
        const issue = { kind: "transformation", type: "convert", input, expected: null, received: "", message };
        return { typed: false, value: input, issues: [issue] };
      }
    },
  } as unknown as v.GenericSchema<I, O>;
}

/** What says of a schema that the checked value is in milliseconds. */
interface InMilliseconds {
  readonly isMs: true;
}

/** A duration of `minMs` milliseconds or more, and of 1,000 years at most. The checked value is in milliseconds. The
 *  object that has it is made by {@link objectOf}. @internal */
export function durationMs(minMs = 0): v.GenericSchema<Duration, number> & InMilliseconds {
  const schema = converted((value: Duration) => {
    const ms = toDurationMs(value, "");
    const least = minMs === 1 ? "longer than zero" : `of at least ${minMs} milliseconds`;
    if (ms < minMs) throw refused(mustBe(`a duration ${least}`, value));
    if (ms > DURATION_MS_MAX) throw refused(mustBe("a duration of at most 1,000 years", value));
    return ms;
  });
  return { ...schema, isMs: true };
}

function refused(message: string): OptionsError {
  return new OptionsError(message, [{ path: "", message }]);
}

/** An instant. The checked value is in epoch milliseconds. @internal */
export const instantMs: v.GenericSchema<Parameters<typeof toEpochMs>[0], number> = converted((value) =>
  toEpochMs(value, ""),
);

/** A whole number from `min` to `max`, both included. `-0` becomes 0. @internal */
export function wholeNumber(
  min: number = Number.MIN_SAFE_INTEGER,
  max: number = Number.MAX_SAFE_INTEGER,
  adviceOn: (value: unknown) => string | null = () => null,
): v.GenericSchema<number> {
  const isBounded = min > Number.MIN_SAFE_INTEGER;
  const range = max < Number.MAX_SAFE_INTEGER ? ` from ${min} to ${max}` : isBounded ? ` of ${min} or more` : "";
  const message = ({ input }: { input: unknown }) => mustBe(`a whole number${range}`, input, "", adviceOn(input));
  const whole = v.pipe(
    v.number(message),
    v.safeInteger(message),
    v.transform((value) => value + 0),
  );
  // Without bounds the pipe is left shorter, because each of its steps costs time even if it checks nothing.
  const schema = isBounded ? v.pipe(whole, v.minValue(min, message), v.maxValue(max, message)) : whole;
  const isFine = (value: number): boolean => value >= min && value <= max && !Object.is(value, -0);
  surely.set(schema, (value) => Number.isSafeInteger(value) && isFine(value as number));
  return schema;
}

/** A finite number of `min` or more. @internal */
export function numberFrom(min: number): v.GenericSchema<number> {
  const message = says(`a number of ${min} or more`);
  return v.pipe(
    v.number(message),
    v.minValue(min, message),
    v.check((value) => Number.isFinite(value), message),
  );
}

/** Text of 1 to `lengthMax` UTF-16 units that every store keeps as it is. @internal */
export function textUpTo(
  lengthMax: number,
  adviceOn: (value: unknown) => string | null = () => null,
): v.GenericSchema<string> {
  const message = ({ input }: { input: unknown }): string =>
    mustBe(`text of 1 to ${lengthMax} characters`, input, "", adviceOn(input));
  const schema = v.pipe(
    v.string(message),
    v.minLength(1, message),
    v.maxLength(lengthMax, message),
    v.check(isStorable, ({ input }) => mustBe(STORABLE, input, "", STORABLE_ADVICE)),
  );
  const isFine = (value: string): boolean => value.length > 0 && value.length <= lengthMax && isStorable(value);
  surely.set(schema, (value) => typeof value === "string" && isFine(value));
  return schema;
}

/** @internal */
export const trueOrFalse: v.GenericSchema<boolean> = v.boolean(says("true or false"));

/** Any value at all, such as a payload. @internal */
export const anything: v.GenericSchema<unknown> = anyValue();

function anyValue(): v.GenericSchema<unknown> {
  const schema = v.unknown();
  surely.set(schema, () => true);
  return schema;
}

/** One of the given words. @internal */
export function oneOf<const Words extends readonly string[]>(words: Words): v.GenericSchema<Words[number]> {
  return v.picklist(words, ({ input }) => mustBeOneOf(words, input));
}

/** An object of values of one kind, by name. @internal */
export function recordOf<T>(
  name: v.GenericSchema,
  item: v.GenericSchema<unknown, T>,
  message: (issue: { readonly input: unknown }) => string,
): v.GenericSchema<unknown, Record<string, T>> {
  return v.lazy((input) => {
    const entries = Object.keys(Object(input)).map((value) => {
      const problem = name["~run"]({ value }, {}).issues?.[0].message;
      return [value, problem === undefined ? item : v.custom<T>(() => false, problem)] as const;
    });
    return v.strictObject(Object.fromEntries(entries), message);
  });
}

/** The message of a schema that says what a value must be. For example, `says("true or false")`. */
export function says(what: string): (issue: { readonly input: unknown }) => string {
  return ({ input }) => mustBe(what, input);
}

/**
 * An object that has these methods. An object of the wrong class is found here, and not only at the first use.
 *
 * @param what what the value must be, for messages, such as `a DataStore`
 * @param instead what the caller should do about another value, or null
 * @internal
 */
export function implementing<T>(
  what: string,
  methods: readonly (keyof T & string)[],
  instead: (value: unknown) => string | null = () => null,
): v.GenericSchema<T> {
  return v.custom<T>(
    (value) => hasMethods(value, methods),
    ({ input }) => {
      const missing = methods.filter((method) => !hasMethods(input, [method]));
      const isNear = missing.length < methods.length || isPlain(input);
      const without = isNear ? `it lacks ${missing.map((method) => `${method}()`).join(", ")}` : null;
      const advice = isClass(input) ? `write new ${input.name}(...)` : (instead(input) ?? without);
      return mustBe(what, input, "", advice);
    },
  );
}

/** Whether a value is an object with these methods. */
export function hasMethods(value: unknown, methods: readonly string[]): value is object {
  if (typeof value !== "object" || value === null) return false;
  return methods.every((method) => typeof Reflect.get(value, method) === "function");
}

function isClass(value: unknown): value is { name: string } {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}
