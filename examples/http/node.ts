// The router alone, on Node.
//
//     DATABASE_URL=http://127.0.0.1:8080 SCHEDULER_TOKEN=$(openssl rand -hex 32) npm start -- http/node
//     curl -H "Authorization: Bearer $SCHEDULER_TOKEN" http://127.0.0.1:3000/schedules
import process from "node:process";
import { serve } from "@hono/node-server";
import { makeRouter, run } from "./scheduler.ts";

const server = serve(
  { fetch: makeRouter().fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) },
  ({ port }) => console.log(`listening on http://127.0.0.1:${port}`),
);
await run();
server.close();
