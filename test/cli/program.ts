import process from "node:process";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";

/** A scheduler with a job each second. */
export async function everySecond(id: string, handler: () => Promise<void>): Promise<Scheduler> {
  const dataStore = new LibsqlDataStore({ url: process.env.STORE ?? "" });
  const scheduler: Scheduler = new Scheduler({ dataStore, logLevel: "silent" });
  await scheduler.schedule(id, "* * * * * *", { overlap: "skip" }, handler);
  return scheduler;
}

/** One that `escapement run` runs. */
const scheduler: Scheduler = await everySecond("beat", async () => {});
export default scheduler;
