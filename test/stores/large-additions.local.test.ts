import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { PostgresDataStore } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { rejectionOf } from "../scheduler/support.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { Sqld } from "../support/sqld.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let postgres: PostgresServer;
let sqld: Sqld;
beforeAll(async () => {
  [postgres, sqld] = await Promise.all([PostgresServer.start(), Sqld.start()]);
});
afterAll(async () => {
  await Promise.all([postgres.stop(), sqld.stop()]);
});

/** More bytes than one request to a server carries. */
const JOBS = 14;
const PAYLOAD = "x".repeat(900_000);

/** A busy disk may need longer for a part of an addition than a store waits by default. */
const PATIENT = { timeout: { minutes: 5 } };

describe.each<[string, isServer: boolean, () => DataStore | Promise<DataStore>]>([
  ["memory", false, () => new MemoryDataStore()],
  ["a file", false, async () => new LibsqlDataStore({ url: `file:${join(await folder(), "jobs.db")}` })],
  ["sqld", true, () => new LibsqlDataStore({ url: sqld.httpUrl }, PATIENT)],
  ["PostgreSQL", true, () => new PostgresDataStore({ url: postgres.url }, PATIENT)],
])("an addition of 12 MB to %s", (_, isServer, open) => {
  test("adds all of its jobs in their order", async () => {
    const { scheduler } = await started(open);
    const jobs = await scheduler.addJobs(Array.from({ length: JOBS }, (_, n) => job({ metadata: { n } })));
    expect(jobs.map(({ metadata }) => metadata.n)).toEqual(jobs.map((_, n) => n));
    expect((await idsIn(scheduler)).sort()).toEqual(jobs.map(({ id }) => id).sort());
  });

  test("says how many jobs are added if not all of them are", async () => {
    const { scheduler } = await started(open);
    const list = Array.from({ length: JOBS }, (_, n) => job(n === JOBS - 1 ? { after: ["nobody"] } : {}));
    const message = String(await rejectionOf(scheduler.addJobs(list)));
    const [, told = "0"] = /: the first (\d+) of 14 jobs are added, .*nobody/.exec(message) ?? [];
    expect([message, Number(told) > 0]).toEqual([expect.stringContaining("nobody"), isServer]);
    expect((await idsIn(scheduler)).length).toBe(Number(told));
  });
});

async function idsIn(scheduler: Scheduler): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of scheduler.getJobs({ taskId: "big" })) ids.push(id);
  return ids;
}

function job(options: object): { task: string; payload: string; delay: string } {
  return { task: "big", payload: PAYLOAD, delay: "PT1H", ...options };
}

async function folder(): Promise<string> {
  const made = await temporaryFolder();
  onTestFinished(() => made.remove());
  return made.path;
}

async function started(open: () => DataStore | Promise<DataStore>): Promise<{ scheduler: Scheduler }> {
  const dataStore = await open();
  const scheduler = new Scheduler({ dataStore, logLevel: "silent" });
  onTestFinished(async () => {
    await scheduler.stop();
    await dataStore.close();
  });
  scheduler.task("big", () => {});
  await scheduler.cancelJobs({ all: true });
  return { scheduler };
}
