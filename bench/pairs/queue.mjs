// What does a job cost on a store: added alone, added in bulk, and processed from end to end?
// node queue.mjs CHECKOUT STORE PLACE LABEL [TIMES]: the place is a folder or a server's address, the label names the
// tables, and what is measured is done so many times.
import { open } from "./library.mjs";
import { answer, Cost, countdown, takeTurn } from "./program.mjs";

const [checkout, storeName, place, label, times = "1"] = process.argv.slice(2);
const BULK = 1000;
/** Jobs that the scheduler holds at a time, and so the most that one commit releases and leases. */
const CONCURRENT_JOBS_MAX = 500;
/** How much is done in a turn, and how often: a second's work or so in all. */
const SIZES = {
  memory: { alone: 1000, bulks: 2, rounds: 8 },
  "file-normal": { alone: 80, bulks: 1, rounds: 8 },
  "file-full": { alone: 40, bulks: 1, rounds: 8 },
  sqlite: { alone: 150, bulks: 1, rounds: 8 },
  sqld: { alone: 10, bulks: 1, rounds: 5 },
};
/** What is measured is warm code, because a queue is a process that lives long. While the engine still compiles, the
 *  length of the code counts, and not its speed. */
const WARM_UP = { alone: storeName === "memory" ? 1000 : 80, bulks: 2, rounds: 6 };

const { Scheduler, MemoryDataStore } = await open(checkout);
const makeStore = await storeMaker();
const [alone, inBulk, gone, kept] = Array.from({ length: 4 }, () => new Cost());
const forgotten = { resultExpirationTime: { seconds: 0 } };

await takeTurn();
await measureQueue("warm", WARM_UP, {}, [new Cost(), new Cost(), new Cost()]);
const sizes = { ...SIZES[storeName], rounds: SIZES[storeName].rounds * Number(times) };
const whenGone = await measureQueue("gone", sizes, forgotten, [alone, inBulk, gone]);
const whenKept = await measureQueue("kept", { ...sizes, alone: 0 }, {}, [null, new Cost(), kept]);

answer({ whenGone, whenKept }, [
  ...alone.rows("add one by one"),
  ...inBulk.rows("add 1,000 at once"),
  ...gone.rows("process, nothing kept"),
  ...kept.rows("process, results kept"),
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

/** Adds and processes in rounds; returns how many jobs ran, and whether jobs and results are left. */
async function measureQueue(name, { alone, bulks, rounds }, settings, [costAlone, costInBulk, costOfProcessing]) {
  const scheduler = new Scheduler({ dataStore: makeStore(name), maxConcurrentJobs: CONCURRENT_JOBS_MAX });
  const jobsARound = alone + bulks * BULK;
  const runs = new Uint8Array(rounds * jobsARound);
  const task = scheduler.task("noop", { maxRunningJobs: null, ...settings }, async (payload) => {
    runs[payload]++;
  });
  let onRelease = () => {};
  scheduler.subscribe(["jobAcquired", "jobReleased"], ({ type, outcome }) => {
    if (type === "jobReleased" && outcome === "success") onRelease();
  });
  await scheduler.start();
  scheduler.pause();
  for (let first = 0; first < runs.length; first += jobsARound) {
    if (alone > 0) await costAlone.measure(alone, () => addAlone(scheduler, task, first, alone));
    await costInBulk.measure(bulks * BULK, () => addInBulk(scheduler, task, first + alone, bulks));
    await costOfProcessing.measure(jobsARound, async () => {
      const { done, tick } = countdown(jobsARound);
      onRelease = tick;
      scheduler.resume();
      // Ends when the last outcome is recorded.
      await done;
      scheduler.pause();
    });
  }
  const jobs = await scheduler.getJobs({ limit: 1 });
  const results = await scheduler.getJobResults({ limit: 1 });
  await scheduler.stop();
  const others = runs.filter((times) => times !== 1).length;
  if (others > 0) throw new Error(`${others} of ${runs.length} jobs did not run exactly once`);
  return { ran: runs.length, hasJobs: jobs.items.length > 0, hasResults: results.items.length > 0 };
}

async function addAlone(scheduler, task, first, count) {
  for (let payload = first; payload < first + count; payload++) await scheduler.addJob(task, { payload });
}

async function addInBulk(scheduler, task, first, bulks) {
  for (let start = first; start < first + bulks * BULK; start += BULK) {
    await scheduler.addJobs(Array.from({ length: BULK }, (_, index) => ({ task, payload: start + index })));
  }
}
