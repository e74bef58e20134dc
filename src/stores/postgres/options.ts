import * as v from "valibot";
import { checker, durationMs, namesOf, objectOf, says } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { isPlain } from "../../core/option-errors.ts";
import { postgresUrl } from "../../core/postgres-address.ts";
import { REMOTE_TIMEOUT_MS_DEFAULT } from "../sql/limits.ts";
import {
  type CheckedSharedOptions,
  SHARED_SYNONYMS,
  type SharedStoreOptions,
  sharedEntries,
} from "../sql/store-options.ts";
import { linkOf, type PostgresStoreClient } from "./driver/clients.ts";

/** A server by its address. The store makes its own connections, with the package `postgres`. */
export interface PostgresUrlConnection {
  /** `postgres://user:password@host:port/database`, with `?sslmode=verify-full` for TLS. Several hosts, with commas
   *  between them, are tried one after the other; `?host=/var/run/postgresql` is the folder of a unix socket. What only
   *  other libraries know, such as `channel_binding` or `pgbouncer`, is left out, and `health()` tells of it. */
  readonly url: string;
}

/** A client of the caller's, which stays the caller's to close. */
export interface PostgresClientConnection {
  /** The `sql` of postgres.js or of Bun, a `Pool` or a `Client` of `pg`, or a database of PGlite. */
  readonly client: PostgresStoreClient;
}

/** Where a `PostgresDataStore` keeps everything. */
export type PostgresConnection = PostgresUrlConnection | PostgresClientConnection;

/** Options of a `PostgresDataStore`. */
export interface PostgresStoreOptions extends Omit<SharedStoreOptions, "tablePrefix"> {
  /** The schema of the database that has the tables; the store makes it where it is missing. Letters, digits
   *  and `_`, at most 63; capitals count. Default: the `schema` of the url, as Prisma writes it, or `"escapement"` */
  readonly schema?: string | undefined;
  /** Longest wait for one answer. Default: 10 seconds. */
  readonly timeout?: Duration | undefined;
}

export interface CheckedPostgresStoreOptions extends Omit<CheckedSharedOptions, "tablePrefix"> {
  readonly schema: string;
  readonly timeoutMs: number;
}

/** Longest name in PostgreSQL. It cuts longer ones. */
const NAME_LENGTH_MAX = 63;

const saysName = says(`letters, digits and _, at most ${NAME_LENGTH_MAX}, not beginning with a digit or with pg_`);

const schemaName: () => v.GenericSchema<string> = once(() =>
  v.pipe(
    v.string(saysName),
    v.maxLength(NAME_LENGTH_MAX, saysName),
    v.regex(/^(?!pg_)[A-Za-z_][A-Za-z0-9_]*$/i, saysName),
  ),
);

const optionsSchema = once(() => {
  const { tablePrefix: _, ...shared } = sharedEntries();
  return objectOf({
    ...shared,
    schema: v.optional(schemaName(), "escapement"),
    timeout: v.optional(durationMs(1), { milliseconds: REMOTE_TIMEOUT_MS_DEFAULT }),
  });
});

const urlSchema = once(() =>
  v.strictObject({
    url: postgresUrl(),
  }),
);

const clientSchema = once(() =>
  v.strictObject({
    client: v.custom<PostgresStoreClient>(
      (value) => linkOf(value) !== null,
      says("the sql of postgres.js or of Bun, a Pool or a Client of pg, or a database of PGlite"),
    ),
  }),
);

const CONNECTION_HINTS = {
  takes: "{ url } or { client }",
  instead: (value: unknown): string | null =>
    typeof value === "string" ? "write { url }" : linkOf(value) === null ? null : "pass it as { client }",
  elsewhere: (name: string): string | null =>
    namesOf(optionsSchema()).includes(name) ? `it comes second: new PostgresDataStore(connection, { ${name} })` : null,
  synonyms: { connectionstring: "url", dsn: "url", uri: "url", address: "url", sql: "client", pool: "client" },
};

const checkUrl = checker(urlSchema, CONNECTION_HINTS);

const checkClient = checker(clientSchema, CONNECTION_HINTS);

const checkGivenOptions = checker(optionsSchema, {
  instead: () => null,
  elsewhere: (name) =>
    ["url", "client"].includes(name) ? `it comes first: new PostgresDataStore({ ${name} }, options)` : null,
  synonyms: { ...SHARED_SYNONYMS, prefix: "schema", tableprefix: "schema", searchpath: "schema" },
});

/** @throws {OptionsError} with one issue per problem */
export function checkConnection(connection: PostgresConnection): PostgresConnection {
  const where = "new PostgresDataStore(connection)";
  const hasClient = typeof connection === "object" && connection !== null && "client" in connection;
  return hasClient ? checkClient(connection, where) : checkUrl(connection, where);
}

/** @param schema that of the url, where it names one
 *  @throws {OptionsError} with one issue per problem */
export function checkOptions(
  options: PostgresStoreOptions,
  where: string,
  schema: string | null = null,
): CheckedPostgresStoreOptions {
  const takesSchema = schema !== null && isPlain(options) && options.schema === undefined;
  return checkGivenOptions(takesSchema ? { ...options, schema } : options, where);
}
