// What the programs in this folder control: the scheduler of the other examples, behind a router.
import process from "node:process";
import { Scheduler } from "escapement";
import { createRouter } from "escapement/hono";
import { LibsqlDataStore } from "escapement/libsql/http";
import { addSchedules, tasks } from "../tasks.ts";

export const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: process.env.DATABASE_URL ?? "" }) });
scheduler.use(tasks);

/** @param basePath where the router is mounted, if the program takes that path off the URL */
export function makeRouter(basePath?: string) {
  const token = process.env.SCHEDULER_TOKEN ?? "";
  return createRouter(scheduler, { auth: { tokens: [{ token, scope: "write" }] }, basePath });
}

/** Runs until Ctrl-C. Jobs that run may end. */
export async function run(): Promise<void> {
  await addSchedules(scheduler);
  await scheduler.runUntilStopped();
}
