import { sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import createKnex from "knex";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import postgres from "postgres";
import { DataSource } from "typeorm";
import { PostgresDataStore } from "../../src/postgres.ts";
import type { SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import type { Application, ApplicationKind } from "./application.ts";

/** Runs one statement in a transaction. */
type Run = (statement: SqlStatement) => PromiseLike<unknown>;
/** Opens a transaction, which is undone when `use` rejects. */
type Transact = (use: (run: Run) => Promise<void>) => Promise<unknown>;

class Undone extends Error {}

function applicationOf(pool: pg.Pool, transact: Transact, close: () => unknown): Application {
  const runAll =
    (statements: readonly SqlStatement[]) =>
    async (run: Run): Promise<void> => {
      // The statements of the cases that are the application's have the parameters of SQLite.
      for (const { sql, args } of statements) await run({ sql: sql.replace("?", "$1"), args });
    };
  return {
    async commit(statements) {
      await transact(runAll(statements));
    },
    async rollBack(statements) {
      try {
        await transact(async (run) => {
          await runAll(statements)(run);
          throw new Undone();
        });
      } catch (error) {
        if (!(error instanceof Undone)) throw error;
      }
    },
    async read(sql) {
      const { rows } = await pool.query({ text: sql, rowMode: "array" });
      return rows.map((row) => row[0]);
    },
    close: () => void close(),
  };
}

// The recipes of docs/jobs.md.
const TRANSACTIONS: Readonly<
  Record<string, (pool: pg.Pool, url: string) => [transact: Transact, close: () => unknown]>
> = {
  "postgres.js": (_, url) => {
    const client = postgres(url, { max: 1, onnotice: () => {} });
    return [(use) => client.begin((tx) => use(({ sql, args }) => tx.unsafe(sql, args))), () => client.end()];
  },
  pg: (pool) => [
    async (use) => {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        await use(({ sql, args }) => client.query(sql, args));
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
    () => {},
  ],
  Drizzle: (pool) => {
    const db = drizzle(pool);
    const withArgs = ({ sql, args }: SqlStatement) =>
      drizzleSql.join(
        sql
          .split(/\$(\d+)/)
          .map((part, index) => (index % 2 === 0 ? drizzleSql.raw(part) : drizzleSql`${args[Number(part) - 1]}`)),
      );
    return [(use) => db.transaction((tx) => use((statement) => tx.execute(withArgs(statement)))), () => {}];
  },
  Kysely: (pool) => {
    const db = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }) });
    return [
      (use) => db.transaction().execute((tx) => use(({ sql, args }) => tx.executeQuery(CompiledQuery.raw(sql, args)))),
      () => {},
    ];
  },
  Knex: (_, url) => {
    const knex = createKnex({ client: "pg", connection: url, pool: { min: 0, max: 1 } });
    return [
      (use) =>
        knex.transaction((tx) =>
          use(({ sql, args }) => {
            const numbers = [...sql.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
            return tx.raw(
              sql.replace(/\$\d+/g, "?"),
              numbers.map((number) => args[number - 1] ?? null),
            );
          }),
        ),
      () => knex.destroy(),
    ];
  },
  TypeORM: (_, url) => {
    const source = new DataSource({ type: "postgres", url });
    const opened = source.initialize();
    return [
      async (use) => {
        await opened;
        await source.transaction((manager) => use(({ sql, args }) => manager.query(sql, args)));
      },
      () => source.destroy(),
    ];
  },
};

/** Applications that write to PostgreSQL, each with a client or a library of its own. */
export const POSTGRES_APPLICATIONS: readonly {
  readonly name: string;
  /** @param pool that of the store */
  over(pool: pg.Pool, url: string): ApplicationKind;
}[] = Object.entries(TRANSACTIONS).map(([name, connect]) => ({
  name,
  over: (pool, url) => ({
    name,
    whyMissing: null,
    open() {
      const [transact, close] = connect(pool, url);
      const dataStore = new PostgresDataStore({ client: pool });
      return { application: applicationOf(pool, transact, close), dataStore };
    },
  }),
}));
