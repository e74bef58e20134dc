// How late are fires when 1,000 schedules are due on each of the same three seconds? node fires.mjs CHECKOUT
import { open } from "./library.mjs";
import { answer, Cost, countdown, takeTurn } from "./program.mjs";

const [checkout] = process.argv.slice(2);
const SCHEDULES = 1000;
const SECONDS = 3;
/** At once: so that the fires of a whole second start together. */
const CONCURRENT_JOBS_MAX = 1000;
/** Within this the clocks do not agree. */
const LATENESS_MS_MIN = 0.1;
/** Schedules that are added in a turn. */
const SLICE = 200;
/** The schedules may take so many times as long to add as those of the turns before. */
const SET_UP_FACTOR = 3;
const HOUR_MS = 3_600_000;

const { Scheduler, CronTrigger } = await open(checkout);
const [added, fired] = [new Cost(), new Cost()];
const fires = new Uint32Array(SECONDS);
const late = [];

await addOnly(new Cost());
const addMs = await addOnly(added);
// All in one turn, because seconds cannot be shared out.
await takeTurn();
const { scheduler, done } = await setUp();
await fired.measureNow(SCHEDULES * SECONDS, async () => {
  await scheduler.start();
  await done;
});
await scheduler.stop();

late.sort((a, b) => a - b);
const lateness = (name, at) => ({
  name: `lateness of 1,000 fires on one second, ${name}`,
  unit: "ms",
  value: late[Math.floor(late.length * at)],
});
answer({ fires: [...fires] }, [
  ...added.rows("add a schedule, memory"),
  fired.cpuRow("a fire, from schedule to result, memory"),
  lateness("p50", 0.5),
  lateness("p99", 0.99),
]);

/** To a scheduler that is never started; returns the milliseconds that it took. */
async function addOnly(cost) {
  const scheduler = new Scheduler();
  const task = scheduler.task("fire", async () => {});
  let workMs = 0;
  for (let count = 0; count < SCHEDULES; count += SLICE) {
    await cost.measure(SLICE, async () => {
      const sliceStart = performance.now();
      await addSchedules(scheduler, task, SLICE, Date.now() + HOUR_MS);
      workMs += performance.now() - sliceStart;
    });
  }
  return workMs;
}

/** A scheduler with all schedules, before the first of them is due. */
async function setUp() {
  for (let factor = SET_UP_FACTOR; ; factor *= 2) {
    const startMs = Math.ceil((Date.now() + factor * addMs) / 1000) * 1000;
    const scheduler = new Scheduler({ maxConcurrentJobs: CONCURRENT_JOBS_MAX, cleanupInterval: null });
    const settings = { maxRunningJobs: null, resultExpirationTime: { seconds: 0 } };
    const task = scheduler.task("fire", settings, (_, { job }) => {
      const fireMs = job.scheduledFireTime.epochMilliseconds;
      late.push(Math.max(LATENESS_MS_MIN, performance.timeOrigin + performance.now() - fireMs));
      fires[(fireMs - startMs) / 1000]++;
    });
    const { done, tick } = countdown(SCHEDULES * SECONDS);
    scheduler.subscribe("jobReleased", ({ outcome }) => {
      if (outcome === "success") tick();
    });
    await addSchedules(scheduler, task, SCHEDULES, startMs);
    // Else the machine was busier than before.
    if (Date.now() < startMs) return { scheduler, done };
  }
}

/** Due on each second from a time on. */
async function addSchedules(scheduler, task, count, fromMs) {
  const startTime = new Date(fromMs);
  const endTime = new Date(fromMs + (SECONDS - 1) * 1000);
  for (let index = 0; index < count; index++) {
    const trigger = CronTrigger.fromCrontab("* * * * * *", { timeZone: "UTC", startTime, endTime });
    // Each fire counts, even where the machine is so busy that one second reaches into the next.
    await scheduler.addSchedule(task, trigger, { coalesce: "all" });
  }
}
