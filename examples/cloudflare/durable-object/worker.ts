// A scheduler in a Durable Object, and a Worker in front of it. There is nothing else: neither a database nor a Cron
// Trigger. Each name has an object of its own, with schedules, jobs and an alarm of its own.
//
//     npx wrangler deploy
import { SchedulerDurableObject } from "escapement/cloudflare";
import type { Scheduler } from "escapement/scheduler";
import { addSchedules, tasks } from "../../tasks.ts";

/** With Cloudflare's types: `DurableObjectNamespace<Jobs>`. */
interface Env {
  readonly JOBS: { getByName(name: string): Jobs };
}

export class Jobs extends SchedulerDurableObject<Env> {
  protected override async configure(scheduler: Scheduler): Promise<void> {
    scheduler.use(tasks);
    await addSchedules(scheduler);
  }
}

export default {
  /** POST /NAME/greet adds a job to an object, GET /NAME/results lists what its jobs have returned. */
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, name = "", verb = ""] = new URL(request.url).pathname.split("/");
    const jobs = env.JOBS.getByName(name);
    if (request.method === "POST" && verb === "greet") {
      const { id } = await jobs.addJob("greet", { payload: name });
      return Response.json({ id }, { status: 202 });
    }
    if (request.method === "GET" && verb === "results") {
      const { items } = await jobs.getJobResults({ limit: 20 });
      return Response.json(items.map(({ taskId, outcome, returnValue }) => ({ taskId, outcome, returnValue })));
    }
    return new Response("Not Found", { status: 404 });
  },
};
