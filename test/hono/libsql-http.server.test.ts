import { afterAll, beforeAll, expect, test } from "vitest";
import { createRouter } from "../../src/hono/mod.ts";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql-http/mod.ts";
import { recordingLogger } from "../scheduler/support.ts";
import { sharedSqld } from "../support/shared-sqld.ts";
import { asker } from "./support.ts";

// Runs on every runtime, against a real server of libSQL.

let server: Awaited<ReturnType<typeof sharedSqld>>;
beforeAll(async () => {
  server = await sharedSqld();
});
afterAll(() => server?.stop());

test("a scheduler on libSQL is controlled over HTTP, from the first schedule to the last result", async () => {
  const dataStore = new LibsqlDataStore({ url: server.url }, { tablePrefix: "router_" });
  const { logger } = recordingLogger();
  await using scheduler = new Scheduler({ dataStore, logger });
  scheduler.task("add", { maxRunningJobs: null }, (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0));
  const ask = asker(createRouter(scheduler, { auth: "none", logger }));

  const trigger = { at: "2999-01-01T09:00:00Z" };
  const added = await ask("POST /schedules", { id: "a/b 100%", name: "Sum", taskId: "add", trigger, payload: [1, 2] });
  expect([added.status, added.headers.get("location")]).toEqual([201, "/schedules/a%2Fb%20100%25"]);
  expect(await ask("POST /schedules", { id: "a/b 100%", taskId: "add", trigger })).toMatchObject({ status: 409 });
  const found = await ask("GET /schedules?search=sum&state=active&sort=nextFireTime&include=payload");
  expect(found).toMatchObject({ status: 200, body: { items: [added.body], cursor: null } });

  const run = await ask("POST /schedules/a%2Fb%20100%25/run", undefined, { "idempotency-key": "once" });
  const { id } = run.body as { id: string };
  expect(await ask(`GET /jobs/${id}/result`)).toMatchObject({ status: 202 });
  const batch = await ask("POST /jobs/batch", {
    jobs: [
      { taskId: "add", payload: [3] },
      { taskId: "add", payload: [4] },
    ],
    then: { taskId: "add", payload: [5] },
  });
  expect(batch).toMatchObject({ status: 202, body: { items: [{ payload: [3] }, { payload: [4] }] } });
  expect(await ask("GET /jobs?order=newest&limit=1")).toMatchObject({ body: { items: [{ state: "blocked" }] } });

  expect(await ask("POST /tick")).toMatchObject({ status: 200, body: { jobsRun: 4, outcomes: { success: 4 } } });
  expect(await ask(`GET /jobs/${id}/result`)).toMatchObject({
    status: 200,
    body: { scheduleId: "a/b 100%", outcome: "success", returnValue: 3 },
  });
  expect(await ask("GET /results?taskId=add")).toMatchObject({ body: { items: [{}, {}, {}, {}] } });
  expect(await ask("POST /jobs/bulk", { action: "purge", filter: { taskId: "add" } })).toMatchObject({
    body: { action: "purge", count: 4 },
  });
  expect(await ask("GET /health/ready")).toMatchObject({ status: 200 });
  expect(await ask("GET /overview")).toMatchObject({ body: { nextFires: [{ id: "a/b 100%" }] } });
  expect(await ask("DELETE /schedules/a%2Fb%20100%25")).toMatchObject({ status: 204 });
  expect(await ask("DELETE /tasks/add")).toMatchObject({ status: 204 });
});
