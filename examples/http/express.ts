// The router within an application of Express.
//
//     DATABASE_URL=http://127.0.0.1:8080 SCHEDULER_TOKEN=$(openssl rand -hex 32) npm start -- http/express
//     curl -H "Authorization: Bearer $SCHEDULER_TOKEN" http://127.0.0.1:3000/scheduler/schedules
import process from "node:process";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { makeRouter, run } from "./scheduler.ts";

const app = express();
app.get("/", (_request, response) => {
  response.send("the page of the application");
});
// Before what reads bodies, such as express.json(). Express takes the path off the URL, so that the router is told it.
app.use("/scheduler", getRequestListener(makeRouter("/scheduler").fetch));

const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}`));
await run();
server.close();
