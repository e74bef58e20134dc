import type * as v from "valibot";

/** Whether a value passes. */
type ValueCheck = (value: unknown) => boolean;

/** A schema of an object. */
export type FlatSchema<T extends object> = v.GenericSchema<unknown, T> & { readonly entries: v.ObjectEntries };

/** A schema, or a step of its pipe, as far as the reader knows it: valibot keeps them as data. */
interface SchemaPart {
  readonly type: string;
  readonly pipe?: readonly SchemaPart[];
  readonly wrapped?: SchemaPart;
  readonly default?: unknown;
  readonly literal?: unknown;
  readonly options?: readonly unknown[];
  readonly requirement?: unknown;
}

/**
 * A reader of flat objects that knows the usual case alone, and takes a small part of the schema's time. What it
 * returns is what the schema makes of the object. Null means nothing: then the schema decides.
 *
 * @param schema of an object. Where it holds what this reader does not know, the answer is null
 */
export function quickReader<T extends object>(schema: FlatSchema<T>): (value: object) => T | null {
  const names = Object.keys(schema.entries);
  const checks = Object.values(schema.entries).map((entry) => checkOf(entry as SchemaPart));
  return (value) => {
    const output: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const field: unknown = (value as Readonly<Record<string, unknown>>)[name];
      // No check passes what is missing.
      if (checks[index]?.(field) !== true) return null;
      output[name] = field;
    }
    return output as T;
  };
}

function checkOf(schema: SchemaPart): ValueCheck {
  const [{ type, wrapped, literal, options = [], ...base }, ...actions] = stepsOf(schema);
  if (type === "string") return checkOfText(actions);
  if (type === "number") return checkOfNumber(actions);
  if (actions.length > 0) return never;
  if (type === "boolean") return (value) => typeof value === "boolean";
  if (type === "literal") return (value) => value === literal;
  if (type === "picklist") return (value) => options.includes(value);
  // What is missing gets the default of the schema.
  if (type === "optional" && wrapped !== undefined) return checkOf(wrapped);
  if (type !== "nullable" || wrapped === undefined || base.default !== undefined) return never;
  const check = checkOf(wrapped);
  return (value) => value === null || check(value);
}

/** A schema and the steps of its pipe. A pipe may begin with a pipe. */
function stepsOf(part: SchemaPart): [SchemaPart, ...SchemaPart[]] {
  if (part.pipe === undefined) return [part];
  const [schema = part, ...actions] = part.pipe;
  return [...stepsOf(schema), ...actions];
}

// One function for a text or a number and all its bounds: a function for each bound takes twice the time.

function checkOfText(actions: readonly SchemaPart[]): ValueCheck {
  let lengthMax = Number.POSITIVE_INFINITY;
  for (const { type, requirement } of actions) {
    if (type !== "max_length") return never;
    lengthMax = Math.min(lengthMax, Number(requirement));
  }
  return (value) => typeof value === "string" && value.length <= lengthMax;
}

function checkOfNumber(actions: readonly SchemaPart[]): ValueCheck {
  let [min, max, isWhole] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, false];
  for (const { type, requirement } of actions) {
    if (type === "safe_integer") isWhole = true;
    else if (type === "min_value") min = Math.max(min, Number(requirement));
    else if (type === "max_value") max = Math.min(max, Number(requirement));
    else return never;
  }
  // Not a number is outside of every bound.
  return (value) =>
    typeof value === "number" && value >= min && value <= max && (!isWhole || Number.isSafeInteger(value));
}

function never(): boolean {
  return false;
}
