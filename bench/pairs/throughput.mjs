// What does a job cost that does nothing, with the options as they are by default? node throughput.mjs CHECKOUT
import { answer } from "./answer.mjs";
import { countdown, open, rows, timed } from "./library.mjs";

const [checkout] = process.argv.slice(2);
const JOBS = 20_000;
const BATCH = 10_000;

const { Scheduler } = await open(checkout);
await run();
const { handled, cost } = await run();
answer({ handled }, rows("a no-op job, memory, options by default", cost));

async function run() {
  const scheduler = new Scheduler({ cleanupInterval: null });
  let handled = 0;
  const task = scheduler.task("noop", { maxRunningJobs: null }, async () => {
    handled++;
  });
  for (let added = 0; added < JOBS; added += BATCH) {
    await scheduler.addJobs(Array.from({ length: BATCH }, () => ({ task })));
  }
  const { done, tick } = countdown(JOBS);
  scheduler.subscribe("jobReleased", ({ outcome }) => {
    if (outcome === "success") tick();
  });
  const cost = await timed(JOBS, async () => {
    await scheduler.start();
    await done;
  });
  await scheduler.stop();
  return { handled, cost };
}
