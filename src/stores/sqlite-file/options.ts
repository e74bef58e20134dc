import * as v from "valibot";
import { OptionsError } from "../../core/errors.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { TABLE_PREFIX_LENGTH_MAX } from "../sqlite/limits.ts";

/** A database by its place. */
export interface SqliteConnection {
  /** The path of the database file, or `":memory:"`. A file that does not exist is made. A relative path begins at the
   *  working directory of the process. */
  readonly path: string;
}

export interface SqliteStoreOptions {
  /** Begins the names of all tables. Letters, digits and `_`, at most 64. Default: `"escapement_"`. */
  readonly tablePrefix?: string;
  /** Turns payloads and return values into text. Default: a `JSONSerializer`. */
  readonly serializer?: Serializer;
  /** For a file. With `"full"` (default), commits that were acknowledged survive a power failure, at the cost of one
   *  fsync per commit. With `"normal"`, they survive a crash of the process, but a power failure can lose the last
   *  moments. */
  readonly durability?: "full" | "normal";
}

export interface CheckedOptions {
  readonly tablePrefix: string;
  readonly serializer?: Serializer | undefined;
  readonly durability: "full" | "normal";
}

const connectionSchema = v.strictObject({
  path: v.pipe(
    v.string("must be the path of a file, or :memory:"),
    v.nonEmpty("must be the path of a file, or :memory:"),
    v.check((path) => !/^file:/i.test(path), "must be a path, not a url: leave out `file:`"),
  ),
});

const prefixRule = "must be letters, digits and _, at most 64, not beginning with a digit";

const optionsSchema = v.strictObject({
  tablePrefix: v.optional(
    v.pipe(
      v.string(prefixRule),
      v.maxLength(TABLE_PREFIX_LENGTH_MAX, prefixRule),
      v.regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, prefixRule),
      v.check(
        (prefix) => !/^sqlite_/i.test(prefix),
        "must be another one: names that begin with sqlite_ are SQLite's own",
      ),
    ),
    "escapement_",
  ),
  serializer: v.optional(v.custom<Serializer>(isSerializer, "must have the methods serialize and deserialize")),
  durability: v.optional(v.picklist(["full", "normal"], 'must be "full" or "normal"'), "full"),
});

/** @throws {OptionsError} with one issue per problem */
export function checkPath(connection: SqliteConnection): string {
  return check(connectionSchema, connection, "connection").path;
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: SqliteStoreOptions): CheckedOptions {
  return check(optionsSchema, options, "options");
}

function check<S extends v.GenericSchema>(schema: S, value: unknown, name: string): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const issues = result.issues.map((issue) => ({ path: v.getDotPath(issue) ?? "", message: issue.message }));
  const list = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new OptionsError(`the ${name} of SqliteDataStore cannot be used: ${list}`, issues);
}

function isSerializer(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return ["serialize", "deserialize"].every((name) => typeof Reflect.get(value, name) === "function");
}
