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
  let statements = 0;
  let steps = 0;
  const execute = client.execute.bind(client);
  // SQLite forgets the steps of a statement that was thrown away, so they are read at once.
  const ofStatement = "SELECT coalesce(max(nstep), 0) AS steps FROM sqlite_stmt WHERE sql = ?1";
  client.execute = async (statement) => {
    const answer = await execute(statement);
    statements++;
    const { rows } = await execute({ sql: ofStatement, args: [statement.sql] });
    steps += Number(rows[0]?.steps);
    return answer;
  };
  const clock = new VirtualClock(NOW);
  const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ client }), clock, logLevel: "silent" });
  onTestFinished(() => client.close());
  scheduler.task("t0", () => {});
  await scheduler.addSchedule("t0", "0 9 * * *", { id: "first" });
  await fillStore(client, clock.now(), amounts);
  const ask = asker(createRouter(scheduler, { auth: "none", allowedHosts: ["localhost"], clock }));
  const measured = async (route: string) => {
    statements = 0;
    steps = 0;
    const { body, status } = await ask(route);
    expect(status).toBe(200);
    return { body: body as { failureGroups: { count: number }[]; items: object[] }, statements, steps };
  };
  const overview = await measured("GET /overview");
  const ids = Array.from({ length: 100 }, (_, index) => `ids=copy%20${String(index).padStart(6, "0")}`).join("&");
  return { overview, table: await measured(`GET /schedules?${ids}&include=next:5,runs:24,stats`) };
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
  expect(few.table.steps).toBeGreaterThan(0);
  expect(table.steps).toBeLessThan(1.2 * few.table.steps);
});
