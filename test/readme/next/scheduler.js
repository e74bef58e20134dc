import { createRouter } from "escapement/hono";
import { theScheduler } from "./the-scheduler.js";

export function makeRouter() {
  const scheduler = theScheduler();
  scheduler.task("greet", (name) => `Hello, ${name}`);
  return createRouter(scheduler, { auth: { tokens: [{ token: process.env.SCHEDULER_TOKEN, scope: "write" }] } });
}
