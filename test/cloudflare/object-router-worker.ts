// An object that answers HTTP with the router of its scheduler and its page.
import { SchedulerDurableObject } from "../../src/cloudflare/workerd.ts";
import { dashboard } from "../../src/dashboard/mod.ts";
import { createRouter } from "../../src/hono/mod.ts";
import type { Scheduler } from "../../src/scheduler.ts";

interface Env {
  readonly JOBS: { idFromName(name: string): object; get(id: object): Jobs };
}

export class Jobs extends SchedulerDurableObject<Env> {
  readonly #router = createRouter(this.scheduler, {
    auth: { tokens: [{ token: "a-long-random-text-of-this-test", scope: "write" }] },
    dashboard: dashboard(),
  });

  protected override configure(scheduler: Scheduler): void {
    scheduler.task("greet", (name: string) => `Hello, ${name}!`);
  }

  fetch(request: Request): Response | Promise<Response> {
    return this.#router.fetch(request);
  }
}

export default {
  fetch(request: Request, { JOBS }: Env): Response | Promise<Response> {
    return JOBS.get(JOBS.idFromName("customer-17")).fetch(request);
  },
};
