import type { AbortSignal } from "../../core/abort-signal.ts";
import { readPostgresAddress } from "../../core/postgres-address.ts";
import { shownAddress } from "../../core/shown-address.ts";
import type { InspectionOptions, StoreInspection, StoreWarning } from "../data-store.ts";
import { postgres } from "../sql/postgres/dialect.ts";
import { plainAdditions } from "../sql/postgres/jobs/additions.ts";
import { postgresNames } from "../sql/postgres/schema/names.ts";
import { schemaScript } from "../sql/postgres/schema/schema-check.ts";
import { NEWEST } from "../sql/postgres/schema/tables.ts";
import { StoreInSql } from "../sql/store.ts";
import { hearErrors, isPGlite, isUnheard, linkOf } from "./driver/clients.ts";
import { type LinkOpener, PostgresDriver } from "./driver/driver.ts";
import { Ear } from "./driver/ear.ts";
import { openLike, openOwnClient } from "./driver/own-client.ts";
import { checkConnection, checkOptions, type PostgresConnection, type PostgresStoreOptions } from "./options.ts";

/**
 * Keeps everything in a schema of a PostgreSQL database (15 or later): a server, or PGlite. Many schedulers, in many
 * processes, may share it.
 *
 * ```ts
 * const store = new PostgresDataStore({ url: "postgres://app@127.0.0.1:5432/app" });
 * await using scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * Each read is one round trip, and so is each write, however much it carries. Between transactions the store leaves
 * nothing in a connection, so that it may go through a pool that lends connections for one transaction each
 * (PgBouncer's `pool_mode = transaction`). Writes to one schema go one after the other, under a lock that ends with the
 * transaction, and which additions of plain jobs share.
 *
 * After a passing failure (a lost connection, a server that starts) the store tries again, for some seconds (`retry`),
 * before a method rejects with `StoreUnavailableError`.
 */
export class PostgresDataStore extends StoreInSql {
  readonly #connection: PostgresConnection;
  readonly #ear: Ear;

  /**
   * @param connection `{ url }`, or `{ client }` with a client of yours, which you close yourself
   * @throws {OptionsError} when an option is unknown, of a wrong type or out of range
   */
  constructor(connection: PostgresConnection, options: PostgresStoreOptions = {}) {
    const given = checkConnection(connection);
    const address = "url" in given ? readPostgresAddress(given.url) : null;
    const where = "new PostgresDataStore(connection, options)";
    const { schema, ...others } = checkOptions(options, where, address?.schema);
    const sharing = plainAdditions(postgresNames(schema));
    const { timeoutMs } = others;
    super(new PostgresDriver(opener(given), { lock: `escapement ${schema}`, sharing, timeoutMs }), postgres, {
      ...others,
      where: "url" in given ? shownAddress(given.url) : "PostgreSQL",
      sharedByProcesses: !("client" in given && isPGlite(given.client)),
      tablePrefix: schema,
    });
    this.#connection = given;
    this.#ear = new Ear(given, schema);
  }

  /** See `DataStore.hearCancellations`. It takes one connection more, by `LISTEN`. */
  hearCancellations(heard: (jobId: string) => void, signal: AbortSignal): void {
    this.#ear.hear(heard, signal);
  }

  /** See `DataStore.close`. */
  override async close(): Promise<void> {
    this.#ear.close();
    await super.close();
  }

  /** Does what that of every store does, and warns of a url and of a client that need a look. See
   *  `DataStore.inspect`. @throws {StoreUnavailableError} */
  override async inspect(now: number, options?: InspectionOptions): Promise<StoreInspection> {
    const found = await super.inspect(now, options);
    const own = connectionWarnings(this.#connection);
    return own.length === 0 ? found : { ...found, warnings: [...(found.warnings ?? []), ...own] };
  }

  /**
   * The statements that make the schema and its tables, for teams that make them by themselves. The store makes them
   * where they are missing.
   *
   * @throws {OptionsError} for a name that the store would refuse
   * @example
   * writeFileSync("migrations/0001-escapement.sql", PostgresDataStore.schemaSql());
   */
  static schemaSql(options: { readonly schema?: string | undefined } = {}): string {
    const { schema } = checkOptions(options, "PostgresDataStore.schemaSql(options)");
    const now = "round(extract(epoch FROM clock_timestamp()) * 1000)";
    const version = `INSERT INTO ${postgresNames(schema).schema} (version, applied_at) VALUES (${NEWEST}, ${now})`;
    return [...schemaScript(schema), version].map((sql) => `${sql};\n`).join("");
  }
}

function opener(connection: PostgresConnection): LinkOpener {
  if ("url" in connection) return () => openOwnClient(connection.url);
  const { client } = connection;
  const link = linkOf(client);
  // It was checked above.
  if (link === null) throw new TypeError("no client of PostgreSQL");
  return async (isAgain) => {
    hearErrors(client);
    // What went silent may hold all places of the client, of which the client takes none back.
    return (isAgain ? await openLike(client) : null) ?? link;
  };
}

function connectionWarnings(connection: PostgresConnection): StoreWarning[] {
  if ("url" in connection) {
    const { leftOut } = readPostgresAddress(connection.url);
    const message = `the url of PostgreSQL has ${leftOut.join(", ")}, which mean nothing here and are left out`;
    return leftOut.length === 0 ? [] : [{ code: "urlParameters", message }];
  }
  const message =
    'nobody hears the errors of the pool: one whose listener for "error" is missing ends the process when the server ' +
    'restarts, so the store has added one; add yours, such as pool.on("error", (error) => log(error))';
  return isUnheard(connection.client) ? [{ code: "unheardErrors", message }] : [];
}
