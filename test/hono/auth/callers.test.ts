import type { Hono } from "hono";
import { describe, expect, test } from "vitest";
import type { RouterAuth } from "../../../src/hono/mod.ts";
import { recordingLogger } from "../../scheduler/support.ts";
import { asker, setUpRouter } from "../support.ts";
import { bearer, READ, WRITE } from "./support.ts";

const OTHER = "other-token-0123456789abcdef";
const TOKENS: RouterAuth = {
  tokens: [
    { token: READ, scope: "read", name: "reader" },
    { token: WRITE, scope: "write", name: "deploys" },
    { token: OTHER, scope: "write" },
  ],
};

/** A router over a scheduler with a schedule `s`, and who changed it since. */
async function setUp(auth: RouterAuth) {
  const setup = setUpRouter({ auth }, { identity: "here" });
  setup.scheduler.task("t", () => {});
  await setup.scheduler.addSchedule("t", "0 9 * * *", { id: "s" });
  const authors = async (): Promise<unknown[]> => {
    const { items } = await setup.scheduler.getScheduleChanges("s", { order: "oldest" });
    return items.slice(1).map(({ by }) => by);
  };
  return { ...setup, authors };
}

describe("the session of a caller", () => {
  const session = async (auth: RouterAuth, headers = {}) => (await setUp(auth)).ask("GET /session", undefined, headers);

  test("tells the scope and the name of a token", async () => {
    const asked = [READ, OTHER].map((token) => session(TOKENS, bearer(token)));
    expect((await Promise.all(asked)).map(({ body }) => body)).toEqual([
      { scope: "read", name: "reader", expiresAt: null },
      { scope: "write", name: null, expiresAt: null },
    ]);
  });

  test("tells when the cookie ends", async () => {
    const { ask } = await setUp(TOKENS);
    const { headers } = await ask("POST /session", { token: READ });
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect(await ask("GET /session", undefined, { cookie })).toMatchObject({
      status: 200,
      body: { scope: "read", name: "reader", expiresAt: "2030-01-01T12:00:00Z" },
    });
  });

  test("tells whom a function knows, and that everybody may write", async () => {
    const answers = [await session(() => ({ scope: "read", name: "ada" })), await session("none")];
    expect(answers.map(({ body }) => body)).toEqual([
      { scope: "read", name: "ada", expiresAt: null },
      { scope: "write", name: null, expiresAt: null },
    ]);
  });

  test("is none of somebody whom nobody knows", async () => {
    expect(await session(TOKENS)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });
});

describe("what is changed over HTTP", () => {
  test("is by the name of the token", async () => {
    const { ask, authors } = await setUp(TOKENS);
    const as = bearer(WRITE);
    await ask("PUT /schedules/s", { taskId: "t", trigger: { every: "1h" } }, as);
    await ask("PATCH /schedules/s", { priority: 1 }, as);
    await ask("POST /schedules/s/pause", undefined, as);
    await ask("POST /schedules/s/unpause", undefined, as);
    await ask("POST /schedules/bulk", { action: "pause", all: true }, as);
    await ask("DELETE /schedules/s", undefined, as);
    await ask("POST /schedules", { id: "s", taskId: "t", trigger: { every: "1h" } }, as);
    expect(await authors()).toEqual(Array(7).fill("deploys"));
  });

  test("is by the scheduler where the token has no name", async () => {
    const { ask, authors } = await setUp(TOKENS);
    await ask("POST /schedules/s/pause", undefined, bearer(OTHER));
    expect(await authors()).toEqual(["here"]);
  });

  test("is by the name of the token that a session began with", async () => {
    const { router, authors } = await setUp(TOKENS);
    const ask = asker(router as unknown as Hono);
    const { headers } = await ask("POST /session", { token: WRITE });
    const cookie = (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    expect((await ask("POST /schedules/s/pause", undefined, { cookie })).status).toBe(200);
    expect(await authors()).toEqual(["deploys"]);
  });

  test("is by whom a function tells", async () => {
    const auth = (request: Request) => ({ scope: "write" as const, name: request.headers.get("x-user") ?? undefined });
    const { ask, authors } = await setUp(auth);
    await ask("POST /schedules/s/pause", undefined, { "x-user": "ada" });
    await ask("POST /schedules/s/unpause");
    expect(await authors()).toEqual(["ada", "here"]);
  });

  test("is by whom the request names, where everybody is let in", async () => {
    const { ask, authors } = await setUp("none");
    await ask("POST /schedules/s/pause", { by: "ada" });
    await ask("POST /schedules/s/unpause");
    expect(await authors()).toEqual(["ada", "here"]);
  });

  test.each<[string, RouterAuth, Record<string, string>]>([
    ["a token with a name", TOKENS, bearer(WRITE)],
    ["a token without one", TOKENS, bearer(OTHER)],
    ["a caller of a function", () => ({ scope: "write", name: "ada" }), {}],
    ["a caller of a function without names", () => "write", {}],
  ])("is by nobody whom %s names: that is refused", async (_, auth, headers) => {
    const { ask, authors } = await setUp(auth);
    const writes: [string, unknown?][] = [
      ["POST /schedules", { taskId: "t", trigger: { every: "1h" }, by: "boss" }],
      ["PUT /schedules/s", { taskId: "t", trigger: { every: "1h" }, by: "boss" }],
      ["PATCH /schedules/s", { priority: 1, by: "boss" }],
      ["POST /schedules/s/pause", { by: "boss" }],
      ["POST /schedules/s/unpause", { by: "boss" }],
      ["POST /schedules/bulk", { action: "remove", all: true, by: "boss" }],
      ["POST /tasks/t/pause", { by: "boss" }],
      ["POST /tasks/t/unpause", { by: "boss" }],
      ["DELETE /schedules/s?by=boss"],
    ];
    for (const [route, body] of writes) {
      const { status, body: problem } = await ask(route, body, headers);
      expect([route, status, problem]).toMatchObject([route, 422, { code: "options", issues: [{ path: "by" }] }]);
    }
    expect(await authors()).toEqual([]);
  });
});

describe("a function auth", () => {
  test.each(["", "x".repeat(201), "\u0000", 7, null])("fails with the name %j", async (name) => {
    const { logger, entries } = recordingLogger();
    const { ask } = setUpRouter({ auth: () => ({ scope: "write", name: name as string }), logger });
    expect(await ask("GET /tasks")).toMatchObject({ status: 500, body: { code: "internal" } });
    expect(entries).toMatchObject([{ message: "escapement: the function auth of the router failed" }]);
  });

  test("lets nobody in with a name alone", async () => {
    const { ask } = setUpRouter({ auth: () => ({ name: "ada" }) as never });
    expect((await ask("GET /tasks")).status).toBe(401);
  });
});
