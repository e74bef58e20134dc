// What does a schedule weigh on the memory store, and what a queued job? node weight.mjs CHECKOUT
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { open } from "./library.mjs";
import { answer } from "./program.mjs";

const [checkout] = process.argv.slice(2);
const SCHEDULES = 2000;
const JOBS = 20_000;
const BATCH = 10_000;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const { Scheduler, CronTrigger } = await open(checkout);
// Compiled code lies on the heap, too: by the second time most of it is there.
await weigh();
const { counts, values } = await weigh();
answer(counts, values);

async function weigh() {
  const scheduler = new Scheduler();
  const task = scheduler.task("weigh", async () => {});
  // What is made once is made now.
  await scheduler.addJob(task, { payload: { index: 0 } });
  await scheduler.addSchedule(task, daily(0), { id: "first" });
  const atStart = bytesInUse();
  for (let index = 0; index < SCHEDULES; index++) await scheduler.addSchedule(task, daily(index), { id: `s${index}` });
  const withSchedules = bytesInUse();
  for (let added = 0; added < JOBS; added += BATCH) {
    await scheduler.addJobs(Array.from({ length: BATCH }, (_, index) => ({ task, payload: { index } })));
  }
  const withJobs = bytesInUse();
  const { items: schedules } = await scheduler.getSchedules({ limit: 1000 });
  const { items: jobs } = await scheduler.getJobs({ limit: 1000 });
  await scheduler.stop();
  return {
    counts: { schedules: schedules.length, jobs: jobs.length },
    values: [
      { name: "memory of a schedule", unit: "bytes", value: (withSchedules - atStart) / SCHEDULES },
      { name: "memory of a queued job", unit: "bytes", value: (withJobs - withSchedules) / JOBS },
    ],
  };
}

function daily(index) {
  return CronTrigger.fromCrontab(`${index % 60} ${index % 24} * * *`, { timeZone: "UTC" });
}

function bytesInUse() {
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().heapUsed;
}
