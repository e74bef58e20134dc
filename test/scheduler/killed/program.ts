// A job of 50 steps, of which one has a cursor of 1,000, in a process that a test kills at any point. It writes each
// effect down at once, so that nothing of it is lost with the process.
import { appendFileSync } from "node:fs";
import process from "node:process";
import { createClient } from "@libsql/client";
import { Scheduler, type StepContext } from "../../../src/mod.ts";
import { LibsqlDataStore } from "../../../src/stores/libsql/mod.ts";

const STEPS = 50;
const CURSOR = 1000;
const [, , folder = "", killAt = "0"] = process.argv;

let effects = 0;
/** Kills this very process before, or after, so many effects. */
function effect(line: string): void {
  if (++effects === Number(killAt)) process.kill(process.pid, "SIGKILL");
  appendFileSync(`${folder}/journal`, `${line}\n`);
}

const db = createClient({ url: `file:${folder}/jobs.db` });
const dataStore = new LibsqlDataStore({ url: `file:${folder}/jobs.db` });
const scheduler = new Scheduler({ dataStore, leaseDuration: { seconds: 2 }, maxIdle: { milliseconds: 300 } });
const task = scheduler.task("long", { maxRecoveries: 1000 }, async (_payload: undefined, { step }) => {
  for (let index = 0; index < STEPS; index++) {
    await step.run(`${index}`, async ({ cursor = 0, save, key }: StepContext<number>) => {
      const count = index === 25 ? CURSOR : 2;
      for (let i = cursor; i < count; i++) {
        effect(`${index}:${i}`);
        // The other side keeps each key once.
        await db.execute({ sql: "INSERT OR IGNORE INTO effects (key) VALUES (?)", args: [`${key}:${i}`] });
        if (i % 10 === 9 || count < 10) await save(i + 1);
      }
      return index;
    });
  }
  return "done";
});

await db.execute("CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY)");
await scheduler.start();
const job = await scheduler.addJob(task, { idempotencyKey: "one", resultExpirationTime: "1d" });
console.log(`ended: ${await job.wait()}`);
await scheduler.stop();
db.close();
