import * as v from "valibot";
import { checker, durationMs, type Hints, hasMethods, implementing, namesOf, objectOf } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, shown } from "../../core/option-errors.ts";
import type { LibsqlClient } from "./client.ts";
import {
  type CheckedLibsqlOptions,
  type LibsqlStoreOptions,
  optionNames,
  optionsChecker,
  secret,
  text,
  UNSET,
} from "./store-options.ts";

/** A database by its address. */
export interface LibsqlUrlConnection {
  /** `file:name.db`, `:memory:`, `http(s)://`, `ws(s)://` or `libsql://`. */
  readonly url: string;
  /** Token for a remote database. */
  readonly authToken?: string | undefined;
  /** Address of a primary database. The file at `url` becomes an embedded replica of the primary: reads are local, and
   *  writes go to the primary. */
  readonly syncUrl?: string | undefined;
  /** How often a replica fetches changes by itself, for example `{ seconds: 30 }`. Default: never. The replica sees its
   *  own writes at once. */
  readonly syncInterval?: Duration | undefined;
  /** Key of an encrypted local database. */
  readonly encryptionKey?: string | undefined;
}

/** A database by a client that the caller made. The caller closes the client too. */
export interface LibsqlClientConnection {
  /** The client, which whoever made it closes. */
  readonly client: LibsqlClient;
}

/** Where a libSQL database is: what `createClient` takes, or a client. */
export type LibsqlConnection = LibsqlUrlConnection | LibsqlClientConnection;

const CLIENT_METHODS = ["execute", "batch", "close"] as const;

const clientConnectionSchema = once(() =>
  v.strictObject({
    client: implementing<LibsqlClient>("a libSQL client", CLIENT_METHODS),
  }),
);

/** A scheme before nothing, or before what a template makes of a variable that is not set. */
const NOTHING = /^file:([^?#]*\/)?(undefined|null)?([?#]|\s*$)|^(https?|wss?|libsql):\/*(undefined|null)?\s*$/i;

const urlConnectionSchema = once(() =>
  objectOf({
    url: v.pipe(
      text(),
      v.check((url) => /^(file|https?|wss?|libsql):|^:memory:/i.test(url), saysUrl),
      v.check((url) => !NOTHING.test(url), saysNothing),
    ),
    authToken: v.optional(secret()),
    syncUrl: v.optional(text()),
    syncInterval: v.optional(durationMs()),
    encryptionKey: v.optional(secret()),
  }),
);

const connectionHints: Hints = {
  takes: "{ url } or { client }",
  instead: connectionAdvice,
  elsewhere: (name) =>
    optionNames().includes(name) ? `it comes second: new LibsqlDataStore(connection, { ${name} })` : null,
  synonyms: { path: "url", file: "url", filename: "url", database: "url", uri: "url", token: "authToken" },
};

const checkByUrl = checker(urlConnectionSchema, connectionHints);
const checkByClient = checker(clientConnectionSchema, {
  ...connectionHints,
  elsewhere: (name) =>
    namesOf(urlConnectionSchema()).includes(name) ? "a connection is given by url or by client, not by both" : null,
});
const checkStoreOptions = optionsChecker(() => namesOf(urlConnectionSchema()));

/** @throws {OptionsError} with one issue per problem */
export function checkConnection(connection: LibsqlConnection): void {
  // The problems that are reported are those of the kind that the caller probably meant.
  const isByClient = typeof connection === "object" && connection !== null && "client" in connection;
  (isByClient ? checkByClient : checkByUrl)(connection, "new LibsqlDataStore(connection)");
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: LibsqlStoreOptions): CheckedLibsqlOptions {
  return checkStoreOptions(options, "new LibsqlDataStore(connection, options)");
}

function connectionAdvice(value: unknown): string | null {
  if (typeof value === "string") return `write { url: ${shown(isUrl(value) ? value : `file:${value}`)} }`;
  // The option of SqliteDataStore.
  if (isPlain(value) && value.url === undefined && typeof value.path === "string") return connectionAdvice(value.path);
  if (value instanceof URL) return "write { url: url.href }";
  return hasMethods(value, CLIENT_METHODS) ? "pass it as { client }" : null;
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:|^:memory:/i.test(text);
}

/** SQLite makes a database of a file without a name that is gone when it is closed. */
function saysNothing({ input }: { readonly input: unknown }): string {
  return mustBe("an address with something behind the scheme", input, "", UNSET);
}

function saysUrl({ input }: { readonly input: unknown }): string {
  const isPath = typeof input === "string" && !isUrl(input);
  const advice = isPath ? `write { url: ${shown(`file:${input}`)} }` : null;
  return mustBe("file:, http:, https:, ws:, wss: or libsql: and an address, or :memory:", input, "", advice);
}
