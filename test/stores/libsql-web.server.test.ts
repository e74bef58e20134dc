import { createClient } from "@libsql/client/web";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { type LibsqlClient, LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { Connection } from "../../src/stores/sql/driver/connection.ts";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { sharedSqld } from "../support/shared-sqld.ts";
import { expectTicksToFire } from "../support/ticks.ts";
import { sampleOf, titleOf } from "./contract-title.ts";
import { expectPortable, StatementRecord } from "./statement-rules.ts";

// Runs on Node and inside workerd.

let server: Awaited<ReturnType<typeof sharedSqld>>;
const used: { close(): unknown }[] = [];

beforeAll(async () => {
  server = await sharedSqld();
});
afterEach(async () => {
  for (const closable of used.splice(0).reverse()) await closable.close();
});
afterAll(() => server?.stop());

const record = new StatementRecord();

function newStore(tablePrefix: string, protocol: "http" | "ws" = "http"): LibsqlDataStore {
  const client = createClient({ url: server.url.replace(/^http/, protocol) });
  const store = new LibsqlDataStore({ client: recordingClient(client) }, { tablePrefix });
  used.push(client, store);
  return store;
}

/** A client that notes what it runs. */
function recordingClient(client: ReturnType<typeof createClient>): LibsqlClient {
  return {
    async execute(statement) {
      const answer = await client.execute(statement);
      record.note(statement, answer.columns);
      return answer;
    },
    async batch(statements, mode) {
      for (const statement of statements) record.note(statement);
      const answers = await client.batch(statements, mode);
      for (const [index, statement] of statements.entries()) record.note(statement, answers[index]?.columns);
      return answers;
    },
    close: () => client.close(),
    reconnect: () => client.reconnect(),
    protocol: client.protocol,
  };
}

async function openStore(tablePrefix: string): Promise<LibsqlDataStore> {
  const store = newStore(tablePrefix);
  await store.open(T0);
  return store;
}

/** Empties the tables of the contract, if there are any: quicker than new ones for every case. */
async function clear(): Promise<void> {
  const client = createClient({ url: server.url });
  try {
    const { schema: _, ...tables } = tableNames("web_");
    await client.batch(
      Object.values(tables).map((table) => `DELETE FROM ${table}`),
      "write",
    );
  } catch (error) {
    if (!String(error).includes("no such table")) throw error;
  } finally {
    client.close();
  }
}

describe("LibsqlDataStore with a client of @libsql/client/web keeps the contract", () => {
  for (const { name, rules, run } of sampleOf(dataStoreContract, 20)) {
    test(titleOf(rules, name), async () => {
      await clear();
      await run({ open: () => openStore("web_"), reopen: () => openStore("web_") });
    });
  }

  test("and every statement that ran is one that D1 and Durable Objects take", () => expectPortable(record));
});

describe("a tick on a client of @libsql/client/web", () => {
  for (const protocol of ["http", "ws"] as const) {
    test(`fires the schedule that is due (${protocol})`, () =>
      expectTicksToFire(newStore(`tick_${protocol}_`, protocol)));
  }
});

test("a server that cannot be reached is named, with advice, whatever the runtime's fetch says", async () => {
  // Nobody listens on a port of the system's that has had no use for decades.
  const client = createClient({ url: "http://127.0.0.1:2" });
  const driver = new LibsqlDriver({ client }, { durability: "full", timeoutMs: 5000 });
  const connection = new Connection(driver, { where: "the test", random: () => 0, timeoutMs: 5000 });
  const failure = await connection.read({ sql: "SELECT 1", args: [] }).catch((error: unknown) => error);
  client.close();
  expect(failure).toBeInstanceOf(StoreUnavailableError);
  expect(String(failure)).toMatch(/reading from the test failed: .*; check that the server runs/);
});
