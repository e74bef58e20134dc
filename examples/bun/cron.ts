// The Worker of ../cloudflare/turso/worker.ts, unchanged, on Bun: a tick a minute by Bun.cron, and its routes.
//
//     DATABASE_URL=http://127.0.0.1:8080 bun examples/bun/cron.ts
import worker from "../cloudflare/turso/worker.ts";

Bun.cron("* * * * *", async () => {
  // A callback that rejects ends the process. Nothing is lost by a tick that fails: the next one goes on.
  try {
    await worker.scheduled();
  } catch (error) {
    console.error("the tick failed:", error);
  }
});

const server = Bun.serve({ port: Number(Bun.env.PORT ?? 3000), fetch: (request) => worker.fetch(request) });
console.log(`listening on ${server.url}`);
