import { ISSUES_MAX } from "./check-limits.ts";
import { EscapementError, type Issue, OptionsError } from "./errors.ts";
import { didYouMean, nearest } from "./suggest.ts";

// The messages of wrong options. Each names the call, the path, what the value must be, what it is, and what to do.

/** Longest text of a value or a name in a message, in UTF-16 units. Longer text is cut. */
const SHOWN_LENGTH_MAX = 80;
/** Most properties of an object that a message shows. */
const SHOWN_PROPERTIES_MAX = 5;
/** Most names that a message lists where no name is near. */
const LISTED_NAMES_MAX = 20;

/** Names of options whose values no message shows, because messages end up in logs. */
const SECRET_NAME = /token|secret|passw|credential|authorization|(encryption|private|api)_?key/i;
/** Text that looks like a secret: a JSON Web Token, or a key with a usual prefix. */
const SECRET_TEXT = /^(ey[\w-]{8,}\.|sk[-_]|bearer )/i;

/**
 * The error of wrong options: `addJob(): priority must be a whole number; got "high"`.
 *
 * @param where the call, such as `addJob()`
 * @param issues one per problem. Each message follows its path; when the path is empty, it follows `where`
 */
export function optionsError(where: string, issues: readonly Issue[], options?: { cause?: unknown }): OptionsError {
  const [first] = issues;
  const message =
    first !== undefined && issues.length === 1
      ? `${where}${first.path === "" ? " " : ": "}${sentenceOf(first)}`
      : [
          `${where}: ${issues.length < ISSUES_MAX ? "" : "at least "}${issues.length} problems`,
          ...issues.map(sentenceOf),
        ].join("\n- ");
  return new OptionsError(message, issues, options);
}

/** The same for one problem. */
export function optionError(where: string, path: string, message: string, options?: { cause?: unknown }): OptionsError {
  return optionsError(where, [{ path, message }], options);
}

/** The error of one value: `timeZone must be ...`.
 *  @param name the option or the argument; empty for the value itself */
export function valueError(name: string, message: string, cause?: unknown): OptionsError {
  return new OptionsError(name === "" ? message : `${name} ${message}`, [{ path: name, message }], { cause });
}

/**
 * The error of a caller's object that throws where it is read, as that of a getter or of a Proxy does; it names the
 * first place that does. Any other error as it is.
 * @param names options that may be inherited, such as those of an instance of a class
 */
export function readingError(error: unknown, value: unknown, where: string, names: readonly string[] = []): unknown {
  if (error instanceof EscapementError) return error;
  const found = unreadable(value, "", names);
  return found === null ? error : optionError(where, found.path, cannotBeRead(found.cause), { cause: found.cause });
}

/** A copy of a list that a caller gave, in which a hole is undefined; null for a value that is no list, or is longer.
 *  @throws {OptionsError} when the list or an item of it throws where it is read, as a Proxy or a getter does */
export function listOf<T>(
  value: readonly T[],
  where: string,
  path = "",
  lengthMax: number = Number.POSITIVE_INFINITY,
): readonly T[] | null {
  let at = path;
  try {
    if (!Array.isArray(value) || value.length > lengthMax) return null;
    const items: T[] = [];
    for (let index = 0, { length } = value; index < length; index++) {
      at = path === "" ? String(index) : `${path}.${index}`;
      items.push(value[index]);
    }
    return items;
  } catch (cause) {
    throw optionError(where, at, cannotBeRead(cause), { cause });
  }
}

/** The problem of a value that throws where it is read. */
export function cannotBeRead(cause: unknown): string {
  return `cannot be read: ${cause instanceof Error ? cut(cause.message) : shown(cause)}`;
}

/** How deep options lie within options at most. */
const OPTIONS_DEPTH_MAX = 4;

/** The first property of plain data that throws where it is read; null for none. */
function unreadable(
  value: unknown,
  path: string,
  names: readonly string[] = [],
  depth = 0,
): { readonly path: string; readonly cause: unknown } | null {
  if (typeof value !== "object" || value === null || depth > OPTIONS_DEPTH_MAX) return null;
  let at = path;
  try {
    const isData = isPlain(value) || Array.isArray(value) || depth === 0;
    for (const name of isData ? [...names, ...Object.keys(value)] : []) {
      at = path === "" ? name : `${path}.${name}`;
      const found = unreadable((value as Readonly<Record<string, unknown>>)[name], at, [], depth + 1);
      if (found !== null) return found;
    }
    return null;
  } catch (cause) {
    return { path: at, cause };
  }
}

function sentenceOf({ path, message }: Issue): string {
  return path === "" ? message : `${cut(path)} ${message}`;
}

/** The problem of a value: `must be a whole number; got "high"`. @param advice what to do, where that is known */
export function mustBe(what: string, value: unknown, name = "", advice: string | null = null): string {
  return `must be ${what}; got ${shown(value, name)}${advice === null ? "" : `: ${advice}`}`;
}

/** The problem of what a call was given as a whole: `takes an object of options; got 5`. */
export function takes(what: string, value: unknown, advice: string | null = null): string {
  return mustBe(what, value, "", advice).replace("must be", "takes");
}

/** The problem of a value that is none of the allowed words, with the word that the caller likely meant. */
export function mustBeOneOf(words: readonly string[], value: unknown): string {
  const advice = typeof value === "string" ? didYouMean(value, words, null) : null;
  const quoted = words.map((word) => `"${word}"`);
  return mustBe(listed(quoted, "or"), value, "", advice);
}

/**
 * The problem of a name that is no option. A path that is too long for one is cut.
 *
 * @param known the names of the options at this path
 * @param hints `synonym`: the option that the name means. `advice`: what to do, when the name is an option of another
 *   call
 */
export function unknownOption(
  name: string,
  known: readonly string[],
  hints: { synonym?: string | null; advice?: string | null } = {},
): Issue {
  const path = cut(name);
  const { synonym = null, advice = null } = hints;
  if (advice !== null) return { path, message: `is no option here; ${advice}` };
  const suggestion = synonym ?? nearest(path.slice(path.lastIndexOf(".") + 1), known);
  if (suggestion !== null) return { path, message: `is no option; did you mean "${suggestion}"?`, suggestion };
  const isListed = known.length > 0 && known.length <= LISTED_NAMES_MAX;
  return { path, message: isListed ? `is no option; ${optionsAre(known)}` : "is no option" };
}

function optionsAre(names: readonly string[]): string {
  return names.length === 1 ? `the only option is ${names[0]}` : `the options are ${listed(names, "and")}`;
}

/** A value in a message: short, on one line, and without secrets. Never throws, whatever the value is. */
export function shown(value: unknown, name = ""): string {
  if (SECRET_NAME.test(name) && value !== undefined && value !== null) {
    return `${typeof value === "string" ? "text" : "a value"} that is not shown`;
  }
  try {
    return shownAny(value);
  } catch {
    return "an object that cannot be read";
  }
}

function shownAny(value: unknown): string {
  switch (typeof value) {
    case "string":
      return shownText(value);
    case "bigint":
      return cut(`${value}n`);
    case "symbol":
      return "a symbol";
    case "function": {
      const isClass = /^class\b/.test(Function.prototype.toString.call(value));
      return value.name === "" ? "a function" : `the ${isClass ? "class" : "function"} ${cut(value.name)}`;
    }
    case "object":
      return value === null ? "null" : shownObject(value);
    default:
      return String(value);
  }
}

function shownText(text: string): string {
  if (SECRET_TEXT.test(text)) return "text that is not shown";
  // Addresses may have a password before the host, even one with a slash, and tokens in the query.
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const shownAddress = text.replace(/\/\/.*@/s, "//…@").replace(/\?.*$/s, "?…");
  return JSON.stringify(cut(isAddress ? shownAddress : text.replace(/^[^\s:]*:\S*@/, "…@")));
}

function shownObject(value: object): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? "an invalid Date" : `the Date ${value.toISOString()}`;
  }
  if (!isPlain(value)) {
    const name = cut(String(value.constructor?.name || "object"));
    return `${/^([aeio]|u(?!rl|ni|se))/i.test(name) ? "an" : "a"} ${name}`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return "{}";
  const shownEntries = entries.slice(0, SHOWN_PROPERTIES_MAX).map(([key, item]) => {
    const isNested = typeof item === "object" && item !== null && (isPlain(item) || Array.isArray(item));
    return `${cut(key)}: ${isNested ? (Array.isArray(item) ? "[…]" : "{…}") : shown(item, key)}`;
  });
  if (entries.length > SHOWN_PROPERTIES_MAX) shownEntries.push("…");
  return `{ ${shownEntries.join(", ")} }`;
}

/** Whether a value is an object like a literal's, and no instance of a class. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of a plain object of another realm is that realm's `Object.prototype`, which has no prototype.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Whether a value can hold options: a plain object, or an instance of a class that has a property of one of the
 *  names. */
export function canHoldOptions(value: unknown, names: readonly string[]): value is object {
  if (isPlain(value)) return true;
  return typeof value === "object" && value !== null && !Array.isArray(value) && names.some((name) => name in value);
}

/** A list in words: `a, b or c`. */
function listed(words: readonly string[], last: "and" | "or"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

function cut(text: string): string {
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}
