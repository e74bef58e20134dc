import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { setUpRouter } from "./support.ts";

/** Pauses one key of a task in a router within an application of Express. @returns the status, and what is paused */
async function pauseKey(readsBodies: boolean): Promise<[status: number, keys: readonly (string | null)[]]> {
  const { router, scheduler } = setUpRouter({ basePath: "/scheduler" });
  scheduler.task("charge", () => {});
  await scheduler.addJob("charge");
  const app = express();
  if (readsBodies) app.use(express.json());
  app.use("/scheduler", getRequestListener(router.fetch));
  const server = app.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/scheduler/tasks/charge/pause`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key: "customer-7" }),
  });
  await answer.text();
  const { pausedTasks } = await scheduler.health();
  return [answer.status, pausedTasks.map(({ key }) => key)];
}

test("a body reaches a router within Express", async () => {
  expect(await pauseKey(false)).toEqual([200, ["customer-7"]]);
});

test("a body that express.json() has read is refused, so that nothing is done without it", async () => {
  expect(await pauseKey(true)).toEqual([400, []]);
});
