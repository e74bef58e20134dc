import { createWorker } from "escapement/cloudflare";
import { type D1Binding, D1DataStore } from "escapement/d1";
import { dashboard } from "escapement/dashboard";
import { createRouter } from "escapement/hono";
import { Scheduler } from "escapement/scheduler";
import { Hono } from "hono";
import { addSchedules, tasks } from "./jobs.ts";

interface Env {
  readonly DB: D1Binding;
  /** A secret. Whoever has it may run every task: .dev.vars, `wrangler secret put SCHEDULER_TOKEN`. */
  readonly SCHEDULER_TOKEN: string;
}

/** The routes of one request find its scheduler in their environment. */
interface Routes {
  Bindings: { scheduler: Scheduler };
}

// An isolate keeps it from one request to the next, because it has no connection.
let app: Hono<Routes> | undefined;

function makeApp(token: string): Hono<Routes> {
  const scheduler = createRouter<Routes>(({ env }) => env.scheduler, {
    auth: { tokens: [{ token, scope: "write" }] },
    dashboard: dashboard(),
  });
  return new Hono<Routes>()
    .route("/scheduler", scheduler)
    .get("/", (context) => context.text("The page of the scheduler is at /scheduler"));
}

export default createWorker<Env>({
  scheduler: ({ DB }) => {
    const scheduler = new Scheduler({ dataStore: new D1DataStore(DB), timeZone: "Europe/Berlin" });
    scheduler.use(tasks);
    return scheduler;
  },
  // A Cron Trigger adds them, and no request of a stranger.
  schedules: addSchedules,
  // An invocation may have 1,000 queries. On the free plan it may have 50: write 3.
  tick: { maxRoundTrips: 40 },
  router: (request, scheduler, { SCHEDULER_TOKEN }) => {
    app ??= makeApp(SCHEDULER_TOKEN);
    return app.fetch(request, { scheduler });
  },
  // So that a job of the page need not wait for the next minute.
  tickAfterFetch: ({ method }, { ok }) => method === "POST" && ok,
});
