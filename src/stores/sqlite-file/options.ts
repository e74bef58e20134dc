import * as v from "valibot";
import { checker, type Hints, namesOf, oneOf, says } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, shown } from "../../core/option-errors.ts";
import {
  type CheckedSharedOptions,
  SHARED_SYNONYMS,
  type SharedStoreOptions,
  sharedEntries,
} from "../sql/store-options.ts";

/** A database by its place. */
export interface SqliteConnection {
  /** The path of the database file, or `":memory:"`. A file that does not exist is made. A relative path begins at the
   *  working directory of the process. */
  readonly path: string;
}

/** Options of a {@link SqliteDataStore}. */
export interface SqliteStoreOptions extends SharedStoreOptions {
  /** For a file. With `"full"` (default), commits that were acknowledged survive a power failure, at the cost of one
   *  fsync per commit. With `"normal"`, they survive a crash of the process, but a power failure can lose the last
   *  moments. */
  readonly durability?: "full" | "normal" | undefined;
}

export interface CheckedSqliteOptions extends CheckedSharedOptions {
  readonly durability: "full" | "normal";
}

const PATH = "the path of a file, or :memory:";

/** A path whose last part is nothing, or what a template makes of a variable that is not set. */
const NOTHING = /^(.*[\\/])?(undefined|null)?\s*$/s;

const connectionSchema = once(() =>
  v.strictObject({
    path: v.pipe(
      v.string(says(PATH)),
      v.check(
        (path) => !NOTHING.test(path),
        ({ input }) => mustBe(PATH, input, "", "is the environment variable set?"),
      ),
      v.check(
        (path) => !isUrl(path),
        ({ input }) => mustBe("a path, not a url", input, "", pathAdvice(input)),
      ),
    ),
  }),
);

const optionsSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    durability: v.optional(oneOf(["full", "normal"]), "full"),
  }),
);

const connectionHints: Hints = {
  takes: "{ path }",
  instead: (value) => {
    if (typeof value === "string") return pathAdvice(value);
    // The option of LibsqlDataStore.
    if (isPlain(value) && value.path === undefined && typeof value.url === "string") return pathAdvice(value.url);
    return value instanceof URL ? "write { path }" : null;
  },
  elsewhere: (name) =>
    namesOf(optionsSchema()).includes(name) ? `it comes second: new SqliteDataStore(connection, { ${name} })` : null,
  synonyms: { url: "path", uri: "path", file: "path", filename: "path", database: "path" },
};

const checkConnection = checker(connectionSchema, connectionHints);
const checkStoreOptions = checker(optionsSchema, {
  elsewhere: (name) => (name === "path" ? "it comes first: new SqliteDataStore({ path })" : null),
  synonyms: SHARED_SYNONYMS,
});

/** @throws {OptionsError} with one issue per problem */
export function checkPath(connection: SqliteConnection): string {
  return checkConnection(connection, "new SqliteDataStore(connection)").path;
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: SqliteStoreOptions): CheckedSqliteOptions {
  return checkStoreOptions(options, "new SqliteDataStore(connection, options)");
}

function isUrl(path: string): boolean {
  return /^file:|^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}

function pathAdvice(path: string): string {
  if (!isUrl(path)) return `write { path: ${shown(path)} }`;
  return /^file:/i.test(path)
    ? `write { path: ${shown(path.replace(/^file:(\/\/)?/i, ""))} }`
    : "a server's database is for new LibsqlDataStore({ url })";
}
