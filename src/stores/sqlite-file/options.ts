import * as v from "valibot";
import { type Checker, checker, implementing, namesOf, oneOf, says } from "../../core/check.ts";
import { mustBe, shown } from "../../core/option-errors.ts";
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

const saysPath = ({ input }: { readonly input: unknown }): string =>
  mustBe('the path of a file, or ":memory:"', input, "", input === undefined ? "is it set?" : null);

const connectionSchema = v.strictObject({
  path: v.pipe(
    v.string(saysPath),
    v.nonEmpty(saysPath),
    v.check(
      (path) => !/^file:/i.test(path),
      ({ input }) => mustBe("a path, not a URL", input, "", "leave out `file:`"),
    ),
  ),
});

const saysPrefix = says("letters, digits and _, at most 64, not beginning with a digit");

const optionsSchema = v.strictObject({
  tablePrefix: v.optional(
    v.pipe(
      v.string(saysPrefix),
      v.maxLength(TABLE_PREFIX_LENGTH_MAX, saysPrefix),
      v.regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, saysPrefix),
      v.check(
        (prefix) => !/^sqlite_/i.test(prefix),
        says("another prefix, because names that begin with sqlite_ are SQLite's own"),
      ),
    ),
    "escapement_",
  ),
  serializer: v.optional(implementing<Serializer>("a Serializer", ["serialize", "deserialize"])),
  durability: v.optional(oneOf(["full", "normal"]), "full"),
});

const checkConnection: Checker<SqliteConnection> = checker(connectionSchema, {
  takes: "{ path }",
  instead: (value) =>
    typeof value === "string" && value !== "" ? `write { path: ${shown(value.replace(/^file:/i, ""))} }` : null,
  elsewhere: (name) =>
    namesOf(optionsSchema).includes(name) ? `it comes second: new SqliteDataStore(connection, { ${name} })` : null,
  synonyms: { url: "path", file: "path", filename: "path", database: "path" },
});
const checkStoreOptions: Checker<CheckedOptions> = checker(optionsSchema, {
  elsewhere: (name) => (name === "path" ? "it comes first: new SqliteDataStore({ path })" : null),
  synonyms: { prefix: "tablePrefix" },
});

/** @throws {OptionsError} with one issue per problem */
export function checkPath(connection: SqliteConnection): string {
  return checkConnection(connection, "new SqliteDataStore(connection)").path;
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: SqliteStoreOptions): CheckedOptions {
  return checkStoreOptions(options, "new SqliteDataStore(connection, options)");
}
