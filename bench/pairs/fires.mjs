// How late are fires when 1,000 schedules are due on each of the same three seconds? node fires.mjs CHECKOUT
import { answer } from "./answer.mjs";
import { countdown, open, quantile, rows, timed } from "./library.mjs";

const [checkout] = process.argv.slice(2);
const SCHEDULES = 1000;
const SECONDS = 3;
/** At once: so that the fires of a whole second start together. */
const CONCURRENT_JOBS_MAX = 1000;
/** Within this the clocks do not agree. */
const LATENESS_MS_MIN = 0.1;
const WARM_UP_SCHEDULES = 300;
/** The schedules may take so many times as long to add as those of the warm-up did. */
const SET_UP_FACTOR = 3;

const { Scheduler, CronTrigger } = await open(checkout);
const fires = new Uint32Array(SECONDS);
const late = [];
const { scheduler, added } = await setUp();
const { done, tick } = countdown(SCHEDULES * SECONDS);
scheduler.subscribe("jobReleased", ({ outcome }) => {
  if (outcome === "success") tick();
});
const { cpuUs } = await timed(SCHEDULES * SECONDS, async () => {
  await scheduler.start();
  await done;
});
await scheduler.stop();

late.sort((a, b) => a - b);
answer({ fires: [...fires] }, [
  ...rows("add a schedule, memory", added),
  { name: "lateness of 1,000 fires on one second, p50", unit: "ms", value: quantile(late, 0.5) },
  { name: "lateness of 1,000 fires on one second, p99", unit: "ms", value: quantile(late, 0.99) },
  { name: "a fire, from schedule to result, memory", unit: "us CPU", value: cpuUs },
]);

/** A scheduler with all schedules, before the first of them is due. */
async function setUp() {
  for (let factor = SET_UP_FACTOR; ; factor *= 2) {
    const setUpMs = 300 + (factor * SCHEDULES * (await warmUp()).clockUs) / 1000;
    const startMs = Math.ceil((Date.now() + setUpMs) / 1000) * 1000;
    const scheduler = new Scheduler({ maxConcurrentJobs: CONCURRENT_JOBS_MAX, cleanupInterval: null });
    const settings = { maxRunningJobs: null, resultExpirationTime: { seconds: 0 } };
    const task = scheduler.task("fire", settings, (_, { job }) => {
      const fireMs = job.scheduledFireTime.epochMilliseconds;
      late.push(Math.max(LATENESS_MS_MIN, performance.timeOrigin + performance.now() - fireMs));
      fires[(fireMs - startMs) / 1000]++;
    });
    const added = await addSchedules(scheduler, task, SCHEDULES, startMs);
    // Else the machine was busier than during the warm-up.
    if (Date.now() < startMs) return { scheduler, added };
  }
}

/** Due on each second from a time on. */
function addSchedules(scheduler, task, count, fromMs) {
  const startTime = new Date(fromMs);
  const endTime = new Date(fromMs + (SECONDS - 1) * 1000);
  return timed(count, async () => {
    for (let index = 0; index < count; index++) {
      const trigger = CronTrigger.fromCrontab("* * * * * *", { timeZone: "UTC", startTime, endTime });
      // Each fire counts, even where the machine is so busy that one second reaches into the next.
      await scheduler.addSchedule(task, trigger, { coalesce: "all" });
    }
  });
}

/** On a scheduler that is never started. */
function warmUp() {
  const scheduler = new Scheduler();
  const task = scheduler.task("fire", async () => {});
  return addSchedules(scheduler, task, WARM_UP_SCHEDULES, Date.now() + 3_600_000);
}
