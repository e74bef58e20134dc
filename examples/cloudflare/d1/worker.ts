// A Worker on D1.
//
//     npx wrangler d1 create escapement           and its id into wrangler.jsonc
//     npx wrangler deploy
import { createWorker } from "escapement/cloudflare";
import { type D1Binding, D1DataStore } from "escapement/d1";
import { Scheduler } from "escapement/scheduler";
import { addSchedules, tasks } from "../../tasks.ts";
import { router } from "../router.ts";

interface Env {
  readonly DB: D1Binding;
}

export default createWorker<Env>({
  scheduler: ({ DB }) => {
    const scheduler = new Scheduler({ dataStore: new D1DataStore(DB) });
    scheduler.use(tasks);
    return scheduler;
  },
  // A Cron Trigger adds them, and no request of a stranger.
  schedules: addSchedules,
  // Each request of the store is a batch of queries. An invocation may have 1,000 of them. On the free plan it may have
  // 50: write 3, and see docs/edge.md.
  tick: { maxRoundTrips: 40 },
  router,
  // So that a greeting need not wait for the next minute.
  tickAfterFetch: ({ method }, { ok }) => method === "POST" && ok,
});
