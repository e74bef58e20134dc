// A Worker on Turso, or on a sqld of your own.
//
//     npx wrangler secret put DATABASE_URL        libsql://NAME.turso.io?authToken=TOKEN
//     npx wrangler deploy
import { createWorker } from "escapement/cloudflare";
import { LibsqlDataStore } from "escapement/libsql/http";
import { Scheduler } from "escapement/scheduler";
import { addSchedules, tasks } from "../../tasks.ts";
import { router } from "../router.ts";

interface Env {
  readonly DATABASE_URL: string;
}

export default createWorker<Env>({
  scheduler: ({ DATABASE_URL }) => {
    const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: DATABASE_URL }) });
    scheduler.use(tasks);
    return scheduler;
  },
  // A Cron Trigger adds them, and no request of a stranger.
  schedules: addSchedules,
  // The free plan allows 50 requests an invocation; the rest is for the schedules, and for handlers that fetch.
  tick: { maxRoundTrips: 40 },
  router,
  // So that a greeting need not wait for the next minute.
  tickAfterFetch: ({ method }, { ok }) => method === "POST" && ok,
});
