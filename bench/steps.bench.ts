// What does a step of a job cost on a file? Guess: as two bare inserts with a commit each, because a save is one commit
// of two statements; and a job of 1,000 steps resumes within 20 ms.
// Run by run.mjs: node bench/run.mjs steps
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { Scheduler } from "../src/mod.ts";
import { LibsqlDataStore } from "../src/stores/libsql/mod.ts";
import { printTable } from "./lib/table.ts";

const ROUNDS = 7;
const STEPS = 1000;
const JOBS = 300;

const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
const url = `file:${join(folder, "steps.db")}`;
const client = createClient({ url });
for (const sql of ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"]) await client.execute(sql);
await client.execute("CREATE TABLE bare (id TEXT PRIMARY KEY, value TEXT)");
await using scheduler = new Scheduler({
  dataStore: new LibsqlDataStore({ client }, { durability: "normal" }),
  logLevel: "silent",
});

/** Microseconds of each round, by what was done. */
const times: Record<string, number[]> = { bare: [], step: [], save: [], "job without steps": [], "job with one": [] };
const resumed: number[] = [];
const timed = async (name: string, count: number, work: () => Promise<void>): Promise<void> => {
  const begunAt = performance.now();
  await work();
  times[name]?.push(((performance.now() - begunAt) * 1000) / count);
};

let round = 0;
const settings = { retry: { maxAttempts: 2, backoff: { initial: "PT0S" } }, maxRunningJobs: null } as const;
const long = scheduler.task("long", settings, async (_: undefined, { step, attempt }) => {
  const begunAt = performance.now();
  const run = async (): Promise<void> => {
    for (let index = 0; index < STEPS; index++) await step.run(`step ${index}`, () => ({ index, text: "recorded" }));
  };
  if (attempt === 2) {
    await run();
    resumed.push(performance.now() - begunAt);
    return;
  }
  await timed("step", STEPS - 1, run).catch(() => {});
  throw new Error("once more");
});
const looping = scheduler.task("looping", (_: undefined, { step }) =>
  step.run("loop", ({ save }) =>
    timed("save", STEPS, async () => {
      for (let index = 0; index < STEPS; index++) await save(index);
    }),
  ),
);
const plain = scheduler.task("plain", { maxRunningJobs: null }, () => 1);
const one = scheduler.task("one", { maxRunningJobs: null }, (_: undefined, { step }) => step.run("a", () => 1));
await scheduler.start();
for (; round < ROUNDS; round++) {
  await timed("bare", STEPS, async () => {
    for (let index = 0; index < STEPS; index++) {
      const args = [`${round} ${index}`, '{"index":1,"text":"recorded"}'];
      await client.batch([{ sql: "INSERT INTO bare VALUES (?, ?)", args }], "write");
    }
  });
  await scheduler.runJob(long);
  await scheduler.runJob(looping);
  for (const [name, task] of [["job without steps", plain] as const, ["job with one", one] as const]) {
    await timed(name, JOBS, async () => {
      const jobs = await scheduler.addJobs(Array.from({ length: JOBS }, () => ({ task })));
      await Promise.all(jobs.map((job) => job.wait()));
    });
  }
}
rmSync(folder, { recursive: true, force: true });

const median = (list: readonly number[]): number => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
const bare = median(times.bare ?? []);
printTable(
  "On a file, durability normal, medians of 7",
  ["what", "us", "of a bare insert"],
  [
    ...Object.entries(times).map(([name, list]) => [name, median(list).toFixed(0), (median(list) / bare).toFixed(2)]),
    [
      `to resume a job of ${STEPS} steps`,
      (median(resumed) * 1000).toFixed(0),
      ((median(resumed) * 1000) / bare).toFixed(1),
    ],
  ],
);
