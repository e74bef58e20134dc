import { MemoryDataStore, Scheduler } from "escapement";
import { createRouter } from "escapement/hono";

export function makeRouter() {
  const scheduler = new Scheduler({ dataStore: new MemoryDataStore() });
  scheduler.task("greet", (name) => `Hello, ${name}`);
  return createRouter(scheduler, { auth: { tokens: [{ token: process.env.SCHEDULER_TOKEN, scope: "write" }] } });
}
