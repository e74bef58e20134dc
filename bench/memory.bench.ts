// Does memory stay flat while a million jobs are added and processed? Guess: yes, after the first hundred thousand.
// Adds and processes in batches, so that the store stays small, and prints samples: RSS, and the heap after a
// collection where the runtime offers one. Run by run.mjs: node bench/run.mjs memory [file|memory] [jobs]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Scheduler } from "../src/mod.ts";
import { LibsqlDataStore } from "../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../src/stores/memory/store.ts";
import { printTable } from "./lib/table.ts";

const BATCH = 1000;
const SAMPLES = 10;
const MIB = 1024 * 1024;
/** The last sample may be so much above the second: allocators keep what they once had. */
const GROWTH_MAX = 1.25;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const [kind = "file", jobs = "1000000"] = process.argv.slice(2);
const total = Number(jobs);
const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
const dataStore =
  kind === "memory"
    ? new MemoryDataStore()
    : new LibsqlDataStore({ url: `file:${folder}/a.db` }, { durability: "normal" });
const scheduler = new Scheduler({ dataStore, maxConcurrentJobs: 500 });
const task = scheduler.task<number>(
  "noop",
  { maxRunningJobs: null, resultExpirationTime: { seconds: 0 } },
  async () => undefined,
);

let released = 0;
let whenDone = (): void => {};
scheduler.subscribe("jobReleased", () => {
  if (++released % BATCH === 0) whenDone();
});
await scheduler.start();

const rssSamples: number[] = [];
const rows: string[][] = [];
const startedAt = performance.now();
for (let added = 0; added < total; added += BATCH) {
  const done = new Promise<void>((resolve) => {
    whenDone = resolve;
  });
  await scheduler.addJobs(Array.from({ length: BATCH }, (_, index) => ({ task, payload: added + index })));
  await done;
  if ((added + BATCH) % (total / SAMPLES) === 0) sample(added + BATCH);
}
await scheduler.stop();
rmSync(folder, { recursive: true, force: true });

printTable(
  `${total.toLocaleString("en-US")} jobs, ${kind}`,
  ["jobs processed", "RSS, MiB", "heap, MiB", "jobs a second"],
  rows,
);
const [, second = Number.NaN] = rssSamples;
const growth = (rssSamples.at(-1) ?? Number.NaN) / second;
console.log(
  `\nRSS at the end is ${growth.toFixed(2)} times that of the second sample: ${growth <= GROWTH_MAX ? "flat" : "GROWING"}`,
);
if (!(growth <= GROWTH_MAX)) process.exitCode = 1;

function sample(processed: number): void {
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  rssSamples.push(rss);
  const perSecond = (processed / (performance.now() - startedAt)) * 1000;
  rows.push([
    processed.toLocaleString("en-US"),
    (rss / MIB).toFixed(0),
    (heapUsed / MIB).toFixed(1),
    perSecond.toFixed(0),
  ]);
}
