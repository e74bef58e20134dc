// What does the ledger cost a fire, from schedule to result? node ledger.mjs CHECKOUT STORE FOLDER LABEL: the label
// begins with the side; the ledger of the old side is off.
import { open } from "./library.mjs";
import { answer, Cost, countdown } from "./program.mjs";

const [checkout, storeName, folder, label] = process.argv.slice(2);
const SCHEDULES = 1000;
/** Seconds on which every schedule fires: the second ones are measured. The code must be warm, and the tables large. */
const WARM_UP_ROUNDS = 30;
const ROUNDS = 30;
/** So many jobs are leased and released in one commit at most. */
const CONCURRENT_JOBS_MAX = 500;
const START = "2030-01-01T00:00:00Z";

const { Scheduler, IntervalTrigger, MemoryDataStore } = await open(checkout);
const { VirtualClock } = await open(checkout, "./testing");
const makeStore = await storeMaker();
const [gone, kept] = [new Cost(), new Cost()];
const fires = [
  await measure("gone", { resultExpirationTime: { seconds: 0 } }, gone),
  await measure("kept", { resultExpirationTime: { hours: 1 } }, kept),
];
answer({ fires }, [...gone.rows("a fire, nothing kept"), ...kept.rows("a fire, result kept")]);

async function storeMaker() {
  const ledger = label.startsWith("new");
  if (storeName === "memory") return () => new MemoryDataStore({ ledger });
  const durability = "normal";
  if (storeName === "sqlite") {
    const { SqliteDataStore } = await open(checkout, "./sqlite");
    return (name) => new SqliteDataStore({ path: `${folder}/${label}${name}.db` }, { durability, ledger });
  }
  const { LibsqlDataStore } = await open(checkout, "./libsql");
  const url = (name) => (storeName === "file" ? `file:${folder}/${label}${name}.db` : ":memory:");
  return (name) => new LibsqlDataStore({ url: url(name) }, { durability, ledger });
}

/** All schedules fire on every second of a clock that jumps to it; returns how many jobs ran. */
async function measure(name, settings, cost) {
  const clock = new VirtualClock(START);
  const dataStore = makeStore(name);
  const scheduler = new Scheduler({
    ...{ dataStore, clock, maxConcurrentJobs: CONCURRENT_JOBS_MAX, cleanupInterval: null },
  });
  let ran = 0;
  const task = scheduler.task("noop", { maxRunningJobs: null, ...settings }, async () => {
    ran++;
  });
  let onRelease = () => {};
  scheduler.subscribe("jobReleased", ({ outcome }) => {
    if (outcome === "success") onRelease();
  });
  const trigger = new IntervalTrigger({ seconds: 1, startTime: new Date(Date.parse(START) + 1000) });
  for (let index = 0; index < SCHEDULES; index++) {
    await scheduler.addSchedule(task, trigger, { id: `schedule-${index}` });
  }
  await scheduler.start();
  for (let round = 1; round <= WARM_UP_ROUNDS + ROUNDS; round++) {
    const { done, tick } = countdown(SCHEDULES);
    onRelease = tick;
    await (round > WARM_UP_ROUNDS ? cost : new Cost()).measure(SCHEDULES, async () => {
      await clock.jumpTo(new Date(Date.parse(START) + round * 1000));
      await done;
    });
  }
  await scheduler.stop();
  return ran;
}
