import { readFile } from "node:fs/promises";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { createRouter } from "../../src/hono/mod.ts";
import { recordingLogger, setUp } from "../scheduler/support.ts";
import { startServer } from "../support/http-server.ts";
import { Nginx } from "../support/nginx.ts";

const TOKEN = "a-long-random-text-for-tests";
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

/** A router behind nginx, with the configuration of the documentation. */
async function behindNginx() {
  const clientAddress = (request: Request) => request.headers.get("x-real-ip") ?? "";
  const auth = { tokens: [{ token: TOKEN, scope: "write" as const }], clientAddress };
  const setup = setUp();
  setup.scheduler.task("t", () => {});
  const router = createRouter(setup.scheduler, { auth, logger: recordingLogger().logger });
  const server = await startServer(new Hono().route("/scheduler", router).fetch);
  onTestFinished(() => server.stop());
  const page = await readFile(new URL("../../docs/http.md", import.meta.url), "utf8");
  const [, configuration = ""] = /```nginx\n(.*?)```/s.exec(page) ?? [];
  const nginx = await Nginx.start(configuration.replace("127.0.0.1:3000", `127.0.0.1:${server.port}`));
  onTestFinished(() => nginx.stop());
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = AUTHORIZED) =>
    fetch(`${nginx.url}/scheduler${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return { ...setup, url: `${nginx.url}/scheduler`, send };
}

test("ids with slashes, large bodies and sign-ins reach a router behind nginx", async () => {
  const { scheduler, url, send } = await behindNginx();
  const added = await send("POST", "/schedules", { id: "a/b//c", taskId: "t", trigger: { every: "1h" } });
  expect([added.status, added.headers.get("location")]).toEqual([201, "/scheduler/schedules/a%2Fb%2F%2Fc"]);
  expect((await send("POST", "/schedules/a%2Fb%2F%2Fc/pause", {})).status).toBe(200);
  expect((await scheduler.getSchedule("a/b//c")).paused).toBe(true);

  const large = await send("POST", "/jobs", { taskId: "t", payload: `${"x".repeat(900_000)}${"é".repeat(90_000)}` });
  expect(large.status).toBe(202);
  const tooLarge = await send("POST", "/jobs", { taskId: "t", payload: "x".repeat(1_200_000) });
  expect([tooLarge.status, await tooLarge.json()]).toMatchObject([413, { code: "tooLarge" }]);

  const { origin } = new URL(url);
  expect((await send("POST", "/session", { token: TOKEN }, { origin })).status).toBe(204);
  expect((await send("POST", "/session", { token: TOKEN }, { origin: "https://example.org" })).status).toBe(403);
});

test("events come at once through nginx", async () => {
  const { scheduler, url } = await behindNginx();
  const { body } = await fetch(`${url}/events?types=jobAdded`, { headers: AUTHORIZED });
  const { id } = await scheduler.addJob("t");
  let text = "";
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.includes(id)) break;
  }
  expect(text).toContain("event: jobAdded");
});
