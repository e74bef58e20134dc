import { createClient } from "@libsql/client";
import { expect, onTestFinished, test } from "vitest";
import { createRouter } from "../../src/hono/mod.ts";
import { Scheduler } from "../../src/mod.ts";
import type { LibsqlClient } from "../../src/stores/libsql/client.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { type Amounts, fillStore } from "../support/many-results.ts";
import { asker } from "./support.ts";

const NOW = "2030-01-31T10:30:00Z";

/** The steps of SQLite's virtual machine that an overview takes, and a table of schedules with statistics. */
async function stepsOf(amounts: Amounts) {
  const client: LibsqlClient = createClient({ url: ":memory:" });
  const sent = new Set<string>();
  const execute = client.execute.bind(client);
  client.execute = (statement) => {
    sent.add(statement.sql);
    return execute(statement);
  };
  const clock = new VirtualClock(NOW);
  const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ client }), clock, logLevel: "silent" });
  onTestFinished(() => client.close());
  scheduler.task("t0", () => {});
  await scheduler.addSchedule("t0", "0 9 * * *", { id: "first" });
  await fillStore(client, clock.now(), amounts);
  const ask = asker(createRouter(scheduler, { auth: "none", allowedHosts: ["localhost"], clock }));
  const steps = async (route: string) => {
    sent.clear();
    const { body, status } = await ask(route);
    expect(status).toBe(200);
    const texts = JSON.stringify([...sent]);
    const sql = "SELECT sum(nstep) AS steps FROM sqlite_stmt WHERE sql IN (SELECT value FROM json_each(?1))";
    const { rows } = await execute({ sql, args: [texts] });
    return {
      body: body as { failureGroups: { count: number }[]; items: object[] },
      statements: sent.size,
      steps: Number(rows[0]?.steps),
    };
  };
  const overview = await steps("GET /overview");
  const ids = Array.from({ length: 100 }, (_, index) => `ids=copy%20${String(index).padStart(6, "0")}`).join("&");
  return { overview, table: await steps(`GET /schedules?${ids}&include=next:5,runs:24,stats`) };
}

test("an overview, and a table of a hundred, read as much of many schedules and results as of few", async () => {
  const few = await stepsOf({ schedules: 1000, results: 60_000 });
  const many = await stepsOf({ schedules: 4000, results: 180_000 });
  const { overview, table } = many;
  expect(overview.body).toMatchObject({
    isStoreReached: true,
    stats: { items: [{ total: { count: 24 * 10 * 7 } }] },
    failingSchedules: Array(10).fill({ id: expect.stringMatching(/^copy/) }),
    coming: Array(100).fill({ taskId: "t0" }),
  });
  expect(overview.body.failureGroups[0]?.count).toBeGreaterThan(100);
  expect(table.body.items).toMatchObject(Array(100).fill({ stats: { count: 7 * 3 } }));
  expect(table.statements).toBeLessThanOrEqual(4);
  console.log(`overview: ${overview.steps} steps in ${overview.statements} statements; table: ${table.steps} steps`);
  // The failures of a day are three times as many, and each of them is read.
  expect(overview.steps).toBeLessThan(3 * few.overview.steps);
  expect(overview.steps).toBeLessThan(400_000);
  expect(table.steps).toBeLessThan(1.2 * few.table.steps);
});
