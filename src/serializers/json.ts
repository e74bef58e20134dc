import { DeserializationError, SerializationError } from "../core/errors.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";
import type { Serializer } from "./serializer.ts";

/**
 * Carries values as JSON, and refuses what `JSON.stringify` would silently change: dates, maps, instances of classes,
 * `undefined` in arrays, `NaN` and functions. The error names the path to the refused value. So a handler always gets
 * exactly what the caller passed, except that properties that are `undefined` are left out, and that `-0` is 0. For an
 * instance of a class with a `toJSON` method, pass what the method returns, or use `DevalueSerializer`.
 *
 * @example
 * new JSONSerializer().serialize({ at: new Date() }); // throws SerializationError: at is an object of class Date
 */
export class JSONSerializer implements Serializer {
  serialize(value: unknown): string {
    let problem: UnfitValue | null;
    try {
      problem = findProblem(value, []);
      if (problem === null) return JSON.stringify(value);
    } catch (cause) {
      // A getter throws, or a Proxy.
      const reason = cause instanceof Error ? `: ${cause.message}` : "";
      throw new SerializationError(`a part of the value cannot be read${reason}`, { cause });
    }
    const path = (problem.path ?? []).reverse().join("").replace(/^\./, "");
    throw new SerializationError(
      `${problem.what} at ${path === "" ? "the top level" : path} cannot be carried as JSON without loss; ` +
        (problem.advice ?? "convert it, or give the data store a DevalueSerializer"),
    );
  }

  deserialize(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new DeserializationError(`the stored text is not JSON: ${text.slice(0, 60)}`, { cause });
    }
  }
}

interface UnfitValue {
  readonly what: string;
  /** The steps to the refused value, the last one first; null where they say nothing. */
  readonly path: string[] | null;
  /** What to do, where a `DevalueSerializer` alone would refuse the value too. */
  readonly advice?: string | undefined;
}

const CLASS_ADVICE =
  "pass its data, or give the data store a DevalueSerializer with reducers and revivers for the class";
const CODE_ADVICE = "leave it out, or pass data in its place";

/** @param parents the objects around the value, outermost first */
function findProblem(value: unknown, parents: object[]): UnfitValue | null {
  switch (typeof value) {
    case "string":
    case "boolean":
      return null;
    case "number":
      return Number.isFinite(value) ? null : problemOf(`${value}`);
    case "object":
      return value === null ? null : findObjectProblem(value, parents);
    default:
      return problemOf(`a value of type ${typeof value}`, /^[fs]/.test(typeof value) ? CODE_ADVICE : undefined);
  }
}

function problemOf(what: string, advice?: string): UnfitValue {
  return { what, path: [], advice };
}

function findObjectProblem(value: object, parents: object[]): UnfitValue | null {
  if (parents.includes(value)) return problemOf("a cycle");
  if (parents.length >= JSON_DEPTH_MAX)
    return { what: `a value nested deeper than ${JSON_DEPTH_MAX} levels`, path: null };
  parents.push(value);
  const problem = Array.isArray(value) ? findItemProblem(value, parents) : findPropertyProblem(value, parents);
  parents.pop();
  return problem;
}

function findItemProblem(items: readonly unknown[], parents: object[]): UnfitValue | null {
  if (!isOfClass(items, Array.prototype, 2)) return problemOf(`an object of class ${classOf(items)}`);
  for (let index = 0; index < items.length; index++) {
    const problem = findProblem(items[index], parents);
    if (problem === null) continue;
    problem.path?.push(`[${index}]`);
    return problem;
  }
  // Such as the groups of a match of a regular expression.
  return Object.keys(items).length === items.length ? null : problemOf("an array with properties");
}

function findPropertyProblem(value: object, parents: object[]): UnfitValue | null {
  if (Object.getPrototypeOf(value) !== null && !isOfClass(value, Object.prototype, 1)) {
    // Dates, maps, URLs and such have a tag of their own.
    const isOwnClass = /Object|Error/.test(Object.prototype.toString.call(value));
    return problemOf(`an object of class ${classOf(value)}`, isOwnClass ? CLASS_ADVICE : undefined);
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return problemOf("a property whose key is a symbol", CODE_ADVICE);
  for (const [key, item] of Object.entries(value)) {
    const problem = item === undefined ? null : findProblem(item, parents);
    if (problem === null) continue;
    problem.path?.push(`.${key}`);
    return problem;
  }
  return null;
}

/** Whether a value is a literal's, and no instance of another class. @param depth how many prototypes the value has: in
 *  another realm they are other objects */
function isOfClass(value: object, prototype: object, depth: number): boolean {
  let last: unknown = Object.getPrototypeOf(value);
  if (last === prototype) return true;
  for (let count = 1; count < depth && last !== null; count++) last = Object.getPrototypeOf(last);
  return last !== null && Object.getPrototypeOf(last) === null;
}

function classOf(value: object): string {
  return value.constructor?.name ?? "unknown";
}
