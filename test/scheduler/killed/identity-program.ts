// A scheduler under an identity that holds a job for good. It prints what it runs, and which lease its job has.
import process from "node:process";
import { Scheduler } from "../../../src/mod.ts";
import { LibsqlDataStore } from "../../../src/stores/libsql/mod.ts";

const [, , folder = "", identity = ""] = process.argv;

const dataStore = new LibsqlDataStore({ url: `file:${folder}/jobs.db` });
// A lease of an hour ends in no test.
const scheduler = new Scheduler({ dataStore, identity, leaseDuration: { hours: 1 }, maxIdle: { milliseconds: 200 } });
scheduler.task("held", { maxRecoveries: 10 }, async (_payload: undefined, { job }) => {
  console.log(`held: attempt ${job.recoveries + 1}`);
  await new Promise(() => {});
});
const quick = scheduler.task("quick", () => {});
await scheduler.start();
const held = await scheduler.addJob("held", { idempotencyKey: "one" });
await (await scheduler.addJob(quick, { resultExpirationTime: "1h" })).wait();
const record = await dataStore.getJob(held.id);
console.log(`lease ${record?.fence} of the job`);
