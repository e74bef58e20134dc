import { describe, expect, onTestFinished, test } from "vitest";
import { connect, RemoteError } from "../../src/client/mod.ts";
import {
  ConflictingIdError,
  CronSyntaxError,
  DeserializationError,
  JobLookupError,
  OptionsError,
  PayloadError,
  ScheduleLookupError,
  SchedulerStateError,
  StoreRefusedError,
  StoreUnavailableError,
  TaskLookupError,
} from "../../src/mod.ts";
import { setUpRouter } from "../hono/support.ts";
import { rejectionOf, START_MS } from "../scheduler/support.ts";
import { json, setUpClient, URL_OF_ROUTER } from "./support.ts";

const EMPTY = { items: [], cursor: null };

/** Answers with failures first, and then with an empty page. */
function failingTimes(times: number, failure: () => Response) {
  return (_: unknown, count: number): Response => (count < times ? failure() : json(EMPTY));
}

function problem(status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Response {
  return json({ type: "about:blank", title: "T", status, code, ...more }, status, headers);
}

/** A client of a router that takes jobs, and answers to waits as a function says. */
function setUpLostWait(answer: () => Response) {
  const all = setUpRouter();
  const fetch = async (request: Request): Promise<Response> =>
    request.url.includes("/result") ? answer() : all.router.fetch(request);
  const client = connect({ url: "http://scheduler.test", fetch, clock: all.clock });
  onTestFinished(() => client.close());
  const jobId = async (): Promise<string | undefined> => (await all.scheduler.getJobs()).items[0]?.id;
  return { ...all, client, jobId };
}

describe("a request", () => {
  test("carries the token and further headers, below the address of the router", async () => {
    const { client, seen } = setUpClient(() => json(EMPTY), { token: " secret\n", headers: { "x-proxy": "1" } });
    await client.getJobs({ taskId: "a/b", limit: 5 });
    expect(seen.map(({ route, body }) => ({ route, body }))).toEqual([
      { route: "GET /jobs?include=payload%2Cresult&taskId=a%2Fb&limit=5", body: null },
    ]);
    const [request] = seen;
    expect(request?.headers.get("authorization")).toBe("Bearer secret");
    expect(request?.headers.get("x-proxy")).toBe("1");
  });

  test("asks for the token each time, where a function tells it", async () => {
    let count = 0;
    const { client, seen } = setUpClient(() => json(EMPTY), { token: async () => `token-${++count}` });
    await client.getJobs();
    await client.getJobs();
    expect(seen.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer token-1", "Bearer token-2"]);
  });

  test("that has no token, because the function tells none, is not made, and no error shows what it told", async () => {
    const { client, seen } = setUpClient(() => json(EMPTY), { token: () => "secret\nsecret" });
    const error = (await rejectionOf(client.getJobs())) as OptionsError;
    expect(error).toBeInstanceOf(OptionsError);
    expect(error.message).not.toContain("secret");
    expect(seen).toEqual([]);
  });

  test("is made again when the function fails to tell the token", async () => {
    let count = 0;
    const token = (): string => {
      count++;
      if (count < 3) throw new Error("no vault");
      return "told";
    };
    const { client, clock, seen } = setUpClient(() => json(EMPTY), { token });
    await Promise.all([client.getJobs(), clock.advance("PT10S")]);
    expect(seen.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer told"]);
  });

  test("may take longer than a timer of a host can count", async () => {
    const { client } = setUpClient(() => json(EMPTY), { timeout: "36500d" });
    expect(await client.getJobs()).toEqual(EMPTY);
  });

  test("names ids with any characters in its path", async () => {
    const { client, seen } = setUpClient(() => new Response(null, { status: 204 }));
    await client.removeSchedule("a/b.c %?#é/..");
    expect(seen[0]?.route).toBe("DELETE /schedules/a%2Fb.c%20%25%3F%23%C3%A9%2F..");
  });

  test.each([".", ".."])("about the id %j is refused, because no URL can name it", async (id) => {
    const { client, seen } = setUpClient(() => json(EMPTY));
    expect(await rejectionOf(client.removeSchedule(id))).toBeInstanceOf(OptionsError);
    expect(seen).toEqual([]);
  });
});

describe("a call whose request fails for a reason that passes", () => {
  test.each([429, 502, 503, 504])("is made again after the status %i", async (status) => {
    const { client, clock, seen } = setUpClient(failingTimes(2, () => new Response("busy", { status })));
    const page = client.getJobs();
    const waiting = Promise.all([page, clock.advance("PT10S")]);
    expect((await waiting)[0]).toEqual(EMPTY);
    expect(seen).toHaveLength(3);
  });

  test("is made again when the router cannot be reached", async () => {
    const { client, clock } = setUpClient((_, count) => {
      if (count === 0) throw new TypeError("fetch failed");
      return json(EMPTY);
    });
    const [page] = await Promise.all([client.getJobs(), clock.advance("PT10S")]);
    expect(page).toEqual(EMPTY);
  });

  test("is made again when the answer was cut off by a connection that does not say so", async () => {
    const cut = (): Response => new Response('{"items": [', { headers: { "content-type": "application/json" } });
    const { client, clock, seen } = setUpClient(failingTimes(1, cut));
    const [page] = await Promise.all([client.getJobs(), clock.advance("PT10S")]);
    expect([page, seen.length]).toEqual([EMPTY, 2]);
  });

  test("fails after twelve attempts, with what went wrong", async () => {
    const { client, clock, seen } = setUpClient(() => {
      throw new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") });
    });
    const [error] = await Promise.all([rejectionOf(client.getTasks()), clock.advance("PT1M")]);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as Error).message).toBe(`${URL_OF_ROUTER} cannot be reached: ECONNREFUSED`);
    expect(seen).toHaveLength(12);
  });

  test("rides out a restart of the router", async () => {
    const { client, clock } = setUpClient(() => {
      if (clock.now() < START_MS + 15_000) throw new TypeError("fetch failed");
      return json(EMPTY);
    });
    const [page] = await Promise.all([client.getJobs(), clock.advance("PT1M")]);
    expect(page).toEqual(EMPTY);
  });

  test("waits as long as the answer asks for", async () => {
    const { client, clock, seen } = setUpClient(
      failingTimes(1, () => problem(503, "storeUnavailable", {}, { "retry-after": "20" })),
    );
    const page = Promise.resolve(client.getJobs());
    await clock.advance("PT19S");
    expect(seen).toHaveLength(1);
    await clock.advance("PT1S");
    expect(await page).toEqual(EMPTY);
  });

  test("fails at once when the answer asks for a longer wait than a minute", async () => {
    const { client, seen } = setUpClient(() => problem(503, "storeUnavailable", {}, { "retry-after": "61" }));
    expect(await rejectionOf(Promise.resolve(client.getJobs()))).toBeInstanceOf(StoreUnavailableError);
    expect(seen).toHaveLength(1);
  });

  test("is made as often as the caller says", async () => {
    const { client, seen } = setUpClient(() => problem(503, "storeUnavailable"), { retry: { maxAttempts: 1 } });
    expect(await rejectionOf(client.getTasks())).toBeInstanceOf(StoreUnavailableError);
    expect(seen).toHaveLength(1);
  });

  test("ends with the client during its pause", async () => {
    const { client, clock } = setUpClient(() => problem(503, "storeUnavailable"));
    const failure = rejectionOf(client.getTasks());
    await clock.advance("PT0S");
    await client.close();
    expect(await failure).toBeInstanceOf(SchedulerStateError);
  });
});

describe("a write is repeated without doing anything twice:", () => {
  test("a job has a key of the client's, which is the same in each request", async () => {
    const { client, clock, seen } = setUpClient(() => problem(503, "storeUnavailable"), { retry: { maxAttempts: 2 } });
    await Promise.all([rejectionOf(client.addJob("mail", { payload: 1 })), clock.advance("PT10S")]);
    expect(seen.map(({ body }) => body)).toEqual([seen[0]?.body, seen[0]?.body]);
    expect(seen[0]?.body).toEqual({
      ...{ taskId: "mail", payload: 1, priority: 0, uniqueFor: "PT10M" },
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("an extra run of a schedule has a key of the client's, too, unless the caller gives one", async () => {
    const { client, clock, seen } = setUpClient(() => problem(503, "storeUnavailable"), { retry: { maxAttempts: 2 } });
    await Promise.all([rejectionOf(client.runScheduleNow("s")), clock.advance("PT10S")]);
    await Promise.all([rejectionOf(client.runScheduleNow("s", { idempotencyKey: "ü" })), clock.advance("PT10S")]);
    const own = { idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/), uniqueFor: "PT10M" };
    expect(seen.map(({ body }) => body)).toEqual([own, own, { idempotencyKey: "ü" }, { idempotencyKey: "ü" }]);
    expect(seen[1]?.body).toEqual(seen[0]?.body);
  });

  test.each([
    ["P1D", 5, "PT120H5M"],
    ["PT30S", 100, "PT2H30M"],
    ["P36500D", 1_000_000, "PT8766000H"],
  ])(
    "a job's key is kept for as long as requests of %s are made up to %i times",
    async (timeout, maxAttempts, kept) => {
      const { client, seen } = setUpClient(() => problem(409, "schedulerState"), { timeout, retry: { maxAttempts } });
      await rejectionOf(client.addJob("mail"));
      expect(seen.map(({ body }) => (body as { uniqueFor: string }).uniqueFor)).toEqual([kept]);
    },
  );

  test.each([
    ["an idempotency key", { idempotencyKey: "k" }],
    ["a debounce", { debounce: { key: "k", wait: "PT5S" } }],
    ["a throttle", { throttle: { key: "k", per: "PT5S" } }],
  ])("a job with %s of the caller's is left as it is", async (_, options) => {
    const { client, seen } = setUpClient(() => problem(409, "schedulerState"));
    await rejectionOf(client.addJob("mail", options));
    expect(seen.map(({ body }) => body)).toEqual([{ taskId: "mail", priority: 0, ...options }]);
  });

  test("a schedule has an id of the client's", async () => {
    const { client, seen } = setUpClient(() => problem(409, "schedulerState"));
    await rejectionOf(client.addSchedule("mail", "0 9 * * *"));
    expect(seen[0]?.body).toEqual({
      ...{ taskId: "mail", trigger: { cron: "0 9 * * *" }, conflictPolicy: "update" },
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test.each([
    [
      "a schedule whose id may exist",
      (c: Client) => c.addSchedule("t", "0 9 * * *", { id: "s", conflictPolicy: "error" }),
    ],
    ["a next fire time", (c: Client) => c.updateSchedule("s", { nextFireTime: "2030-01-01T00:00:00Z" })],
    ["a retry of many jobs", (c: Client) => c.retryJobs({ all: true })],
  ])("%s is written once, because nobody could tell what became of it", async (_, write) => {
    const { client, seen } = setUpClient(() => problem(503, "storeUnavailable"));
    expect(await rejectionOf(write(client))).toBeInstanceOf(StoreUnavailableError);
    expect(seen).toHaveLength(1);
  });

  test("a removal whose answer was lost has removed what is then missing", async () => {
    const { client, clock } = setUpClient((_, count) =>
      count === 0 ? problem(503, "storeUnavailable") : problem(404, "scheduleLookup"),
    );
    await Promise.all([client.removeSchedule("s"), clock.advance("PT10S")]);
    expect(await rejectionOf(client.removeSchedule("s"))).toBeInstanceOf(ScheduleLookupError);
  });

  test("a job whose cancellation was answered to nobody counts as cancelled, unless it ended otherwise", async () => {
    const { scheduler, ask, router, clock } = setUpRouter();
    scheduler.task("mail", () => {});
    let lost: "request" | "answer" | "nothing" = "nothing";
    const fetch = async (request: Request): Promise<Response> => {
      const isLost = lost;
      lost = "nothing";
      if (isLost === "request") await scheduler.tick();
      const answer = isLost === "request" ? null : await router.fetch(request);
      if (answer === null || isLost === "answer") throw new TypeError("connection reset");
      return answer;
    };
    const { client } = setUpClient(() => json(EMPTY), { url: "http://scheduler.test", fetch, clock });
    const cancelledWith = async (given: typeof lost): Promise<unknown> => {
      const { id } = await client.addJob("mail");
      lost = given;
      const [cancellation] = await Promise.all([client.cancelJob(id), clock.advance("PT10S")]);
      return [cancellation, (await ask(`GET /jobs/${id}/result`)).body];
    };
    expect(await cancelledWith("answer")).toEqual(["delivered", expect.objectContaining({ outcome: "cancelled" })]);
    expect(await cancelledWith("request")).toEqual(["tooLate", expect.objectContaining({ outcome: "success" })]);
    expect(await client.cancelJob("no job")).toBe("tooLate");
  });
});

type Client = ReturnType<typeof connect>;

describe("an error of the scheduler is rebuilt", () => {
  const id = "the id";
  const issues = [{ path: "priority", message: "must be a whole number" }];
  const syntax = { field: "hour", element: "25", position: 2, suggestion: null };
  test.each([
    [404, "scheduleLookup", { id }, ScheduleLookupError, { id }],
    [404, "taskLookup", { id }, TaskLookupError, { id }],
    [404, "jobLookup", { id }, JobLookupError, { id }],
    [404, "scheduleLookup", {}, ScheduleLookupError, { id: "s" }],
    [409, "conflictingId", { id }, ConflictingIdError, { id }],
    [409, "schedulerState", {}, SchedulerStateError, {}],
    [422, "options", { issues }, OptionsError, { issues }],
    [400, "badRequest", { issues }, OptionsError, { issues }],
    [422, "payload", { issues }, PayloadError, { issues }],
    [422, "cronSyntax", syntax, CronSyntaxError, syntax],
    [422, "storeRefused", {}, StoreRefusedError, {}],
    [422, "deserialization", {}, DeserializationError, {}],
  ] as const)("from %i %s", async (status, code, more, ErrorClass, facts) => {
    const { client } = setUpClient(() => problem(status, code, { detail: "what happened", ...more }));
    const error = await rejectionOf(client.getSchedule("s"));
    expect(error).toBeInstanceOf(ErrorClass);
    expect({ ...(error as object) }).toMatchObject({ ...facts });
    expect((error as Error).message).toBe("what happened");
  });
});

describe("an answer of a router that refuses the client is a RemoteError", () => {
  test.each([
    [401, "unauthorized", "; pass connect({ token }), a token that the router knows"],
    [403, "forbidden", "; its token may not do this"],
    [404, "notFound", "; is url the address that the router is mounted at?"],
    [413, "tooLarge", ""],
    [500, "internal", ""],
  ])("%i %s", async (status, code, advice) => {
    const { client } = setUpClient(() => problem(status, code, { detail: "no" }));
    const error = await rejectionOf(client.getSchedule("s"));
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ name: "RemoteError", code, status });
    expect((error as Error).message).toBe(`GET /schedules/s was answered with status ${status}: no${advice}`);
  });

  test.each([
    [401, "unauthorized"],
    [302, "redirected"],
    [418, "refused"],
    [500, "internal"],
  ])("also without a problem: %i stands for %s", async (status, code) => {
    const { client } = setUpClient(() => new Response("<html>proxy</html>", { status }));
    expect(await rejectionOf(client.getSchedule("s"))).toMatchObject({ name: "RemoteError", code, status });
  });
});

describe("an answer that no router sends", () => {
  test.each([
    ["is not JSON", () => new Response("<html>"), "the answer to GET /schedules is not JSON"],
    [
      "lacks a field",
      () => json({ cursor: null }),
      "the answer to GET /schedules is not what a router of this version sends",
    ],
    ["has a wrong field", () => json({ items: [{ id: 5 }], cursor: null }), "items.0.id"],
  ])("rejects with a DeserializationError when it %s", async (_, answer, text) => {
    const { client } = setUpClient(answer);
    const error = await rejectionOf(Promise.resolve(client.getSchedules()));
    expect(error).toBeInstanceOf(DeserializationError);
    expect((error as Error).message).toContain(text);
  });
});

describe("a wait for the end of a job", () => {
  test.each([
    ["as the options say", {}],
    ["at once", { retry: { maxAttempts: 1, backoff: { initial: "0s", max: "0s" } } }],
  ] as const)(
    "rides out ten minutes of outage when requests are repeated %s, and the log tells once",
    async (_, options) => {
      const { client, clock, log } = setUpClient(() => {
        if (clock.now() < START_MS + 600_000) throw new TypeError("fetch failed");
        return problem(404, "jobLookup", { id: "j" });
      }, options);
      const [error] = await Promise.all([
        rejectionOf(client.getJobResult("j", { wait: true })),
        clock.advance("PT20M"),
      ]);
      expect(error).toBeInstanceOf(JobLookupError);
      expect(log.map(({ level, message }) => [level, message])).toEqual([
        ["warn", "escapement: GET /jobs/j/result fails, and is made again until it is answered"],
      ]);
    },
  );

  test("asks again after a minute, when it is to wait longer", async () => {
    const { client, clock, seen } = setUpClient((_, count) =>
      count === 0 ? problem(503, "storeUnavailable", {}, { "retry-after": "7200" }) : problem(404, "jobLookup"),
    );
    const wait = rejectionOf(client.getJobResult("j", { wait: true }));
    await clock.advance("PT59S");
    expect(seen).toHaveLength(1);
    await clock.advance("PT1S");
    expect(await wait).toBeInstanceOf(JobLookupError);
  });

  test("ends with its signal during an outage", async () => {
    const { client, clock } = setUpClient(() => problem(503, "storeUnavailable"));
    const controller = new AbortController();
    const wait = rejectionOf(client.getJobResult("j", { wait: true, signal: controller.signal }));
    await clock.advance("PT10M");
    controller.abort("enough");
    expect(await wait).toBe("enough");
  });
});

describe("runJob, when it cannot wait for the job that it added,", () => {
  test("names the job in the error of the router", async () => {
    const { client, scheduler, jobId } = setUpLostWait(() => problem(401, "unauthorized"));
    scheduler.task("t", () => {});
    const error = await rejectionOf(client.runJob("t"));
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: "unauthorized", jobId: await jobId() });
  });

  test("names the job in the error of a client that is closed", async () => {
    const { client, scheduler, jobId } = setUpLostWait(() => {
      void client.close();
      return problem(503, "storeUnavailable");
    });
    scheduler.task("t", () => {});
    const error = await rejectionOf(client.runJob("t"));
    expect(error).toBeInstanceOf(SchedulerStateError);
    expect(error).toMatchObject({ jobId: await jobId() });
  });
});

describe("a signal", () => {
  test("ends a wait for a result, with its reason", async () => {
    const { client } = setUpClient(() => new Promise<Response>(() => {}));
    const controller = new AbortController();
    const wait = rejectionOf(client.getJobResult("j", { wait: true, signal: controller.signal }));
    controller.abort("enough");
    expect(await wait).toBe("enough");
  });

  test("that is aborted already sends nothing", async () => {
    const { client, seen } = setUpClient(() => json(EMPTY));
    const signal = AbortSignal.abort("no");
    expect(await rejectionOf(client.runJob("t", { signal }))).toBe("no");
    expect(await rejectionOf(client.cancelJobs({ all: true, signal }))).toBe("no");
    expect(seen).toEqual([]);
  });
});

test("a request that takes too long fails", async () => {
  const options = { timeout: "20ms", retry: { maxAttempts: 1 } };
  const { client } = setUpClient(() => new Promise<Response>(() => {}), options);
  const error = await rejectionOf(client.getTasks());
  expect(error).toBeInstanceOf(StoreUnavailableError);
  expect((error as Error).message).toBe(`${URL_OF_ROUTER} has not answered within 20 ms`);
});

test("a closed client refuses calls, and may be closed again", async () => {
  const { client, seen } = setUpClient(() => json(EMPTY));
  await client.close();
  await client[Symbol.asyncDispose]();
  expect(await rejectionOf(client.getTasks())).toBeInstanceOf(SchedulerStateError);
  expect(() => client.subscribe(null, () => {})).toThrow(SchedulerStateError);
  expect(seen).toEqual([]);
});

test("the health of a router that is away is told after few attempts", async () => {
  const { client, clock, seen } = setUpClient(() => problem(503, "storeUnavailable"));
  const [health] = await Promise.all([client.health(), clock.advance("PT1M")]);
  expect([health.isStoreReached, seen.length]).toEqual([false, 5]);
});

test("the health says why a router is not reached, and never rejects", async () => {
  const { client } = setUpClient(() => problem(401, "unauthorized", { detail: "no" }));
  expect((await client.health()).toJSON()).toMatchObject({
    ...{ identity: URL_OF_ROUTER, isStoreReached: false, checkedAt: "2030-01-01T00:00:00Z" },
    storeError: { name: "RemoteError", code: "unauthorized" },
  });
});

describe("connect() refuses", () => {
  test.each([
    [{}, "connect(): url is missing"],
    [{ url: "example.org" }, 'without a query; got "example.org": write "https://example.org"'],
    [{ url: "https://user:secret@example.org" }, "pass the token as { token }, in place of a user and a password"],
    [{ url: "file:jobs.db" }, "a store is opened by a Scheduler; connect() reaches a router"],
    [{ url: "https://example.org", token: "" }, "connect(): token must be text that a header can carry"],
    [{ url: "https://example.org", headers: { "x y": "1" } }, "connect(): headers must be an object of headers"],
    [{ url: "https://example.org", headers: { x: "é" } }, "connect(): headers must be an object of headers"],
    [{ url: "https://example.org", authToken: "x" }, 'connect(): authToken is no option; did you mean "token"?'],
    [
      "https://example.org",
      'connect() takes { url, token }; got "https://example.org": write { url: "https://example.org" }',
    ],
  ])("%j", (options, message) => {
    expect(() => connect(options as never)).toThrow(OptionsError);
    expect(() => connect(options as never)).toThrow(message);
  });
});
