import { isPlain } from "../core/option-errors.ts";
import { storable } from "../core/text.ts";
import {
  ERROR_CAUSES_MAX,
  ERROR_PROPERTIES_LENGTH_MAX,
  ERROR_PROPERTIES_MAX,
  ERROR_PROPERTY_DEPTH_MAX,
  ERROR_TEXT_LENGTH_MAX,
  ERRORS_KEPT_MAX,
} from "./limits.ts";

/** An error in the form that results and events keep. `cause` and `errors` have the same form. Events that another
 *  scheduler sent have neither `properties` nor `errors`. */
export interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: SerializedError;
  /** What else the thrown value had of its own, such as a `status`: enumerable properties that are JSON, the first 32,
   *  and 4,096 characters in all. One that is no JSON, or does not fit, is left out as a whole. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Those of an `AggregateError`. An error has 16 errors at most below it, its causes included. */
  readonly errors?: readonly SerializedError[];
}

/**
 * What is kept of a thrown value. Never throws, whatever the value is. Long texts and long chains of causes are
 * cut.
 *
 * @example
 * const { name, message } = serializedError(new TypeError("no number"));
 */
export function serializedError(thrown: unknown): SerializedError {
  return serialized(thrown, 0, { left: ERRORS_KEPT_MAX });
}

/** An error without what tells of the program: its stacks and the properties. */
export function shownError({ name, message, code, cause, errors }: SerializedError): SerializedError {
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: shownError(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(shownError) }),
  };
}

/** @param budget how many more errors may be kept below the first */
function serialized(thrown: unknown, depth: number, budget: { left: number }): SerializedError {
  try {
    if (typeof thrown !== "object" || thrown === null) return { name: "Error", message: clip(textOf(thrown)) };
    const field = (key: keyof SerializedError): unknown => unlessThrown(() => Reflect.get(thrown, key));
    const [name, message, stack, code, cause] = FIELDS_READ.map(field);
    const properties = unlessThrown(() => ownProperties(thrown));
    const keeps = (): boolean => depth < ERROR_CAUSES_MAX && budget.left-- > 0;
    const keptCause = cause !== undefined && keeps() ? serialized(cause, depth + 1, budget) : undefined;
    // All of a list before what lies below the first of them.
    const listed = errorsOf(thrown).filter(keeps);
    const keptErrors = listed.map((one) => serialized(one, depth + 1, budget));
    return {
      name: clip(unlessThrown(() => (name === undefined ? undefined : String(name))) ?? "Error"),
      message: clip(message === undefined ? textOf(thrown, properties) : String(message)),
      ...(typeof stack === "string" ? { stack: clip(stack) } : {}),
      ...(typeof code === "string" ? { code: clip(code) } : {}),
      ...(keptCause === undefined ? {} : { cause: keptCause }),
      ...(properties === undefined ? {} : { properties }),
      ...(keptErrors.length === 0 ? {} : { errors: keptErrors }),
    };
  } catch {
    return { name: "Error", message: "an error that cannot be read was thrown" };
  }
}

/** What is said of a value without a message. A text says something by itself. */
function textOf(thrown: unknown, properties?: SerializedError["properties"]): string {
  if (typeof thrown === "string" && thrown !== "") return thrown;
  const said = Array.isArray(thrown) ? Object.values(properties ?? {}) : properties;
  const shown = said === undefined ? String(thrown) : JSON.stringify(said);
  return `a value that is no error was thrown: ${shown === "" ? '""' : shown}`;
}

const FIELDS_READ = ["name", "message", "stack", "code", "cause"] as const;

/** What the other fields say. */
const FIELDS: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);

function errorsOf(thrown: object): readonly unknown[] {
  const errors = unlessThrown(() => {
    const list: unknown = Reflect.get(thrown, "errors");
    return Array.isArray(list) ? list.slice(0, ERRORS_KEPT_MAX) : [];
  });
  return errors ?? [];
}

function ownProperties(thrown: object): Readonly<Record<string, unknown>> | undefined {
  const entries: [string, unknown][] = [];
  let left = ERROR_PROPERTIES_LENGTH_MAX;
  for (const key of Object.keys(thrown).slice(0, ERROR_PROPERTIES_MAX)) {
    if (FIELDS.has(key)) continue;
    const copy = unlessThrown(() => jsonCopy(key, Reflect.get(thrown, key), left)) ?? null;
    if (copy === null || (key === "code" && typeof copy.value === "string")) continue;
    left = copy.left;
    entries.push([storable(key), copy.value]);
  }
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** What `read` returns; undefined when it throws, because whoever wrote a getter or a Proxy did not think of it. */
function unlessThrown<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A copy of a value that is JSON, and how many characters are left then; null for a value that is no JSON, or is too
 *  long. Whatever the value is, no more is read of it than fits. */
function jsonCopy(
  key: string,
  value: unknown,
  left: number,
): { readonly value: unknown; readonly left: number } | null {
  const [copy, rest] = copyOf(value, left - key.length, 0);
  return rest < 0 ? null : { value: copy, left: rest };
}

const NO_JSON = [undefined, -1] as const;

function copyOf(value: unknown, left: number, depth: number): readonly [unknown, number] {
  if (left < 0) return NO_JSON;
  if (typeof value === "string") return value.length > left ? NO_JSON : [storable(value), left - value.length];
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return [value, left - 8];
  if (depth === ERROR_PROPERTY_DEPTH_MAX) return NO_JSON;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    let rest = left - 2;
    for (let index = 0; index < value.length && rest >= 0; index++) {
      const [item, after] = copyOf(value[index], rest - 1, depth + 1);
      copy.push(item);
      rest = after;
    }
    return [copy, rest];
  }
  if (!isPlain(value)) return NO_JSON;
  const copy: [string, unknown][] = [];
  let rest = left - 2;
  for (const key of Object.keys(value)) {
    if (rest < 0) break;
    const item: unknown = Reflect.get(value, key);
    if (item === undefined) continue;
    const [itemCopy, after] = copyOf(item, rest - key.length - 1, depth + 1);
    copy.push([storable(key), itemCopy]);
    rest = after;
  }
  return [Object.fromEntries(copy), rest];
}

/** The text as every store keeps it, and not too long. A cut may have halved a surrogate pair. */
function clip(text: string): string {
  return storable(text.length > ERROR_TEXT_LENGTH_MAX ? `${text.slice(0, ERROR_TEXT_LENGTH_MAX)}...` : text);
}
