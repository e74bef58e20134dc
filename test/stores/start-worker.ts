// One of the processes of local-starts.local.test.ts, with a store of the kind that its arguments name. Its input has a
// verb and a path a line, and it prints a line for each. "start" adds a schedule and a job to the store at the path;
// the answer is "done". "look" answers with all records in JSON. Either may answer with what went wrong.
import process from "node:process";
import { createInterface } from "node:readline";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { LOCAL_STORES } from "./local-stores.ts";

const [identity = "", kind = ""] = process.argv.slice(2);
const local = LOCAL_STORES.find(({ name }) => name === kind);
if (local === undefined) throw new Error(`there is no ${kind}`);
const { make } = local;

async function start(path: string): Promise<string> {
  const scheduler = new Scheduler({ dataStore: make(path), identity });
  try {
    const task = scheduler.task("report", () => {});
    await scheduler.addSchedule(task, new IntervalTrigger({ minutes: 5 }), { id: identity });
    await scheduler.addJob(task, { idempotencyKey: identity });
    return "done";
  } finally {
    await scheduler.stop();
  }
}

async function look(path: string): Promise<string> {
  const store = make(path);
  await store.open(Date.now());
  const page = { limit: 100, cursor: null };
  const { items: schedules } = await store.getSchedules(page);
  const { items: jobs } = await store.getJobs(page);
  const tasks = await store.getTasks();
  await store.close();
  return JSON.stringify({ tasks, schedules, jobs });
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [verb, path = ""] = line.split("\t");
  try {
    console.log(await (verb === "look" ? look(path) : start(path)));
  } catch (error) {
    console.log(String(error).replaceAll("\n", " "));
  }
}
