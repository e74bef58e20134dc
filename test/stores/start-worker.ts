// One of the processes of libsql-start.node.test.ts. For each url on its input it opens a store there, adds a schedule
// and a job, and prints one line: "done", or what went wrong.
import process from "node:process";
import { createInterface } from "node:readline";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";

const [identity = ""] = process.argv.slice(2);

async function start(url: string): Promise<void> {
  const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url }), identity });
  try {
    const task = scheduler.task("report", () => {});
    await scheduler.addSchedule(task, new IntervalTrigger({ minutes: 5 }), { id: identity });
    await scheduler.addJob(task, { idempotencyKey: identity });
  } finally {
    await scheduler.stop();
  }
}

console.log("ready");
for await (const url of createInterface({ input: process.stdin })) {
  try {
    await start(url);
    console.log("done");
  } catch (error) {
    console.log(String(error).replaceAll("\n", " "));
  }
}
