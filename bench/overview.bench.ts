// What does the overview of 10,000 schedules and a million results cost, and what a table of 100 schedules? Guess: 50 ms
// and 30 ms, as with a hundredth of them. Method and last results: README.md. Run by run.mjs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { createRouter } from "../src/hono/mod.ts";
import { Scheduler } from "../src/mod.ts";
import { LibsqlDataStore } from "../src/stores/libsql/mod.ts";
import { fillStore } from "../test/support/many-results.ts";
import { printTable } from "./lib/table.ts";

const ROUNDS = 9;

const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
const table: string[][] = [];
for (const [schedules, results] of [
  [100, 10_000],
  [10_000, 1_000_000],
] as const) {
  const url = `file:${join(folder, `${results}.db`)}`;
  const dataStore = new LibsqlDataStore({ url }, { durability: "normal" });
  const scheduler = new Scheduler({ dataStore, logLevel: "silent" });
  scheduler.task("t0", () => {});
  await scheduler.addSchedule("t0", "0 9 * * *", { id: "first" });
  const client = createClient({ url });
  await fillStore(client, Date.now(), { schedules, results });
  client.close();
  const router = createRouter(scheduler, { auth: { tokens: [{ token: "t".repeat(32), scope: "write" }] } });
  const ids = Array.from({ length: 100 }, (_, index) => `ids=copy%20${String(index).padStart(6, "0")}`).join("&");
  const routes = {
    "/overview": "/overview",
    "/stats?by=task": "/stats?by=task",
    "/schedules, 100 with next, runs, stats": `/schedules?${ids}&include=next:5,runs:24,stats`,
  };
  for (const [name, path] of Object.entries(routes)) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const start = process.cpuUsage();
      const answer = await router.request(path, { headers: { authorization: `Bearer ${"t".repeat(32)}` } });
      bytes = (await answer.text()).length;
      const { user, system } = process.cpuUsage(start);
      times.push((user + system) / 1000);
      if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    }
    times.sort((a, b) => a - b);
    const [median, best] = [times[ROUNDS >> 1] ?? 0, times[0] ?? 0];
    table.push([name, String(schedules), String(results), `${median.toFixed(1)} ms`, `${best.toFixed(1)} ms`]);
    console.log(`${name}: ${bytes} bytes`);
  }
  await scheduler.stop();
}
rmSync(folder, { recursive: true, force: true });
printTable("CPU time of a request", ["request", "schedules", "results", "median", "best"], table);
