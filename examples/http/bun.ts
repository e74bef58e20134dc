// The router alone, on Bun.
//
//     DATABASE_URL=http://127.0.0.1:8080 SCHEDULER_TOKEN=$(openssl rand -hex 32) bun examples/http/bun.ts
import { makeRouter, run } from "./scheduler.ts";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(Bun.env.PORT ?? 3000),
  // In seconds: longer than the 15 between two beats of a stream of events.
  idleTimeout: 30,
  fetch: makeRouter().fetch,
});
console.log(`listening on ${server.url}`);
await run();
await server.stop();
