import process from "node:process";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";

/** A scheduler with a job each second, which `escapement run` runs. */
const dataStore = new LibsqlDataStore({ url: process.env.STORE ?? "" });
const scheduler: Scheduler = new Scheduler({ dataStore, logLevel: "silent" });
await scheduler.schedule("beat", "* * * * * *", () => {});
export default scheduler;
