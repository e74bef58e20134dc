import { createClient } from "@libsql/client";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import type { Row, SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import type { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { FileDriver } from "../../src/stores/sqlite-file/driver.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { openDatabase, SqliteDataStore, whyNoSqlite } from "../support/sqlite-store.ts";

type LocalOptions = ConstructorParameters<typeof SqliteDataStore>[1];

type LocalDriver = Required<Pick<SqlDriver, "open" | "close">> & SqlDriver;

/** A store on a file or in memory, for tests that hold for every one of them. */
export interface LocalStore {
  readonly name: string;
  /** Why it cannot be opened on this runtime, or null. */
  readonly whyMissing: string | null;
  /** A store on a path, which may be `":memory:"`. */
  make(path: string, options?: LocalOptions): SqlDataStore;
  /** Its driver. SQLite's locks do not hold between two libraries in one process, so nothing else may look into its
   *  files. */
  driver(path: string, durability?: "full" | "normal"): LocalDriver;
  /** Writes in a transaction of somebody else's, which then keeps the lock until `commit`. */
  hold(path: string, sql: string): Promise<{ commit(): Promise<void> }>;
  /** Reads the tables as they are now, until `end`. */
  keepReading(path: string): Promise<{ end(): Promise<void> }>;
}

const READ = "SELECT count(*) FROM escapement_jobs";

export const LIBSQL: LocalStore = {
  name: "LibsqlDataStore",
  whyMissing: null,
  make: (path, options) => new LibsqlDataStore({ url: urlOf(path) }, options),
  driver: (path, durability = "full") =>
    new LibsqlDriver({ url: urlOf(path) }, { durability, timeoutMs: 1000, openClient }),
  // The client ends a transaction that is begun by a statement.
  async hold(path, sql) {
    const client = createClient({ url: urlOf(path), concurrency: 1 });
    const transaction = await client.transaction("write");
    await transaction.execute(sql);
    return {
      async commit() {
        await transaction.commit();
        client.close();
      },
    };
  },
  async keepReading(path) {
    const client = createClient({ url: urlOf(path), concurrency: 1 });
    const transaction = await client.transaction("read");
    await transaction.execute(READ);
    return {
      async end() {
        await transaction.rollback();
        client.close();
      },
    };
  },
};

export const SQLITE: LocalStore = {
  name: "SqliteDataStore",
  whyMissing: whyNoSqlite,
  make: (path, options) => new SqliteDataStore({ path }, options),
  driver: (path, durability = "full") => new FileDriver(openDatabase, path, durability),
  async hold(path, sql) {
    const database = openDatabase(path);
    for (const text of ["BEGIN IMMEDIATE", sql]) database.prepare(text).all();
    return {
      async commit() {
        database.prepare("COMMIT").all();
        database.close();
      },
    };
  },
  async keepReading(path) {
    const database = openDatabase(path);
    for (const text of ["BEGIN", READ]) database.prepare(text).all();
    return {
      async end() {
        database.prepare("ROLLBACK").all();
        database.close();
      },
    };
  },
};

export const LOCAL_STORES: readonly LocalStore[] = [LIBSQL, SQLITE];

function urlOf(path: string): string {
  return path === ":memory:" ? path : `file:${path}`;
}

/** Opens a store and has it make its tables, which otherwise the first call does that needs them. */
export async function openWithTables(store: SqlDataStore): Promise<void> {
  await store.open(T0);
  await store.getTasks();
}

/** Opens a store's database for as long as `use` takes. */
export async function withDriver<T>(
  local: LocalStore,
  path: string,
  use: (driver: SqlDriver) => Promise<T>,
): Promise<T> {
  const driver = local.driver(path);
  await openUnlessBusy(driver);
  try {
    return await use(driver);
  } finally {
    await driver.close();
  }
}

/** Opens a database that another process may be about to close, which takes the lock for a moment. */
async function openUnlessBusy(driver: SqlDriver): Promise<void> {
  for (;;) {
    try {
      return await driver.open?.();
    } catch (error) {
      if (driver.failureKind(error) !== "busy") throw error;
    }
  }
}

/** The rows that a statement answers with. */
export function rowsOf(driver: SqlDriver, sql: string): Promise<Row[]> {
  return driver.execute({ sql, args: [] });
}
