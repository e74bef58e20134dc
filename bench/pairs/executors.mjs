// What does a job cost in a thread and in a process? node executors.mjs CHECKOUT FOLDER
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open, pathOf } from "./library.mjs";
import { answer, Cost, countdown } from "./program.mjs";

const [checkout, folder] = process.argv.slice(2);
const JOBS = 1000;
const WARM_UP_ROUNDS = 2;
const ROUNDS = 6;

const { Scheduler, MemoryDataStore } = await open(checkout);
const { WorkerExecutor } = await open(checkout, "./worker");
const { ProcessExecutor } = await open(checkout, "./process");
const module = pathToFileURL(join(folder, `executors-${process.pid}.mjs`));
const library = JSON.stringify(pathToFileURL(pathOf(checkout)).href);
writeFileSync(
  module,
  `import { defineTasks } from ${library}; export const tasks = defineTasks({ echo: { handler: (value) => value } });`,
);
const echoed = [];
const options = { module, maxWorkers: 1, jobsPerWorker: 50 };
const inThread = await measure(new WorkerExecutor(options));
const inProcess = await measure(new ProcessExecutor(options));
answer({ echoed }, [...inThread.rows("a job in a thread"), ...inProcess.rows("a job in a process")]);

async function measure(executor) {
  const scheduler = new Scheduler({ dataStore: new MemoryDataStore(), executors: { echoes: executor } });
  const task = scheduler.task("echo", { executor: "echoes", maxRunningJobs: null }, () => {});
  let onRelease = () => {};
  scheduler.subscribe("jobReleased", ({ outcome }) => {
    if (outcome === "success") onRelease();
  });
  await scheduler.start();
  // The first job waits for the thread or the process.
  echoed.push(await scheduler.runJob(task, { payload: "first" }));
  const cost = new Cost();
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    await (round < 0 ? new Cost() : cost).measure(JOBS, async () => {
      const { done, tick } = countdown(JOBS);
      onRelease = tick;
      await scheduler.addJobs(Array.from({ length: JOBS }, (_, number) => ({ task, payload: { number } })));
      await done;
    });
  }
  await scheduler.stop();
  return cost;
}
