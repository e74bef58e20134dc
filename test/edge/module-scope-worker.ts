// A Worker whose schedulers are made at the top of its module, for module-scope.node.test.ts.
import { env } from "cloudflare:workers";
import { Scheduler as AnyScheduler } from "../../src/mod.ts";
import { Scheduler } from "../../src/scheduler.ts";
import { type D1Binding, D1DataStore } from "../../src/stores/d1/mod.ts";

const inMemory = new AnyScheduler();
const onD1 = new Scheduler({ dataStore: new D1DataStore((env as { readonly DB: D1Binding }).DB) });
for (const scheduler of [inMemory, onD1]) scheduler.task("hello", () => "hello");

const tooEarly = onD1
  .schedule("too early", "0 9 * * *", () => "never")
  .then(
    () => "",
    (error: Error) => error.message,
  );

async function jobsRun(scheduler: Scheduler): Promise<number> {
  await scheduler.addSchedule("hello", "0 9 * * *", { id: "morning" });
  await scheduler.runScheduleNow("morning");
  return (await scheduler.tick()).jobsRun;
}

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.url.endsWith("/too-early")) return new Response(String(await tooEarly));
    return Response.json(await Promise.all([jobsRun(inMemory), jobsRun(onD1)]));
  },
};
