// The router as a Worker on D1, whose ticks are made by a Cron Trigger.
//
//     npx wrangler d1 create escapement           and its id into wrangler.jsonc
//     npx wrangler secret put SCHEDULER_TOKEN
//     npx wrangler deploy
import { createWorker } from "escapement/cloudflare";
import { type D1Binding, D1DataStore } from "escapement/d1";
import { createRouter } from "escapement/hono";
import { Scheduler } from "escapement/scheduler";
import { addSchedules, tasks } from "../../tasks.ts";

interface Env {
  readonly DB: D1Binding;
  readonly SCHEDULER_TOKEN: string;
}

// An isolate may remember it from one request to the next: it has no connection.
let router: ReturnType<typeof createRouter> | undefined;

export default createWorker<Env>({
  scheduler: ({ DB }) => {
    const scheduler = new Scheduler({ dataStore: new D1DataStore(DB) });
    scheduler.use(tasks);
    return scheduler;
  },
  // A Cron Trigger adds them, and no request of a stranger.
  schedules: addSchedules,
  tick: { maxRoundTrips: 40 },
  router: (request, scheduler, { SCHEDULER_TOKEN: token }) => {
    // The router is one for all requests, and each request brings its own scheduler.
    const auth = { tokens: [{ token, scope: "write" as const }] };
    router ??= createRouter<{ Bindings: { scheduler: Scheduler } }>(({ env }) => env.scheduler, { auth });
    return router.fetch(request, { scheduler });
  },
  // So that a job need not wait for the next minute.
  tickAfterFetch: ({ method }, { ok }) => method === "POST" && ok,
});
