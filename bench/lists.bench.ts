// What does a page of a list cost? Guess: a page of 100 by id, or by fire time, a millisecond however many rows there are,
// its JSON less than 3 ms, and a text that nothing has 2 us a row.
// Run by run.mjs: node bench/run.mjs lists [rows]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CronTrigger, Scheduler } from "../src/mod.ts";
import { LibsqlDataStore } from "../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../src/stores/memory/store.ts";
import { printTable } from "./lib/table.ts";

const ROUNDS = 15;
const ADDED_AT_ONCE = 500;

const rowsMax = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
const stores = {
  file: (name: string) => new LibsqlDataStore({ url: `file:${join(folder, name)}` }, { durability: "normal" }),
  memory: (_name: string) => new MemoryDataStore(),
};

const table: string[][] = [];
for (const [kind, open] of Object.entries(stores)) {
  for (const count of [1000, rowsMax]) await measure(kind, new Scheduler({ dataStore: open(`${count}.db`) }), count);
}
rmSync(folder, { recursive: true, force: true });
printTable("CPU time of a page of 100, medians of 15", ["page", "store", "rows", "ms"], table);

async function measure(kind: string, scheduler: Scheduler, count: number): Promise<void> {
  await using _ = scheduler;
  scheduler.task("mail", () => {});
  for (let added = 0; added < count; ) {
    const adding: Promise<unknown>[] = [];
    for (let index = 0; index < ADDED_AT_ONCE; index++, added++) {
      const options = { id: `schedule ${added}`, name: `Letter to ${added}`, payload: { to: added } };
      adding.push(scheduler.addSchedule("mail", new CronTrigger({ hour: added % 24, minute: added % 60 }), options));
    }
    await Promise.all(adding);
    await scheduler.addJobs(Array.from({ length: ADDED_AT_ONCE }, (_, index) => ({ task: "mail", payload: index })));
  }
  const { items } = await scheduler.getSchedules();
  const pages: Record<string, () => unknown> = {
    "schedules by id": () => scheduler.getSchedules(),
    "the JSON of these": () => JSON.stringify(items),
    "schedules by nextFireTime": () => scheduler.getSchedules({ sort: "nextFireTime" }),
    "schedules with a text that many have": () => scheduler.getSchedules({ search: "LETTER" }),
    "schedules with a text that none has": () => scheduler.getSchedules({ search: "nowhere" }),
    "jobs, the newest first": () => scheduler.getJobs({ order: "newest" }),
    "jobs that are held, of which there are none": () => scheduler.getJobs({ state: "held" }),
  };
  for (const [name, read] of Object.entries(pages)) {
    const samples: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = process.cpuUsage();
      await read();
      const { user, system } = process.cpuUsage(before);
      samples.push((user + system) / 1000);
    }
    const median = samples.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
    table.push([name, kind, count.toLocaleString("en-US"), median.toPrecision(3)]);
  }
}
