// The router within an application of Hono, on Node. On other runtimes only the server is another one.
//
//     DATABASE_URL=http://127.0.0.1:8080 SCHEDULER_TOKEN=$(openssl rand -hex 32) npm start -- http/hono
//     curl -H "Authorization: Bearer $SCHEDULER_TOKEN" http://127.0.0.1:3000/scheduler/schedules
import process from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { makeRouter, run } from "./scheduler.ts";

const app = new Hono();
app.get("/", ({ text }) => text("the page of the application"));
app.route("/scheduler", makeRouter());

const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) }, ({ port }) =>
  console.log(`listening on http://127.0.0.1:${port}`),
);
await run();
server.close();
