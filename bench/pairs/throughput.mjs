// What does a job cost that does nothing, with the options as they are by default? node throughput.mjs CHECKOUT
import { open } from "./library.mjs";
import { answer, Cost, countdown } from "./program.mjs";

const [checkout] = process.argv.slice(2);
const JOBS = 5000;
const WARM_UP_ROUNDS = 2;
const ROUNDS = 8;

const { Scheduler } = await open(checkout);
const cost = new Cost();
let handled = 0;
for (let round = 0; round < WARM_UP_ROUNDS; round++) await measure(new Cost());
for (let round = 0; round < ROUNDS; round++) await measure(cost);
answer({ handled }, cost.rows("a no-op job, memory, options by default"));

/** In a scheduler of its own. */
async function measure(costOfRound) {
  const scheduler = new Scheduler({ cleanupInterval: null });
  const task = scheduler.task("noop", { maxRunningJobs: null }, async () => {
    handled++;
  });
  await scheduler.addJobs(Array.from({ length: JOBS }, () => ({ task })));
  const { done, tick } = countdown(JOBS);
  scheduler.subscribe("jobReleased", ({ outcome }) => {
    if (outcome === "success") tick();
  });
  await costOfRound.measure(JOBS, async () => {
    await scheduler.start();
    await done;
  });
  await scheduler.stop();
}
