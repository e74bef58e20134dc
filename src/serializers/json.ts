import { DeserializationError, SerializationError } from "../core/errors.ts";
import { JSON_DEPTH_MAX } from "../core/limits.ts";
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
    try {
      return this.#serialize(value);
    } catch (cause) {
      if (cause instanceof SerializationError) throw cause;
      // A getter or a Proxy threw.
      const reason = cause instanceof Error ? `: ${cause.message}` : "";
      throw new SerializationError(`a part of the value cannot be read${reason}`, { cause });
    }
  }

  #serialize(value: unknown): string {
    const problem = findProblem(value, "", []);
    if (problem !== null) {
      throw new SerializationError(
        `${problem.what} at ${problem.path === "" ? "the top level" : problem.path} cannot be carried as JSON ` +
          "without loss; convert it, or give the data store a DevalueSerializer",
      );
    }
    return JSON.stringify(value);
  }

  deserialize(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new DeserializationError(`the stored text is not JSON: ${text.slice(0, 60)}`, { cause });
    }
  }
}

interface Problem {
  readonly what: string;
  readonly path: string;
}

/** @param parents the objects around the value, outermost first */
function findProblem(value: unknown, path: string, parents: object[]): Problem | null {
  switch (typeof value) {
    case "string":
    case "boolean":
      return null;
    case "number":
      return Number.isFinite(value) ? null : { what: `${value}`, path };
    case "object":
      return value === null ? null : findObjectProblem(value, path, parents);
    default:
      return { what: `a value of type ${typeof value}`, path };
  }
}

function findObjectProblem(value: object, path: string, parents: object[]): Problem | null {
  if (parents.includes(value)) return { what: "a cycle", path };
  if (parents.length >= JSON_DEPTH_MAX)
    return { what: `a value nested deeper than ${JSON_DEPTH_MAX} levels`, path: "" };
  parents.push(value);
  const problem = Array.isArray(value)
    ? findItemProblem(value, path, parents)
    : findPropertyProblem(value, path, parents);
  parents.pop();
  return problem;
}

function findItemProblem(items: readonly unknown[], path: string, parents: object[]): Problem | null {
  for (let index = 0; index < items.length; index++) {
    const problem = findProblem(items[index], `${path}[${index}]`, parents);
    if (problem !== null) return problem;
  }
  return null;
}

function findPropertyProblem(value: object, path: string, parents: object[]): Problem | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The prototype of a plain object of another realm is that realm's `Object.prototype`, which has no prototype.
  if (prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null) {
    return { what: `an object of class ${value.constructor?.name ?? "unknown"}`, path };
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return { what: "a property whose key is a symbol", path };
  for (const [key, item] of Object.entries(value)) {
    const problem = item === undefined ? null : findProblem(item, path === "" ? key : `${path}.${key}`, parents);
    if (problem !== null) return problem;
  }
  return null;
}
