// The API security top ten of OWASP (2023), one group for each item, by its name. Limits of sign-ins and the life of
// sessions are tested in auth/session.test.ts, the origin of writes in auth/gate.test.ts.
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { routes } from "../../src/hono/routes/mod.ts";
import { jobBatchBody } from "../../src/hono/schemas.ts";
import { insight } from "../../src/insight/mod.ts";
import { MemoryDataStore, type Scheduler } from "../../src/mod.ts";
import { recordingLogger } from "../scheduler/support.ts";
import { bearer, GRANTS, READ, WRITE } from "./auth/support.ts";
import { type Answer, type RouterSetup, setUpRouter } from "./support.ts";

type As = (route: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

interface Guarded extends RouterSetup {
  readonly as: Readonly<Record<"reader" | "writer" | "stranger", As>>;
}

/** A router with a token of each scope, over a scheduler with a task that echoes and one that fails. */
function setUpGuarded(options: Parameters<typeof setUpRouter>[0] = {}): Guarded {
  const metrics = { contentType: "text/plain", text: async () => "" };
  const setup = setUpRouter({ auth: { tokens: GRANTS }, metrics, insight: insight(), ...options });
  setup.scheduler.task("echo", (payload) => payload);
  setup.scheduler.task("fail", () => {
    throw new Error("it is broken", { cause: new Error("deep down") });
  });
  const as =
    (credentials: Record<string, string>): As =>
    (route, body, headers) =>
      setup.ask(route, body, { ...credentials, ...headers });
  return { ...setup, as: { reader: as(bearer(READ)), writer: as(bearer(WRITE)), stranger: as({}) } };
}

const code = ({ status, body }: Answer): [number, unknown] => [status, (body as { code?: unknown } | null)?.code];

/** Every route, with a path that fits. */
const ROUTES = Object.entries(routes).map(([key, { scope }]) => [key.replaceAll(/:\w+/g, "x"), scope] as const);
const GUARDED = ROUTES.filter(([, scope]) => scope !== "none");
const READS = ROUTES.filter(([, scope]) => scope === "read").map(([route]) => route);
const WRITES = ROUTES.filter(([, scope]) => scope === "write").map(([route]) => route);

/** What comes after the jobs of a batch: in a literal, it would make a thenable of it. */
const LAST = "then";

/** Runs what is due. */
const runDue = (scheduler: Scheduler): Promise<unknown> => scheduler.tick();

describe("API1, broken object level authorization:", () => {
  test.each(["a/b", "..", ".", "a/../b", "%2F", "a?b#c", "ü 😀", "a%20b"])(
    "the id %j in a path leads to that schedule and to no other",
    async (id) => {
      const { as, scheduler } = setUpGuarded();
      await scheduler.addSchedule("echo", "0 9 * * *", { id: "other" });
      await scheduler.addSchedule("echo", "0 9 * * *", { id });
      const path = `/schedules/${encodeURIComponent(id)}`;
      // A URL has no segment that is "." or "..", however it is written.
      const isLost = /^\.\.?$/.test(id);
      expect(code(await as.reader(`GET ${path}`))[0]).toBe(isLost ? 404 : 200);
      await as.writer(`DELETE ${path}`);
      const left = await scheduler.getSchedules();
      expect(left.items.map((schedule) => schedule.id)).toEqual(isLost ? [id, "other"] : ["other"]);
    },
  );

  test("an id of another kind of record leads nowhere", async () => {
    const { as, scheduler } = setUpGuarded();
    await scheduler.addSchedule("echo", "0 9 * * *", { id: "s" });
    const answers = [
      await as.reader("GET /jobs/s"),
      await as.writer("POST /jobs/s/cancel"),
      ...(await Promise.all(
        ["occurrences", "changes", "explain?at=2030-01-01"].map((verb) => as.reader(`GET /schedules/echo/${verb}`)),
      )),
    ];
    expect(answers.map(code)).toEqual([
      [404, "jobLookup"],
      [404, "jobLookup"],
      ...Array(3).fill([404, "scheduleLookup"]),
    ]);
  });

  test("a cursor of one schedule's past, or one that is made up, shows nothing of another's", async () => {
    const { as, scheduler, clock } = setUpGuarded();
    for (const id of ["mine", "other"]) {
      await scheduler.addSchedule("echo", "* * * * *", { id, coalesce: "all" });
      await scheduler.pauseSchedule(id);
      await scheduler.unpauseSchedule(id);
    }
    await clock.advance("PT5M");
    await runDue(scheduler);
    for (const verb of ["occurrences", "changes"]) {
      const { body } = await as.reader(`GET /schedules/other/${verb}?limit=1`);
      const { cursor } = body as { cursor: string };
      for (const forged of [
        cursor,
        cursor.replace(/\w$/, "1"),
        "999999999999999",
        "at:zzzzzzzzz",
        "at:-zzzzzzzzz",
        "0",
      ]) {
        for (const order of ["newest", "oldest"]) {
          const answer = await as.reader(`GET /schedules/mine/${verb}?order=${order}&cursor=${forged}`);
          const { items = [] } = answer.body as { items?: { scheduleId: string }[] };
          expect([200, 400]).toContain(answer.status);
          expect(items.filter(({ scheduleId }) => scheduleId !== "mine")).toEqual([]);
        }
      }
    }
  });
});

describe("API2, broken authentication:", () => {
  test.each(GUARDED)("%s needs a token", async (route) => {
    const { as } = setUpGuarded();
    expect(code(await as.stranger(route))).toEqual([401, "unauthorized"]);
    expect(code(await as.stranger(route, undefined, bearer(`${WRITE} `.repeat(2))))).toEqual([401, "unauthorized"]);
  });

  test("health of the process is all that strangers see, and it has no details", async () => {
    const { as } = setUpGuarded();
    const open = ROUTES.flatMap(([route, scope]) => (scope === "none" && !route.endsWith(" /session") ? [route] : []));
    expect(open).toEqual(["GET /health/live", "GET /health/ready", "GET /calendar.ics"]);
    // The calendar has tokens of its own, and is not there without them.
    const answers = await Promise.all(open.slice(0, 2).map((route) => as.stranger(route)));
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, { status: "live" }],
      [200, { status: "ready" }],
    ]);
  });

  test("no router is made without a choice", () => {
    const { scheduler } = setUpGuarded();
    expect(() => createRouter(scheduler, {} as never)).toThrow("createRouter(): auth is missing");
    const misplaced = { auth: "none", token: "s3cret" };
    expect(() => createRouter(scheduler, misplaced as never)).toThrow(
      'createRouter(): token is no option here; write { auth: { tokens: [{ token, scope: "write" }] } }',
    );
    expect(() => createRouter(scheduler, { auth: { tokens: [] } })).toThrow("auth.tokens must be a list of 1 to 100");
  });
});

describe("API3, broken object property level authorization:", () => {
  test("stacks of errors are for those who may write", async () => {
    const { as, scheduler } = setUpGuarded();
    const { id } = await scheduler.addJob("fail");
    await runDue(scheduler);
    const routesOfResult = [`GET /jobs/${id}/result`, "GET /results?include=result"];
    for (const route of routesOfResult) {
      expect(JSON.stringify((await as.writer(route)).body)).toContain('"stack"');
      expect(JSON.stringify((await as.reader(route)).body)).not.toContain('"stack"');
      expect(JSON.stringify((await as.reader(route)).body)).toContain("deep down");
    }
    expect(JSON.stringify((await as.writer("GET /overview")).body)).not.toContain('"stack"');
  });

  test("stacks of failed attempts of an unfinished job are, too", async () => {
    const { as, scheduler } = setUpGuarded();
    scheduler.task("again", { retry: { maxAttempts: 3, backoff: { initial: "1h" } } }, () => {
      throw new Error("not yet");
    });
    const { id } = await scheduler.addJob("again");
    await runDue(scheduler);
    expect(JSON.stringify((await as.writer(`GET /jobs/${id}`)).body)).toContain('"stack"');
    const shown = JSON.stringify((await as.reader(`GET /jobs/${id}`)).body);
    expect([shown.includes('"stack"'), shown.includes("not yet")]).toEqual([false, true]);
  });

  test.each([
    ["POST /jobs", { taskId: "echo", fence: 5 }],
    ["POST /jobs", { taskId: "echo", acquiredBy: "me" }],
    ["POST /jobs", { taskId: "echo", id: "mine" }],
    ["POST /schedules", { taskId: "echo", trigger: { every: "5m" }, createdAt: "2000-01-01T00:00:00Z" }],
    ["PATCH /schedules/s", { taskId: "fail" }],
    ["PATCH /schedules/s", { id: "other" }],
    ["PATCH /schedules/s", { priority: 1, by: "somebody else" }],
    ["PATCH /schedules/s", JSON.parse('{"__proto__":{"paused":true}}')],
  ])("%s refuses what no caller may set: %j", async (route, body) => {
    const { as, scheduler } = setUpGuarded();
    await scheduler.addSchedule("echo", "0 9 * * *", { id: "s" });
    const before = JSON.stringify(await scheduler.getSchedule("s"));
    expect(code(await as.writer(route, body))).toEqual([422, "options"]);
    expect(JSON.stringify(await scheduler.getSchedule("s"))).toBe(before);
  });

  test("explanations show no more of an error than its result does: no stack, no payload, no value", async () => {
    const { as, scheduler, clock } = setUpGuarded({ redact: () => "****" });
    await scheduler.addSchedule("fail", "0 9 * * *", { id: "s", payload: { card: "4111" } });
    await clock.advance("PT9H");
    await runDue(scheduler);
    for (const caller of [as.reader, as.writer]) {
      const { status, body } = await caller("GET /schedules/s/explain?at=2030-01-01T09:00:00Z");
      const { cause, text } = body as { cause: unknown; text: string };
      expect([status, cause]).toEqual([200, { kind: "error", name: "Error", message: "it is broken", code: null }]);
      expect(text).toContain("Error: it is broken");
      expect(JSON.stringify(body)).not.toMatch(/4111|deep down|stack|\bat file|\.ts:/);
    }
  });

  test("the past of a schedule shows neither its payload nor its metadata", async () => {
    const { as, scheduler, clock } = setUpGuarded();
    const secret = { payload: { card: "4111" }, metadata: { card: "4111" } };
    await scheduler.addSchedule("echo", "0 9 * * *", { id: "s", ...secret });
    await scheduler.updateSchedule("s", { payload: { card: "4112" }, metadata: { card: "4112" } });
    await clock.advance("PT9H");
    await runDue(scheduler);
    for (const verb of ["changes", "occurrences", "explain?at=2030-01-01T09:00:00Z"]) {
      const { status, body } = await as.reader(`GET /schedules/s/${verb}`);
      expect([status, JSON.stringify(body).includes("411")]).toEqual([200, false]);
    }
  });

  test("redact hides what is secret in payloads and returned values, from everybody and everywhere", async () => {
    const seen: unknown[] = [];
    const { as, scheduler } = setUpGuarded({
      redact(value, shown) {
        seen.push({ ...shown });
        return typeof value === "object" && value !== null && "card" in value ? { ...value, card: "****" } : value;
      },
    });
    const payload = { card: "4111111111111111", amount: 5 };
    const job = { taskId: "echo", payload };
    await scheduler.addSchedule("echo", "0 9 * * *", { id: "s", payload });
    const answers = [
      await as.writer("POST /jobs", job),
      await as.writer("POST /jobs/batch", { jobs: [job], [LAST]: job }),
      await as.writer("POST /schedules", { id: "t", taskId: "echo", trigger: { cron: "0 9 * * *" }, payload }),
      await as.writer("POST /schedules/s/run"),
      await as.writer("POST /schedules/s/pause"),
      await as.writer("PATCH /schedules/s", { priority: 1 }),
      await as.reader("GET /jobs?include=payload"),
      await as.reader("GET /schedules?include=payload"),
      await as.reader("GET /schedules/s"),
    ];
    await runDue(scheduler);
    const whole = "GET /results?include=payload,result";
    answers.push(await as.reader(whole), await as.writer(whole));
    const shown = answers.map(({ status, body }) => [status < 300, JSON.stringify(body)] as const);
    expect(shown.map(([isFine, text]) => [isFine, text.includes("4111"), text.includes('"amount":5')])).toEqual(
      shown.map(() => [true, false, true]),
    );
    expect(seen).toContainEqual({ taskId: "echo", field: "payload", scope: "read" });
    expect(seen).toContainEqual({ taskId: "echo", field: "returnValue", scope: "write" });
  });

  test.each<[string, () => unknown]>([
    ["a promise", async () => "secret"],
    ["a promise that is rejected", () => Promise.reject(new Error("secret"))],
    ["a cycle", circle],
    ["what fails on its way to JSON", () => ({ toJSON: circle().fail })],
  ])("redact that returns %s hides the value, and spoils neither a list nor the process", async (_, redact) => {
    const { ask, scheduler } = setUpRouter({ redact });
    scheduler.task("echo", () => {});
    await scheduler.addJob("echo", { payload: "secret" });
    const { status, body } = await ask("GET /jobs?include=payload");
    expect([status, (body as { items: { payload: unknown }[] }).items.map(({ payload }) => payload)]).toEqual([
      200,
      ["[redacted]"],
    ]);
  });

  test("redact that throws hides the whole value, and the log tells why", async () => {
    const failure = new Error("redact is broken");
    const { logger, entries } = recordingLogger();
    const { as } = setUpGuarded({
      logger,
      redact() {
        throw failure;
      },
    });
    const { body } = await as.writer("POST /jobs", { taskId: "echo", payload: { card: "4111" } });
    expect((body as { payload: unknown }).payload).toBe("[redacted]");
    expect(entries).toEqual([
      {
        level: "error",
        message: 'escapement: the function redact of the router failed for task "echo"',
        details: [failure],
      },
    ]);
  });
});

describe("API4, unrestricted resource consumption:", () => {
  const letters = (count: number): string => "x".repeat(count);

  test.each<[string, string, unknown, [number, string]]>([
    ["a body above 1.1 MB", "POST /jobs", { taskId: "echo", payload: letters(1_100_000) }, [413, "tooLarge"]],
    ["a payload above 1 MB", "POST /jobs", { taskId: "echo", payload: letters(1_000_001) }, [422, "serialization"]],
    ["a preview above 16 KB", "POST /triggers/preview", { trigger: { cron: letters(16_384) } }, [413, "tooLarge"]],
    ["a preview of 101", "POST /triggers/preview", { trigger: { cron: "* * * * *" }, limit: 101 }, [422, "options"]],
    ["a page of 1,001", "GET /jobs?limit=1001", undefined, [400, "options"]],
    ["a page of nothing", "GET /schedules?limit=0", undefined, [400, "options"]],
    ["a page of a negative size", "GET /results?limit=-1", undefined, [400, "options"]],
    ["1,001 occurrences", "GET /schedules/s/occurrences?limit=1001", undefined, [400, "options"]],
    ["1,001 changes", "GET /schedules/s/changes?limit=1001", undefined, [400, "options"]],
    ["a long list", `GET /schedules/s/occurrences?verdict=${"error,".repeat(500)}`, undefined, [400, "options"]],
    ["a long instant", `GET /schedules/s/explain?at=${letters(3000)}`, undefined, [400, "options"]],
    ["a long cursor", `GET /jobs?cursor=${letters(3000)}`, undefined, [400, "options"]],
    ["a long id", "POST /jobs", { taskId: letters(257) }, [422, "options"]],
    ["a wait of 31 seconds", "GET /jobs/x/result?wait=31", undefined, [400, "options"]],
    [
      "10,001 jobs",
      "POST /jobs/batch",
      { jobs: Array.from({ length: 10_001 }, () => ({ taskId: "echo" })) },
      [422, "options"],
    ],
    ["1,001 parents", "POST /jobs", { taskId: "echo", after: Array(1001).fill("x") }, [422, "options"]],
    ["a retention of centuries", "POST /jobs", { taskId: "echo", resultExpirationTime: "P2000Y" }, [422, "options"]],
  ])("%s is refused", async (_, route, body, expected) => {
    const { as } = setUpGuarded();
    expect(code(await as.writer(route, body))).toEqual(expected);
  });

  test("a body without a length is read no further than to the bound", async () => {
    const { router } = setUpGuarded();
    let bytesRead = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        bytesRead += 100_000;
        controller.enqueue(new Uint8Array(100_000).fill(32));
      },
    });
    const init = {
      method: "POST",
      body,
      duplex: "half",
      headers: { ...bearer(WRITE), "content-type": "application/json" },
    };
    const answer = await router.fetch(new Request("https://localhost/jobs", init as RequestInit));
    expect(answer.status).toBe(413);
    expect(bytesRead).toBeLessThan(2_000_000);
  });

  test("strangers who ask for readiness all the time cost one look at the store a second", async () => {
    const { as, scheduler, clock } = setUpGuarded();
    const looks = vi.spyOn(scheduler, "health");
    const ask = async (): Promise<number> => (await as.stranger("GET /health/ready")).status;
    const answers = [await ask(), await ask(), await ask()];
    await clock.advance("PT1S");
    answers.push(await ask());
    expect([answers, looks.mock.calls.length]).toEqual([[200, 200, 200, 200], 2]);
  });

  test("nested triggers are refused, however deep, before they cost anything", async () => {
    const { as } = setUpGuarded();
    let trigger: unknown = { type: "cron", minute: "*" };
    for (let depth = 0; depth < 500; depth++) trigger = { type: "or", triggers: [trigger] };
    const [status] = code(await as.writer("POST /triggers/preview", { trigger }));
    expect(status).toBe(422);
  });

  test("an unknown body costs a stranger nothing but a refusal", async () => {
    const { router } = setUpGuarded();
    let wasRead = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          wasRead = true;
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const { status } = await router.fetch(new Request("https://localhost/jobs", init));
    expect([status, wasRead]).toEqual([401, false]);
  });
});

describe("API4, many mistakes in one request:", () => {
  const long = "x".repeat(20_000);
  const names = (count: number, suffix = "") =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown${index}${suffix}`, 0]));

  test.each<[string, string, unknown]>([
    ["jobs with 14 misspelt fields each", "POST /jobs/batch", { jobs: Array(3000).fill(names(14)) }],
    ["jobs that are none", "POST /jobs/batch", { jobs: Array(300_000).fill(0) }],
    ["misspelt words", "POST /jobs/batch", { jobs: Array(9000).fill({ taskId: "echo", onParentFailure: "cancle" }) }],
    ["unknown names", "POST /jobs", names(50_000)],
    ["long names", "POST /jobs", names(50, long)],
    ["one long name", "POST /schedules", { taskId: "echo", trigger: { every: "1h", [long.repeat(50)]: 1 } }],
    ["words of a query", `GET /schedules/s/occurrences?verdict=${"a,".repeat(8000)}`, undefined],
    ["ids that are none", "POST /schedules/bulk", { action: "pause", ids: Array(10_000).fill("") }],
    [
      "control characters",
      "POST /jobs",
      Object.fromEntries(Array.from({ length: 60 }, (_, i) => ["\u0001".repeat(80 + i), i])),
    ],
    ["wrong items of a payload", "POST /jobs", { taskId: "strict", payload: Array(200_000).fill(0) }],
  ])("%s get at most 100 problems and 64 KB back", async (_, route, body) => {
    const { router, scheduler } = setUpGuarded();
    const issues = (value: unknown) =>
      (value as unknown[]).map((__, at) => ({ message: `${at} ${long}`, path: [long] }));
    const validate = (value: unknown) => ({ issues: issues(value) });
    scheduler.task("strict", { schema: { "~standard": { version: 1, vendor: "test", validate } } }, () => {});
    const [method = "", path = ""] = route.split(" ");
    const headers = { ...bearer(WRITE), "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await router.request(path, { method, headers, ...sent });
    expect([400, 422]).toContain(answer.status);
    const text = await answer.text();
    expect(new TextEncoder().encode(text).length).toBeLessThan(65_536);
    expect(JSON.parse(text).issues.length).toBeLessThanOrEqual(100);
  });

  test("cost no look at the rest of a list", () => {
    let looks = 0;
    const job = {
      get taskId() {
        looks++;
        return 5;
      },
    };
    v.safeParse(jobBatchBody(), { jobs: Array(10_000).fill(job) });
    expect(looks).toBeLessThanOrEqual(100);
    looks = 0;
    v.safeParse(jobBatchBody(), { jobs: Array(10_001).fill(job) });
    expect(looks).toBe(0);
  });
});

describe("API5, broken function level authorization:", () => {
  test.each(WRITES)("%s needs the scope write", async (route) => {
    const { as } = setUpGuarded();
    expect(code(await as.reader(route, {}))).toEqual([403, "forbidden"]);
  });

  test.each(READS)("%s does not", async (route) => {
    const { as } = setUpGuarded();
    expect([401, 403]).not.toContain((await as.reader(route)).status);
  });

  test("no header makes a write of a read", async () => {
    const { as, scheduler } = setUpGuarded();
    await scheduler.addSchedule("echo", "0 9 * * *", { id: "s" });
    for (const name of ["x-http-method-override", "x-http-method", "x-method-override"]) {
      await as.reader("GET /schedules/s?_method=DELETE", undefined, { [name]: "DELETE" });
      await as.writer("GET /schedules/s", undefined, { [name]: "DELETE" });
    }
    expect((await scheduler.getSchedule("s")).id).toBe("s");
  });

  test("another case or an end slash of a path leads around no check", async () => {
    const { as } = setUpGuarded();
    const paths = ["/JOBS", "/jobs/", "//jobs", "/./jobs", "/jobs;x", "/jobs%2F", "/%6Aobs"];
    const answers = await Promise.all(paths.map((path) => as.stranger(`POST ${path}`, { taskId: "echo" })));
    expect(answers.every(({ status }) => status === 401 || status === 404 || status === 405)).toBe(true);
  });
});

describe("API6, unrestricted access to sensitive business flows:", () => {
  test("a request that is sent ten times with its key adds one job", async () => {
    const { as, scheduler } = setUpGuarded();
    const send = () => as.writer("POST /jobs", { taskId: "echo" }, { "idempotency-key": "order 7" });
    const ids = new Set(
      (await Promise.all(Array.from({ length: 10 }, send))).map(({ body }) => (body as { id: string }).id),
    );
    expect([ids.size, (await scheduler.getJobs()).items.length]).toEqual([1, 1]);
  });

  test("nobody retries, cancels, purges or removes everything by leaving a filter out", async () => {
    const { as } = setUpGuarded();
    const answers = [
      await as.writer("POST /jobs/bulk", { action: "purge" }),
      await as.writer("POST /jobs/bulk", { action: "cancel", filter: {} }),
      await as.writer("POST /jobs/bulk", { action: "retry", filter: {} }),
      await as.writer("POST /schedules/bulk", { action: "remove" }),
    ];
    expect(answers.map(code)).toEqual(answers.map(() => [422, "options"]));
  });
});

describe("API7, server side request forgery:", () => {
  const addresses = [
    "http://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
    "data:text/javascript,globalThis.wasHit=true",
    "node:child_process",
    "../../package.json",
  ];

  test.each(addresses)("%s is text wherever it stands, and is not fetched, imported or run", async (address) => {
    const { as, scheduler } = setUpGuarded();
    const fetched = vi.spyOn(globalThis, "fetch");
    try {
      const answers = [
        await as.writer("POST /jobs", { taskId: address }),
        await as.writer("POST /jobs", { taskId: "echo", executor: address, payload: { url: address } }),
        await as.writer("POST /jobs", { taskId: "echo", payload: { url: address }, metadata: { callback: address } }),
        await as.writer("POST /schedules", { taskId: "echo", trigger: { type: address } }),
        await as.writer("POST /triggers/preview", { trigger: { cron: "0 9 * * *", timeZone: address } }),
      ];
      await runDue(scheduler);
      expect(answers.map(({ status }) => status)).toEqual([404, 202, 202, 422, 422]);
      expect(fetched).not.toHaveBeenCalled();
      expect("wasHit" in globalThis).toBe(false);
    } finally {
      fetched.mockRestore();
    }
  });
});

describe("API8, security misconfiguration:", () => {
  const HEADERS = ["x-content-type-options", "content-security-policy", "cache-control", "access-control-allow-origin"];
  const shownHeaders = ({ headers }: Answer) => HEADERS.map((name) => headers.get(name));

  test.each(["GET /schedules", "GET /nothing", "PUT /jobs", "POST /session", "GET /health/live"])(
    "the answer to %s has the headers of security, and lets no other origin read it",
    async (route) => {
      const { as } = setUpGuarded();
      const answers = [await as.writer(route, undefined, { origin: "https://evil.example" }), await as.stranger(route)];
      expect(answers.map(shownHeaders)).toEqual(
        answers.map(() => ["nosniff", expect.stringContaining("default-src 'none'"), "no-store", null]),
      );
    },
  );

  test("bodies are JSON and nothing else", async () => {
    const { as } = setUpGuarded();
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/json",
      "",
    ];
    const answers = await Promise.all(
      types.map((type) => as.writer("POST /jobs", { taskId: "echo" }, { "content-type": type })),
    );
    expect(answers.map(code)).toEqual(types.map(() => [415, "unsupportedMediaType"]));
  });

  test("a failure of the program is a code in the answer, and an error in the log", async () => {
    const failure = new Error("connect ECONNREFUSED 10.0.0.7:5432 with password hunter2");
    const { logger, entries } = recordingLogger();
    const { scheduler } = setUpRouter();
    scheduler.getTasks = () => Promise.reject(failure);
    const router = createRouter(scheduler, { auth: "none", logger });
    const answer = await router.request("/tasks");
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { type: "about:blank", title: "Internal Server Error", status: 500, code: "internal" },
    ]);
    expect(entries.flatMap(({ level, details }) => (level === "error" ? details : []))).toEqual([failure]);
  });

  test("a store that cannot be reached says nothing of its address or its statements", async () => {
    class Unreachable extends MemoryDataStore {
      override getTasks(): never {
        throw new StoreUnavailableError("getTasks", {
          cause: new Error("SELECT * FROM tasks at libsql://secret-host.example"),
        });
      }
    }
    const { as } = { as: setUpGuardedOver(new Unreachable()) };
    const { status, body } = await as("GET /tasks");
    expect([status, JSON.stringify(body).match(/SELECT|secret-host|libsql/)]).toEqual([503, null]);
  });
});

/** A router over a store, as its writer sees it. */
function setUpGuardedOver(dataStore: MemoryDataStore): As {
  const { ask } = setUpRouter({ auth: { tokens: GRANTS } }, { dataStore });
  return (route, body, headers) => ask(route, body, { ...bearer(WRITE), ...headers });
}

describe("API9, improper inventory management:", () => {
  test.each(["/debug", "/admin", "/v1/jobs", "/api/jobs", "/.env", "/metrics.json", "/jobs/x/payload", "/__proto__"])(
    "%s leads nowhere",
    async (path) => {
      const { as } = setUpGuarded();
      expect(code(await as.writer(`GET ${path}`))).toEqual([404, "notFound"]);
    },
  );

  test("HEAD is answered as GET is, without a body", async () => {
    const { as } = setUpGuarded();
    const answers = [await as.reader("GET /results?from=x"), await as.reader("HEAD /results?from=x")];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  });

  test("a method that a path does not have is refused with those that it has", async () => {
    const { as } = setUpGuarded();
    const { status, headers } = await as.writer("PUT /jobs");
    expect([status, headers.get("allow")]).toEqual([405, "GET, POST"]);
  });
});

describe("API10, unsafe consumption of APIs:", () => {
  test("what handlers and payloads hold is data in an answer, whatever it looks like", async () => {
    const { as, scheduler } = setUpGuarded();
    const payload = JSON.parse('{"__proto__":{"isAdmin":true},"html":"<script>alert(1)</script>","toJSON":"x"}');
    const { body } = await as.writer("POST /jobs", { taskId: "echo", payload });
    await runDue(scheduler);
    const { body: result, headers } = await as.reader(`GET /jobs/${(body as { id: string }).id}/result`);
    expect(result).toMatchObject({ outcome: "success", returnValue: { html: "<script>alert(1)</script>" } });
    expect([headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
      "application/json",
      "nosniff",
    ]);
    expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
  });

  test("a function auth that answers with anything else than a scope lets nobody in", async () => {
    for (const answer of [true, 1, "admin", {}, "", undefined]) {
      const { ask } = setUpRouter({ auth: (() => answer) as never });
      expect((await ask("GET /tasks")).status).toBe(401);
    }
  });
});

/** An object that holds itself, and a function that throws. */
function circle(): { own: unknown; fail: () => never } {
  const fail = (): never => {
    throw new Error("secret");
  };
  const value: { own: unknown; fail: () => never } = { own: null, fail };
  value.own = value;
  return value;
}
