// What does a job cost on a store: added alone, added in bulk, and processed from end to end?
// node queue.mjs CHECKOUT STORE PLACE LABEL: the place is a folder or a server's address, the label names the tables.
import { answer } from "./answer.mjs";
import { countdown, open, rows, timed } from "./library.mjs";

const [checkout, storeName, place, label] = process.argv.slice(2);
const BULK = 1000;
const WARM_UP_BULKS = 2;
const WARM_UP_ALONE = 50;
/** Jobs that the scheduler holds at a time, and so the most that one commit releases and leases. */
const CONCURRENT_JOBS_MAX = 500;
/** How much makes a run of a second or so. */
const SIZES = {
  memory: { alone: 10_000, bulks: 12 },
  "file-normal": { alone: 1000, bulks: 6 },
  "file-full": { alone: 400, bulks: 6 },
  sqlite: { alone: 2000, bulks: 8 },
  sqld: { alone: 60, bulks: 5 },
};

const { Scheduler, MemoryDataStore } = await open(checkout);
const makeStore = await storeMaker();
const { alone, bulks } = SIZES[storeName];
const inBulk = bulks * BULK;

await warmUp();
const gone = await openQueue("gone", { resultExpirationTime: { seconds: 0 } });
const addedAlone = await timed(alone, async () => {
  for (let payload = 0; payload < alone; payload++) await gone.add(payload);
});
const addedInBulk = await timed(inBulk, () => gone.addBulks(alone, bulks));
const processed = await timed(alone + inBulk, () => gone.process(alone + inBulk));
const leftWhenGone = await gone.close();

const kept = await openQueue("kept", {});
await kept.addBulks(0, bulks);
const processedAndKept = await timed(inBulk, () => kept.process(inBulk));
const leftWhenKept = await kept.close();

answer({ jobs: alone + inBulk, jobsKept: inBulk, leftWhenGone, leftWhenKept }, [
  ...rows("add one by one", addedAlone),
  ...rows("add 1,000 at once", addedInBulk),
  ...rows("process, nothing kept", processed),
  ...rows("process, results kept", processedAndKept),
]);

async function storeMaker() {
  if (storeName === "memory") return () => new MemoryDataStore();
  if (storeName === "sqlite") {
    const { SqliteDataStore } = await open(checkout, "./sqlite");
    return (name) => new SqliteDataStore({ path: `${place}/${label}${name}.db` }, { durability: "normal" });
  }
  const { LibsqlDataStore } = await open(checkout, "./libsql");
  if (storeName === "sqld") return (name) => new LibsqlDataStore({ url: place }, { tablePrefix: `${label}${name}_` });
  const durability = storeName === "file-full" ? "full" : "normal";
  return (name) => new LibsqlDataStore({ url: `file:${place}/${label}${name}.db` }, { durability });
}

async function warmUp() {
  const queue = await openQueue("warm", {});
  for (let payload = 0; payload < WARM_UP_ALONE; payload++) await queue.add(payload);
  await queue.addBulks(WARM_UP_ALONE, WARM_UP_BULKS);
  await queue.process(WARM_UP_ALONE + WARM_UP_BULKS * BULK);
  await queue.close();
}

async function openQueue(name, settings) {
  const scheduler = new Scheduler({ dataStore: makeStore(name), maxConcurrentJobs: CONCURRENT_JOBS_MAX });
  let onRun = () => {};
  const task = scheduler.task("noop", { maxRunningJobs: null, ...settings }, async (payload) => onRun(payload));
  // So that the store is open before anything is timed.
  await scheduler.getTasks();
  return {
    add: (payload) => scheduler.addJob(task, { payload }),
    addBulks: async (first, times) => {
      for (let start = first; start < first + times * BULK; start += BULK) {
        await scheduler.addJobs(Array.from({ length: BULK }, (_, index) => ({ task, payload: start + index })));
      }
    },
    /** Ends when the last outcome is recorded. Each job must have run exactly once. */
    process: async (count) => {
      const runs = new Uint8Array(count);
      onRun = (payload) => {
        runs[payload]++;
      };
      const { done, tick } = countdown(count);
      scheduler.subscribe(["jobAcquired", "jobReleased"], ({ type, outcome }) => {
        if (type === "jobReleased" && outcome === "success") tick();
      });
      await scheduler.start();
      await done;
      const others = runs.filter((times) => times !== 1).length;
      if (others > 0) throw new Error(`${others} of ${count} jobs did not run exactly once`);
    },
    /** Whether jobs and whether results are left. */
    close: async () => {
      const jobs = await scheduler.getJobs({ limit: 1 });
      const results = await scheduler.getJobResults({ limit: 1 });
      await scheduler.stop();
      return { hasJobs: jobs.items.length > 0, hasResults: results.items.length > 0 };
    },
  };
}
