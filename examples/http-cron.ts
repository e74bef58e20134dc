// One tick for each request: what Vercel, Netlify, EventBridge or any other cron of the web calls.
//
//     on Vercel      api/cron.ts, and in vercel.json "crons": [{ "path": "/api/cron", "schedule": "* * * * *" }]
//     on Bun         bun examples/http-cron.ts
//     on Deno        deno serve --allow-env=DATABASE_URL,CRON_SECRET --allow-net examples/http-cron.ts
//
//     curl -H "Authorization: Bearer $CRON_SECRET" http://127.0.0.1:3000
import process from "node:process";
import { createCronHandler } from "escapement/http-cron";
import { LibsqlDataStore } from "escapement/libsql/http";
import { Scheduler } from "escapement/scheduler";
import { addSchedules, tasks } from "./tasks.ts";

async function makeScheduler(): Promise<Scheduler> {
  const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: process.env.DATABASE_URL ?? "" }) });
  scheduler.use(tasks);
  await addSchedules(scheduler);
  return scheduler;
}

let scheduler: Scheduler | undefined;

// The variables are read by requests, because a build imports this module without them.
const handler = createCronHandler({
  scheduler: async () => {
    scheduler ??= await makeScheduler();
    return scheduler;
  },
  secret: () => process.env.CRON_SECRET,
  tick: { maxDuration: "20s" },
});

export { handler as GET, handler as POST };
export default { fetch: handler };
