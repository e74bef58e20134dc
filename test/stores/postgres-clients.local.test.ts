import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresDataStore, type PostgresStoreClient } from "../../src/postgres.ts";
import { postgresNames } from "../../src/stores/sql/postgres/schema/names.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { PgBouncer } from "../support/pgbouncer.ts";
import { sampleOf, titleOf } from "./contract-title.ts";
import { ServerStores } from "./postgres-server-stores.ts";

const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);

const stores = new ServerStores();
const openStore = stores.open.bind(stores);
let bouncer: PgBouncer;
beforeAll(async () => {
  bouncer = await PgBouncer.start(stores.server);
});
afterAll(() => bouncer?.stop());

const { Bun: bun } = globalThis as {
  readonly Bun?: { readonly SQL: new (url: string, options: object) => BunClient };
};

interface BunClient {
  unsafe(sql: string): { simple(): { raw(): PromiseLike<unknown> } & PromiseLike<unknown> };
  end(): Promise<void>;
}

interface Connected {
  readonly client: PostgresStoreClient;
  /** Runs a statement, and leaves out its rows. */
  readonly run: (sql: string) => PromiseLike<unknown>;
  readonly end: () => Promise<unknown>;
}

/** The clients of which the store says that it works with them. They differ by their transport alone. */
const CLIENTS: Readonly<Record<string, () => Connected>> = {
  "a pool of pg": () => ({ client: stores.pool, run: (sql) => stores.pool.query(sql), end: async () => {} }),
  "postgres.js": () => {
    const client = postgres(stores.server.url, { max: 4, onnotice: () => {}, transform: postgres.camel });
    return { client, run: (sql) => client.unsafe(sql), end: () => client.end() };
  },
  "a pool behind PgBouncer that lends connections for one transaction": () => {
    const client = new pg.Pool({ connectionString: bouncer.urlOf("transaction"), max: 4 });
    return { client, run: (sql) => client.query(sql), end: () => client.end() };
  },
  ...(bun === undefined
    ? {}
    : {
        "the sql of Bun": () => {
          const client = new bun.SQL(stores.server.url, { max: 4 });
          return { client, run: (sql) => client.unsafe(sql).simple(), end: () => client.end() };
        },
      }),
  PGlite: () => {
    const client = new PGlite();
    return { client, run: (sql) => client.exec(sql), end: () => client.close() };
  },
};

for (const [index, [name, connect]] of Object.entries(CLIENTS).entries()) {
  describe(`PostgresDataStore over ${name} keeps the contract:`, () => {
    const schema = `Contract_${index}`;
    const { inSchema: _, schema: __, ...tables } = postgresNames(schema);
    const emptied = Object.values(tables).map((table) => `DELETE FROM ${table}`);
    let connected: Connected;
    beforeAll(async () => {
      connected = connect();
      // PGlite starts with the first statement, and may take longer than a store waits for an answer.
      await connected.run("SELECT 1");
      await (await openStore(connected.client, schema)).getTasks();
    });
    afterAll(() => connected.end());
    // All cases run in `npm run test:matrix`. What a runtime has a part in is the driver.
    const every = (index === 0 ? 10 : 40) * (isNode ? 1 : 4);
    const cases = sampleOf(dataStoreContract, every, index);
    for (const { name: title, rules, run } of cases) {
      test(titleOf(rules, title), async ({ skip }) => {
        await connected.run(emptied.join("; "));
        const open = () => openStore(connected.client, schema);
        await run({ open, reopen: open, skip });
      });
    }
  });
}

test("the sql of Bun for another database is refused", () => {
  const client = Object.assign(() => {}, { unsafe: () => {}, options: { adapter: "mysql" } });
  const make = () => new PostgresDataStore({ client: client as unknown as PostgresStoreClient });
  expect(make).toThrow(/client must be the sql of postgres.js or of Bun/);
});
