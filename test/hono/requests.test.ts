import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { createRouter } from "../../src/hono/mod.ts";
import { JSONSerializer, MemoryDataStore, OptionsError, Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { recordingLogger, setUp } from "../scheduler/support.ts";
import { asker, problem, setUpRouter } from "./support.ts";

const EVERY = { every: "1h" };

describe("a path", () => {
  test.each(["a/b", "a.b", "100%", "a%2Fb", "ü ?#&=+", "日本", "a\nb", "..a", "bulk", ":id", "*"])(
    "carries the id %j, encoded once",
    async (id) => {
      const { ask, scheduler } = setUpRouter();
      scheduler.task("t", () => {});
      const added = await ask("POST /schedules", { id, taskId: "t", trigger: EVERY });
      const path = `/schedules/${encodeURIComponent(id)}`;
      expect(added.headers.get("location")).toBe(path);
      expect(await ask(`GET ${path}`)).toMatchObject({ status: 200, body: { id } });
      expect(await ask(`POST ${path}/pause`)).toMatchObject({ status: 200, body: { id, paused: true } });
      expect(await ask(`DELETE ${path}`)).toMatchObject({ status: 204 });
    },
  );

  test("that no route has is not found", async () => {
    const { ask } = setUpRouter();
    for (const path of ["/", "/nothing", "/schedules/a/b", "/schedules/", "//schedules"]) {
      expect(await ask(`GET ${path}`)).toMatchObject({ status: 404, body: problem(404, "Not Found", "notFound") });
    }
  });

  test("says which methods it has", async () => {
    const { ask } = setUpRouter();
    const answers = [];
    for (const route of ["PUT /jobs", "DELETE /schedules/a/pause", "POST /schedules/a", "PROPFIND /schedules"]) {
      const { status, body, headers } = await ask(route);
      answers.push([status, (body as { code: string }).code, headers.get("allow")]);
    }
    expect(answers).toEqual([
      [405, "methodNotAllowed", "GET, POST"],
      [405, "methodNotAllowed", "POST"],
      [405, "methodNotAllowed", "GET, PUT, PATCH, DELETE"],
      [405, "methodNotAllowed", "GET, POST"],
    ]);
  });

  test("tells the method that it does not have", async () => {
    const { body } = await setUpRouter().ask("PUT /jobs");
    expect(body).toEqual({
      ...problem(405, "Method Not Allowed", "methodNotAllowed"),
      detail: "the path has no method PUT; its methods are GET, POST",
    });
  });

  test("is refused where the Host makes no URL of it, and the log stays silent", async () => {
    const { logger, entries } = recordingLogger();
    const { router } = setUpRouter({ logger });
    entries.length = 0;
    const answers = [];
    for (const path of ["/health/live", "/schedules"]) {
      // As Node's adapter makes it.
      const request = new Request(`http://localhost${path}`, { headers: { host: "a.99" } });
      const answer = await router.fetch(Object.defineProperty(request, "url", { value: `http://a.99${path}` }));
      answers.push([answer.status, ((await answer.json()) as { code: string }).code]);
    }
    expect(answers).toEqual([
      [400, "badRequest"],
      [400, "badRequest"],
    ]);
    expect(entries).toEqual([]);
  });

  test("may be asked by HEAD where it may be read", async () => {
    const { ask } = setUpRouter();
    expect(await ask("HEAD /schedules")).toMatchObject({ status: 200, body: null });
  });

  test.each([
    ["/scheduler", "/scheduler/schedules/s"],
    ["/", "/schedules/s"],
    ["/a/:tenant/b", "/a/x/b/schedules/s"],
  ])("may begin with that of the mount, %s", async (mount, location) => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const app = new Hono().route(mount, createRouter(scheduler, { auth: "none" }));
    const ask = asker(app);
    const base = mount.replace(":tenant", "x").replace(/\/$/, "");
    const added = await ask(`POST ${base}/schedules`, { id: "s", taskId: "t", trigger: EVERY });
    expect([added.status, added.headers.get("location")]).toEqual([201, location]);
    expect(await ask(`GET ${location}`)).toMatchObject({ status: 200 });
    expect(await ask(`GET ${base}/schedules/none`)).toMatchObject({ status: 404, body: { code: "scheduleLookup" } });
  });

  test("leaves the other routes of an application alone", async () => {
    const app = new Hono()
      .route("/", createRouter(setUp().scheduler, { auth: "none" }))
      .get("/mine", (context) => context.text('"mine"'))
      .notFound((context) => context.text('"nowhere"', 404));
    const mine = await asker(app)("GET /mine");
    expect([mine.body, mine.headers.get("content-security-policy")]).toEqual(["mine", null]);
    expect(await asker(app)("GET /other")).toMatchObject({ status: 404, body: "nowhere" });
  });

  test.each([
    ["/scheduler", "/scheduler/nothing"],
    ["/scheduler", "/scheduler"],
    ["/a/:tenant/b", "/a/x/b/schedules/s/t"],
  ])("is not found as a problem below the mount %s", async (mount, path) => {
    const app = new Hono().route(mount, createRouter(setUp().scheduler, { auth: "none" }));
    const { status, body, headers } = await asker(app)(`GET ${path}`);
    expect([status, headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
      404,
      "application/problem+json",
      "nosniff",
    ]);
    expect(body).toEqual({ ...problem(404, "Not Found", "notFound"), detail: "the router has no such path" });
  });

  test("below the mount may be another one of the application", async () => {
    const app = new Hono()
      .get("/scheduler/before", (context) => context.text('"before"'))
      .route("/scheduler", createRouter(setUp().scheduler, { auth: "none" }))
      .get("/scheduler/after", (context) => context.text('"after"'))
      .notFound((context) => context.text('"nowhere"', 404));
    const ask = asker(app);
    const bodies = [];
    for (const path of ["/scheduler/before", "/scheduler/after", "/elsewhere"])
      bodies.push((await ask(`GET ${path}`)).body);
    expect(bodies).toEqual(["before", "after", "nowhere"]);
  });

  test.each([
    ["/", "/schedules/s"],
    ["/proxy/", "/proxy/schedules/s"],
  ])(
    "begins with the base path %s without its last slash, because two slashes begin a host",
    async (basePath, path) => {
      const { ask, scheduler } = setUpRouter({ basePath });
      scheduler.task("t", () => {});
      const added = await ask("POST /schedules", { id: "s", taskId: "t", trigger: { every: "5m" } });
      expect(added.headers.get("location")).toBe(path);
    },
  );

  test("is refused without its first slash", () => {
    expect(() => setUpRouter({ basePath: "proxy" })).toThrow(
      'createRouter(): basePath must be a path that begins with a slash; got "proxy"',
    );
  });

  test("is told by the option where the router cannot see it", async () => {
    const { ask, scheduler } = setUpRouter({ basePath: "/behind/a/proxy" });
    scheduler.task("t", () => {});
    const added = await ask("POST /schedules", { id: "s", taskId: "t", trigger: EVERY });
    expect(added.headers.get("location")).toBe("/behind/a/proxy/schedules/s");
  });
});

describe("a body", () => {
  const post = async (path: string, body: BodyInit, type: string | null) => {
    const { router } = setUpRouter();
    const headers = { "sec-fetch-site": "same-origin", ...(type === null ? {} : { "content-type": type }) };
    const answer = await router.request(`https://localhost${path}`, { method: "POST", body, headers });
    return [answer.status, ((await answer.json()) as { code: string }).code];
  };

  test.each([
    ["{", "application/json", 400, "badRequest"],
    ['{"a":1}x', "application/json", 400, "badRequest"],
    [new Uint8Array([0x22, 0xff, 0x22]), "application/json", 400, "badRequest"],
    ["{}", "text/plain", 415, "unsupportedMediaType"],
    ["a=1", "application/x-www-form-urlencoded", 415, "unsupportedMediaType"],
    ["{}", "application/jsonp", 415, "unsupportedMediaType"],
    ["{}", "application/json; charset=utf-8", 422, "options"],
    ["{}", "APPLICATION/JSON", 422, "options"],
    ['{"__proto__":{"taskId":"t"}}', "application/json", 422, "options"],
    ['{"constructor":{"taskId":"t"}}', "application/json", 422, "options"],
    ["null", "application/json", 422, "options"],
    ['"t"', "application/json", 422, "options"],
  ])("of %j as %s is %i", async (body, type, status, code) => {
    expect(await post("/jobs", body, type)).toEqual([status, code]);
  });

  test.each([
    ["POST /schedules/s/run", { payload: 1 }, "payload", "POST /jobs with { taskId, payload }"],
    ["POST /schedules/s/run", { foo: 1 }, "foo", "the options are idempotencyKey and uniqueFor"],
    ["POST /schedules/s/pause", { foo: 1 }, "foo", "the options are until, reason and by"],
    ["POST /schedules/s/unpause", { foo: 1 }, "foo", "the options are resumeFrom and by"],
    ["POST /tasks/t/pause", { foo: 1 }, "foo", "the options are key, until, reason and by"],
    ["POST /jobs/j/cancel", { foo: 1 }, "foo", "leave the body out"],
    ["POST /cleanup", { foo: 1 }, "foo", "leave the body out"],
    ["POST /tick", { foo: 1 }, "foo", "leave the body out"],
    ["POST /cleanup", [], "", "no body"],
  ])("of %s is refused for what the route does not know: %j", async (route, body, path, advice) => {
    expect(await setUpRouter().ask(route, body)).toMatchObject({
      status: 422,
      body: { code: "options", issues: [{ path, message: expect.stringContaining(advice) }] },
    });
  });

  test.each([
    ["the header Content-Length", { "content-length": "5" }],
    ["the header Transfer-Encoding", { "transfer-encoding": "chunked" }],
  ])("that %s tells of, and that cannot be read, is refused with the cause", async (_, headers) => {
    expect(await setUpRouter().ask("POST /schedules/s/unpause", undefined, headers)).toMatchObject({
      status: 400,
      body: { code: "badRequest", detail: expect.stringContaining("express.json()") },
    });
  });

  test("that the application has read before is refused with the cause", async () => {
    const { router } = setUpRouter();
    const app = new Hono();
    app.use(async ({ req }, next) => {
      await req.json();
      await next();
    });
    app.route("/", router as unknown as Hono);
    const answer = await asker(app)("POST /tasks/t/pause", { key: "customer-7" });
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining("has read the body") } });
  });

  test("may be empty where a route takes none", async () => {
    expect(await setUpRouter().ask("POST /cleanup", {})).toMatchObject({ status: 204 });
  });

  test("has 1.1 MB at most, and 16 KB where it is a trigger to preview", async () => {
    const large = JSON.stringify({ taskId: "t", payload: "x".repeat(1_100_001) });
    const nested = JSON.stringify({ trigger: { cron: "x".repeat(16_385) } });
    expect(await post("/jobs", large, "application/json")).toEqual([413, "tooLarge"]);
    expect(await post("/triggers/preview", nested, "application/json")).toEqual([413, "tooLarge"]);
  });

  test("is not read further than its bound when it does not tell its size", async () => {
    const { router } = setUpRouter();
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks++;
        controller.enqueue(new Uint8Array(100_000).fill(0x20));
      },
    });
    const request = new Request("https://localhost/jobs", {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      ...{ duplex: "half" },
    });
    expect((await router.fetch(request)).status).toBe(413);
    expect(chunks).toBeLessThan(20);
  });

  test("nested deeper than a payload may be is refused", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    const payload = JSON.parse("[".repeat(1100) + "]".repeat(1100));
    expect(await ask("POST /jobs", { taskId: "t", payload })).toMatchObject({
      status: 422,
      body: { code: "serialization" },
    });
  });
});

describe("an answer", () => {
  test("is kept by no cache", async () => {
    const { ask } = setUpRouter();
    for (const route of ["GET /schedules", "GET /schedules/none", "POST /cleanup", "GET /nowhere"]) {
      expect((await ask(route)).headers.get("cache-control")).toBe("no-store");
    }
  });

  test("shows what JSON has no form for as text", async () => {
    const serializer = new JSONSerializer();
    const dataStore = new MemoryDataStore({
      serializer: { ...{ serialize: (value: unknown) => serializer.serialize(value) }, deserialize: () => 2n ** 64n },
    });
    const { ask, scheduler } = setUpRouter({}, { dataStore });
    scheduler.task("t", () => {});
    const { id } = await scheduler.addJob("t", { payload: 1 });
    expect(await ask(`GET /jobs/${id}`)).toMatchObject({ status: 200, body: { payload: "18446744073709551616" } });
  });

  test("to who may only read has no stacks", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("fail", () => {
      throw new Error("no paper", { cause: new Error("no trees") });
    });
    const { id } = await scheduler.addJob("fail");
    await drain(scheduler);
    const shown = (await scheduler.getJobResult(id))?.toJSON();
    const scopes = ["read", "write"] as const;
    const tokens = scopes.map((scope) => ({ token: `a-token-with-which-one-may-${scope}`, scope }));
    const ask = asker(createRouter(scheduler, { auth: { tokens }, clock }));
    const [read, write] = await Promise.all(
      tokens.map(async ({ token }) => {
        const { body } = await ask(`GET /jobs/${id}/result`, undefined, { authorization: `Bearer ${token}` });
        return body;
      }),
    );
    expect(write).toEqual(shown);
    const bare = { name: "Error", message: "no paper", cause: { name: "Error", message: "no trees" } };
    expect(read).toMatchObject({ error: bare, attemptHistory: [{ number: 1, error: bare }] });
    expect(JSON.stringify(read)).not.toContain("stack");
  });
});

describe("a failure", () => {
  function withFailure(error: unknown) {
    const store = new MemoryDataStore();
    store.getSchedule = () => Promise.reject(error);
    const { logger, entries } = recordingLogger();
    const scheduler = new Scheduler({ dataStore: store, logger });
    const router = createRouter(scheduler, { auth: "none", logger });
    return {
      ask: asker(router),
      told: () => entries.filter(({ level, message }) => level === "error" && message.includes("router")),
    };
  }

  test("of the store is 503, and shows nothing of what the database said", async () => {
    const { ask, told } = withFailure(new StoreUnavailableError("SELECT * FROM jobs at https://token@db.example"));
    const { status, body, headers } = await ask("GET /schedules/s");
    expect([status, headers.get("retry-after"), body]).toEqual([
      503,
      "1",
      {
        ...problem(503, "Service Unavailable", "storeUnavailable"),
        detail: "the store cannot be reached; try again",
      },
    ]);
    expect(told()).toMatchObject([{ level: "error" }]);
  });

  test("that nobody foresaw is 500, without its message", async () => {
    const { ask, told } = withFailure(new TypeError("secret"));
    expect(await ask("GET /schedules/s")).toMatchObject({
      status: 500,
      body: problem(500, "Internal Server Error", "internal"),
    });
    expect(told()).toMatchObject([{ level: "error", details: [new TypeError("secret")] }]);
  });
});

describe("createRouter", () => {
  test.each([
    [undefined, undefined, "takes"],
    [undefined, {}, "auth"],
    [{}, { auth: "none" }, "scheduler"],
    [undefined, { auth: "nobody" }, "auth"],
    [undefined, { auth: "none", logger: 5 }, "logger"],
    [undefined, { auth: "none", base: "/" }, "base"],
    [undefined, { auth: "none", allowedHosts: "example.org" }, "allowedHosts"],
    [undefined, { auth: "none", allowedHosts: ["example.org:80"] }, "without a port"],
  ])("refuses %j with the options %j", (scheduler, options, problemText) => {
    const make = () => createRouter((scheduler ?? setUp().scheduler) as never, options as never);
    expect(make).toThrow(OptionsError);
    expect(make).toThrow(problemText);
  });

  test("takes a function that makes the scheduler of a request", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    let calls = 0;
    const router = createRouter(
      ({ req }) => {
        calls++;
        return req.path === "/tasks" ? scheduler : Promise.resolve({} as Scheduler);
      },
      { auth: "none", logger: recordingLogger().logger },
    );
    const ask = asker(router);
    expect(await ask("GET /tasks")).toMatchObject({ status: 200 });
    expect(await ask("GET /jobs")).toMatchObject({ status: 500, body: { code: "internal" } });
    expect(calls).toBe(2);
  });
});

describe("a message", () => {
  test.each([
    ["GET /results?from=soon", undefined, "GET /results: from must be", "from"],
    ["GET /results?until=soon", undefined, "GET /results: until must be", "until"],
    [
      "POST /jobs/bulk",
      { action: "purge", filter: { from: "soon" } },
      "POST /jobs/bulk: filter.from must be",
      "filter.from",
    ],
    ["POST /jobs/bulk", { action: "purge", ids: "*" }, "POST /jobs/bulk: ids must be", "ids"],
    ["POST /jobs/bulk", { action: "purge", all: true, dryRun: 1 }, "POST /jobs/bulk: dryRun must be", "dryRun"],
    [
      "POST /jobs/bulk",
      { action: "purge", all: true, expectedCount: -1 },
      "POST /jobs/bulk: expectedCount must be",
      "expectedCount",
    ],
    ["POST /jobs", { taskId: "t", runAt: "soon" }, "POST /jobs: runAt must be", "runAt"],
  ])("about %s names what the request has", async (route, body, detail, path) => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    const answer = await ask(route, body);
    expect(answer.body).toMatchObject({ detail: expect.stringContaining(detail), issues: [{ path }] });
  });

  test.each([
    [
      "GET /jobs/none",
      'there is no job "none" and no result of it: it never existed, another one took its place ' +
        "(overlap, coalesce), its result expired, or none was to be kept",
    ],
    [
      "GET /jobs/none/result",
      'there is no job "none" and no result of it: it never existed, another one took its place ' +
        "(overlap, coalesce), its result expired, or none was to be kept",
    ],
  ])("about %s names no call of the library", async (route, detail) => {
    expect((await setUpRouter().ask(route)).body).toMatchObject({ status: 404, detail });
  });
});
