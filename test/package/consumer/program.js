// What a user's program looks like: run from the packed tarball on every runtime.
import { CronTrigger, IntervalTrigger, Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";
import { SqliteDataStore } from "escapement/sqlite";

const daily = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
console.log(String(daily.next("2026-03-27T12:00:00Z")));

const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: "file:jobs.db" }), logLevel: "warn" });
const add = scheduler.task("add", ({ a, b }) => a + b);
const { promise: fired, resolve: fire } = deferred();
const tick = scheduler.task("tick", () => fire("fired"));
await scheduler.start();
console.log(await scheduler.runJob(add, { payload: { a: 20, b: 22 } }));
await scheduler.addSchedule(tick, new IntervalTrigger({ seconds: 1 }), { id: "tick" });
console.log(await fired);
await scheduler.stop();
console.log("stopped");

const store = new SqliteDataStore({ path: "sqlite.db" });
try {
  await store.open(Date.now());
  console.log(`${(await store.getTasks()).length} tasks`);
} catch (error) {
  console.log(error.code);
}
await store.close();

// Promise.withResolvers, which Node 20 lacks.
function deferred() {
  let resolve;
  const promise = new Promise((accept) => {
    resolve = accept;
  });
  return { promise, resolve };
}
