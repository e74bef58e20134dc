// What the programs in this folder control: the scheduler of the other examples, behind a router.
import process from "node:process";
import { Scheduler } from "escapement";
import { createRouter } from "escapement/hono";
import { LibsqlDataStore } from "escapement/libsql/http";
import { addSchedules, tasks } from "../tasks.ts";

let made: Scheduler | undefined;

/** Made at the first call, because a build may import this module without the variables. */
function theScheduler(): Scheduler {
  if (made === undefined) {
    made = new Scheduler({ dataStore: new LibsqlDataStore({ url: process.env.DATABASE_URL ?? "" }) });
    made.use(tasks);
  }
  return made;
}

/** @param basePath where the router is mounted, if the program takes that path off the URL */
export function makeRouter(basePath?: string) {
  const token = process.env.SCHEDULER_TOKEN ?? "";
  return createRouter(theScheduler(), { auth: { tokens: [{ token, scope: "write" }] }, basePath });
}

/** Runs until Ctrl-C. Jobs that run may end. */
export async function run(): Promise<void> {
  const scheduler = theScheduler();
  await addSchedules(scheduler);
  await scheduler.runUntilStopped();
}
