import { InlineExecutor, MemoryDataStore, Scheduler } from "escapement";
import type { JobExecutor } from "escapement/contracts";
import { ProcessExecutor } from "escapement/process";
import { WorkerExecutor } from "escapement/worker";
import { median } from "../store/median.ts";

const JOBS = 10_000;
const TASKS = new URL("./executors-tasks.mjs", import.meta.url);

const EXECUTORS: readonly (readonly [string, () => JobExecutor])[] = [
  ["inline", () => new InlineExecutor()],
  ["threads: 2, of 50 jobs each", () => new WorkerExecutor({ module: TASKS, maxWorkers: 2, jobsPerWorker: 50 })],
  ["processes: 2, of 50 jobs each", () => new ProcessExecutor({ module: TASKS, maxWorkers: 2, jobsPerWorker: 50 })],
];

/** Jobs a second, from when they are added to the end of the last one, by the name of the executor: medians. */
export async function measureSchedulers(rounds: number): Promise<(readonly [string, number])[]> {
  const rates = EXECUTORS.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, make]] of EXECUTORS.entries()) rates[index]?.push(await rateOf(make()));
  }
  return EXECUTORS.map(([name], index) => [name, median(rates[index] ?? [])]);
}

async function rateOf(executor: JobExecutor): Promise<number> {
  const executors = { echoes: executor };
  const scheduler = new Scheduler({ dataStore: new MemoryDataStore(), executors, logLevel: "warn" });
  const task = scheduler.task("echo", { executor: "echoes", maxRunningJobs: null }, (payload: object) => payload);
  let released = 0;
  const allReleased = new Promise<void>((resolve) => {
    scheduler.subscribe("jobReleased", () => {
      if (++released === JOBS) resolve();
    });
  });
  await scheduler.start();
  // The first job waits for the worker.
  await scheduler.runJob(task, { payload: { first: true } });
  released = 0;
  const startMs = performance.now();
  for (let added = 0; added < JOBS; added += 1000) {
    await scheduler.addJobs(Array.from({ length: 1000 }, (_, number) => ({ task, payload: { number } })));
  }
  await allReleased;
  const seconds = (performance.now() - startMs) / 1000;
  await scheduler.stop();
  return JOBS / seconds;
}
