import { type Client, createClient } from "@libsql/client";
import type { DataStore } from "../../src/contracts.ts";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import type { SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { openDatabase, SqliteDataStore, whyNoSqlite } from "../support/sqlite-store.ts";

/** How an application writes to its database. */
export interface Application {
  /** Runs the statements in one transaction, and commits it. */
  commit(statements: readonly SqlStatement[]): Promise<void>;
  /** Runs the statements in one transaction, and undoes it. */
  rollBack(statements: readonly SqlStatement[]): Promise<void>;
  /** The first column of a statement's rows. */
  read(sql: string): Promise<unknown[]>;
  close(): void;
}

/** An application beside a scheduler's store, on one database. */
export interface ApplicationKind {
  readonly name: string;
  readonly whyMissing: string | null;
  open(address: string): { readonly application: Application; readonly dataStore: DataStore };
}

function ofClient(client: Client, inBatches: boolean): Application {
  const inTransaction = async (statements: readonly SqlStatement[], isToCommit: boolean): Promise<void> => {
    const transaction = await client.transaction("write");
    try {
      for (const statement of statements) await transaction.execute(statement);
      await (isToCommit ? transaction.commit() : transaction.rollback());
    } finally {
      transaction.close();
    }
  };
  return {
    async commit(statements) {
      if (inBatches) await client.batch([...statements], "write");
      else await inTransaction(statements, true);
    },
    async rollBack(statements) {
      if (!inBatches) return inTransaction(statements, false);
      const broken = client.batch([...statements, "INSERT INTO no_such_table VALUES (1)"], "write");
      if (await broken.then(() => true).catch(() => false)) throw new Error("the batch was committed");
    },
    async read(sql) {
      const { rows } = await client.execute(sql);
      return rows.map((row) => row[0]);
    },
    close: () => client.close(),
  };
}

/** Applications with a client of `@libsql/client`, on a file or a server. */
export const LIBSQL_APPLICATIONS: readonly ApplicationKind[] = [
  {
    name: "batch() of a client of its own",
    whyMissing: null,
    open: (url) => ({ application: ofClient(createClient({ url }), true), dataStore: new LibsqlDataStore({ url }) }),
  },
  {
    name: "transaction() of a client of its own",
    whyMissing: null,
    open: (url) => ({ application: ofClient(createClient({ url }), false), dataStore: new LibsqlDataStore({ url }) }),
  },
  {
    name: "batch() of the store's client",
    whyMissing: null,
    open(url) {
      const client = createClient({ url, concurrency: 1 });
      return { application: ofClient(client, true), dataStore: new LibsqlDataStore({ client }) };
    },
  },
];

/** An application with the SQLite that comes with the runtime: `node:sqlite` or `bun:sqlite`. */
export const SQLITE_APPLICATION: ApplicationKind = {
  name: "the SQLite of the runtime",
  whyMissing: whyNoSqlite,
  open(path) {
    const database = openDatabase(path);
    const transact = (statements: readonly SqlStatement[], end: "COMMIT" | "ROLLBACK"): void => {
      database.prepare("BEGIN IMMEDIATE").all();
      try {
        for (const { sql, args } of statements) database.prepare(sql).all(...args);
      } catch (error) {
        database.prepare("ROLLBACK").all();
        throw error;
      }
      database.prepare(end).all();
    };
    return {
      application: {
        commit: async (statements) => transact(statements, "COMMIT"),
        rollBack: async (statements) => transact(statements, "ROLLBACK"),
        read: async (sql) =>
          database
            .prepare(sql)
            .all()
            .map((row) => Object.values(row)[0]),
        close: () => database.close(),
      },
      dataStore: new SqliteDataStore({ path }),
    };
  },
};

/** Opens both for as long as `use` takes, with a scheduler on the store and a table `orders` of the application's. */
export async function withApplication(
  kind: ApplicationKind,
  address: string,
  use: (application: Application, scheduler: Scheduler, store: DataStore) => Promise<void>,
): Promise<void> {
  const { application, dataStore } = kind.open(address);
  const scheduler = new Scheduler({ dataStore });
  try {
    await application.commit([{ sql: "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY)", args: [] }]);
    await use(application, scheduler, dataStore);
  } finally {
    await scheduler.stop();
    application.close();
  }
}
