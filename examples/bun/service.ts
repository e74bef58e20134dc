// A service on Bun: requests add jobs, and the same process runs them. Ctrl-C lets running jobs end.
//
//     DATABASE_URL=http://127.0.0.1:8080 bun examples/bun/service.ts
//     curl -X POST http://127.0.0.1:3000/greet/Ada
import { Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql/http";
import { addSchedules, tasks } from "../tasks.ts";

const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: Bun.env.DATABASE_URL ?? "" }) });
scheduler.use(tasks);
await addSchedules(scheduler);

const server = Bun.serve({
  port: Number(Bun.env.PORT ?? 3000),
  routes: {
    "/greet/:name": {
      POST: async ({ params }) => {
        const { id } = await scheduler.addJob(tasks.greet, { payload: params.name });
        return Response.json({ id }, { status: 202 });
      },
    },
  },
});
console.log(`listening on ${server.url}`);

await scheduler.runUntilStopped();
await server.stop();
