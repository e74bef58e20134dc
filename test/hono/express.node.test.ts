import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { describe, expect, onTestFinished, test } from "vitest";
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

describe("a login of the application's own", () => {
  interface Signed {
    readonly user?: { readonly name: string; readonly isAdmin: boolean };
  }

  /** An application whose middleware knows Ada and Grace by a cookie. @returns how it answers to a user */
  async function openApp(): Promise<(name: string, method: "GET" | "POST", path: string) => Promise<number>> {
    const { router, scheduler } = setUpRouter({
      basePath: "/scheduler",
      auth: (_request: Request, { user }: Signed) =>
        user === undefined ? null : { scope: user.isAdmin ? "write" : "read", name: user.name },
    });
    scheduler.task("charge", () => {});
    await scheduler.addJob("charge");
    const app = express();
    app.use((request, _response, next) => {
      const name = /user=(\w+)/.exec(request.headers.cookie ?? "")?.[1];
      if (name !== undefined) Object.assign(request, { user: { name, isAdmin: name === "ada" } });
      next();
    });
    app.use("/scheduler", getRequestListener(router.fetch));
    const server = app.listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    return async (name, method, path) => {
      const headers = { cookie: name === "" ? "a=b" : `user=${name}`, origin, "sec-fetch-site": "same-origin" };
      const answer = await fetch(`${origin}/scheduler${path}`, { method, headers });
      await answer.text();
      return answer.status;
    };
  }

  test("guards the router, by what Express's own request carries", async () => {
    const ask = await openApp();
    expect(await ask("", "GET", "/schedules")).toBe(401);
    expect(await ask("grace", "GET", "/schedules")).toBe(200);
    expect(await ask("grace", "POST", "/tasks/charge/pause")).toBe(403);
    expect(await ask("ada", "POST", "/tasks/charge/pause")).toBe(200);
  });
});

test.each([
  ["the env of a Worker", { TEAM: "ops" }, { TEAM: "ops" }],
  ["Node's request", { incoming: { user: "ada" }, outgoing: {} }, { user: "ada" }],
  ["nothing, as an empty environment", undefined, {}],
])("auth gets %s", async (_what, env, expected) => {
  const given: unknown[] = [];
  const { router } = setUpRouter({
    auth: (_request: Request, native: unknown) => {
      given.push(native);
      return "read";
    },
  });
  expect((await router.fetch(new Request("http://localhost/schedules"), env)).status).toBe(200);
  expect(given).toEqual([expected]);
});
