/// <reference lib="deno.unstable" />
// A tick a minute by Deno.cron, here and on Deno Deploy, with the permissions that it needs and no other:
//
//     deno run --unstable-cron --allow-env=DATABASE_URL --allow-net=127.0.0.1:8080 examples/deno/cron.ts
//
// Deno leaves out a minute in which the tick before still runs.
import { LibsqlDataStore } from "escapement/libsql/http";
import { Scheduler } from "escapement/scheduler";
import { addSchedules, tasks } from "../tasks.ts";

const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: Deno.env.get("DATABASE_URL") ?? "" }) });
scheduler.use(tasks);
let hasSchedules = false;

// At the top of the module, where Deno Deploy looks for it. Without a backoffSchedule a tick that failed waits for the
// next minute.
Deno.cron("escapement", "* * * * *", { backoffSchedule: [1000, 5000, 20_000] }, async () => {
  if (!hasSchedules) await addSchedules(scheduler);
  hasSchedules = true;
  const { jobsRun, nextWakeAt } = await scheduler.tick({ maxDuration: "50s" });
  console.log(`ran ${jobsRun}, something is due at ${nextWakeAt}`);
});
