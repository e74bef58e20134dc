import { type Issue, OptionsError } from "./errors.ts";
import { nearest } from "./suggest.ts";

// The one voice in which wrong options are refused: the call, the path, what the value must be, what it is, what to do.

/** Longest text of a value, and of a name, in a message. Longer ones are cut. */
const SHOWN_LENGTH_MAX = 80;
/** Most properties of an object that a message shows. */
const SHOWN_PROPERTIES_MAX = 5;
/** Most names that a message lists where no name is near. */
const LISTED_NAMES_MAX = 16;

/** Names of options whose values stand in no message, because messages end in logs. */
const SECRET_NAME = /token|secret|passw|credential|authorization|(encryption|private|api)_?key/i;
/** Text that looks like a secret: a JSON Web Token, or a key with a usual prefix. */
const SECRET_TEXT = /^(ey[\w-]{8,}\.|sk[-_]|bearer )/i;

/**
 * The error of wrong options: `addJob(): priority must be a whole number; got "high"`.
 *
 * @param where the call, such as `addJob()`
 * @param issues one per problem. A message goes on after the path, or after `where` when the path is empty
 */
export function optionsError(where: string, issues: readonly Issue[], options?: { cause?: unknown }): OptionsError {
  const [first] = issues;
  const message =
    first !== undefined && issues.length === 1
      ? `${where}${first.path === "" ? " " : ": "}${sentenceOf(first)}`
      : [`${where}: ${issues.length} problems`, ...issues.map(sentenceOf)].join("\n- ");
  return new OptionsError(message, issues, options);
}

function sentenceOf({ path, message }: Issue): string {
  return path === "" ? message : `${cut(path)} ${message}`;
}

/** The problem of a value: `must be a whole number; got "high"`, and what to do where that can be told. */
export function mustBe(what: string, value: unknown, name = "", advice: string | null = null): string {
  return `must be ${what}; got ${shown(value, name)}${advice === null ? "" : `: ${advice}`}`;
}

/** The problem of what a call was given as a whole: `takes an object of options; got 5`. */
export function takes(what: string, value: unknown, advice: string | null = null): string {
  return mustBe(what, value, "", advice).replace("must be", "takes");
}

/** The problem of a value that is none of a few words, with the word that was likely meant. */
export function mustBeOneOf(words: readonly string[], value: unknown): string {
  const suggestion = typeof value === "string" ? nearest(value, words) : null;
  const advice = suggestion === null ? null : `did you mean "${suggestion}"?`;
  const quoted = words.map((word) => `"${word}"`);
  return mustBe(listed(quoted, "or"), value, "", advice);
}

/**
 * The problem of a name that is no option.
 *
 * @param known the names that are options there
 * @param hints the option that another word stands for, and what to do when the name is known elsewhere
 */
export function unknownOption(
  path: string,
  known: readonly string[],
  hints: { synonym?: string | null; advice?: string | null } = {},
): Issue {
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
  // Addresses carry passwords before the host and tokens in the query.
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  return JSON.stringify(cut(isAddress ? text.replace(/\/\/[^/]*@/, "//…@").replace(/\?.*$/s, "?…") : text));
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

/** Whether a value is an object as literals make them, not an instance of a class. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An ordinary object of another realm has a prototype that has none.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** Whether a value can hold options: a plain object, or an instance of a class that has one of the names. */
export function canHoldOptions(value: unknown, names: readonly string[]): value is object {
  if (isPlain(value)) return true;
  return typeof value === "object" && value !== null && !Array.isArray(value) && names.some((name) => name in value);
}

/** `a, b or c` */
function listed(words: readonly string[], last: "and" | "or"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

function cut(text: string): string {
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}
