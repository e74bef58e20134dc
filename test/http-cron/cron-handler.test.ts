import { describe, expect, test } from "vitest";
import { createCronHandler } from "../../src/http-cron/mod.ts";
import { Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { at, recordingLogger, setUp } from "../scheduler/support.ts";

const URL = "https://example.org/api/cron";

function request(authorization: string | null, method = "GET"): Request {
  return new Request(URL, { method, headers: authorization === null ? {} : { authorization } });
}

/** What an answer says, as one value. */
async function read(answer: Response): Promise<object> {
  const { status, headers } = answer;
  const shown = ["allow", "cache-control", "content-type", "www-authenticate"].map((name) => [name, headers.get(name)]);
  return { status, ...Object.fromEntries(shown.filter(([, value]) => value !== null)), body: await answer.json() };
}

const problem = (status: number, title: string, code: string): object => ({
  status,
  "cache-control": "no-store",
  "content-type": "application/problem+json",
  body: { type: "about:blank", title, status, code },
});
const UNAUTHORIZED = {
  ...problem(401, "Unauthorized", "unauthorized"),
  "www-authenticate": 'Bearer realm="escapement"',
};

describe("a request with the secret", () => {
  test.each(["GET", "POST"])("by %s does a tick, and is told what it did and when to call again", async (method) => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    await scheduler.addJob("t", { runAt: at(90) });
    const handler = createCronHandler({ scheduler, secret: "s3cret" });
    expect(await read(await handler(request("Bearer s3cret", method)))).toEqual({
      status: 200,
      "cache-control": "no-store",
      "content-type": "application/json",
      body: {
        schedulesProcessed: 0,
        jobsAdded: 0,
        jobsRun: 1,
        outcomes: expect.objectContaining({ success: 1, error: 0 }),
        nextWakeAt: "2030-01-01T00:01:30.000Z",
        exhausted: false,
        roundTrips: 0,
      },
    });
  });

  test("is told null when nothing is planned, and when a bound of the tick left something", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", { maxRunningJobs: 1 }, () => {});
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    const handler = createCronHandler({ scheduler, secret: "s", tick: { maxJobs: 1 } });
    const first = await (await handler(request("Bearer s"))).json();
    await handler(request("Bearer s"));
    const last = await (await handler(request("Bearer s"))).json();
    expect([first, last]).toMatchObject([
      { jobsRun: 1, exhausted: true },
      { jobsRun: 0, exhausted: false, nextWakeAt: null },
    ]);
  });

  test.each([
    ["any of a list", ["new", "old"], "Bearer old"],
    ["another case of the scheme", "s", "bearer s"],
    ["a secret read from a file, with its line break", "s\n", "Bearer s"],
  ])("is let in with %s", async (_, secret, authorization) => {
    const handler = createCronHandler({ scheduler: setUp().scheduler, secret });
    expect((await handler(request(authorization))).status).toBe(200);
  });

  test("is let in with what a function gives at that time", async () => {
    let secret: string | undefined;
    const { entries, logger } = recordingLogger();
    const handler = createCronHandler({ scheduler: setUp().scheduler, secret: () => secret, logger });
    expect(await read(await handler(request("Bearer s")))).toEqual(problem(500, "Internal Server Error", "options"));
    expect(String(entries[0]?.details)).toContain("is the environment variable set?");
    secret = "s";
    const statuses = [await handler(request("Bearer s")), await handler(request("Bearer t"))].map(
      ({ status }) => status,
    );
    expect(statuses).toEqual([200, 401]);
  });

  test("needs none where the program says that everybody may call", async () => {
    const handler = createCronHandler({ scheduler: setUp().scheduler, secret: null });
    expect((await handler(request(null))).status).toBe(200);
  });
});

describe("a request that is refused does no tick:", () => {
  test.each([
    ["no header", null],
    ["another scheme", "Basic s3cret"],
    ["an empty token", "Bearer "],
    ["a wrong secret", "Bearer s3crets"],
    ["the beginning of the secret", "Bearer s3cre"],
    ["the secret twice", "Bearer s3cret s3cret"],
    ["a list of secrets", "Bearer s3cret,other"],
  ])("%s", async (_, authorization) => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    const handler = createCronHandler({ scheduler, secret: ["s3cret", "other"] });
    expect(await read(await handler(request(authorization)))).toEqual(UNAUTHORIZED);
    expect((await scheduler.getJobs()).items).toHaveLength(1);
  });

  test.each(["PUT", "DELETE", "HEAD", "OPTIONS"])("the method %s, with or without the secret", async (method) => {
    const handler = createCronHandler({ scheduler: setUp().scheduler, secret: "s" });
    const answers = [await handler(request("Bearer s", method)), await handler(request(null, method))];
    const refusal = { ...problem(405, "Method Not Allowed", "methodNotAllowed"), allow: "GET, POST" };
    expect(await Promise.all(answers.map(read))).toEqual([refusal, refusal]);
  });
});

describe("a tick that fails", () => {
  test("is a 500 that says nothing of the store, and a line of the log that does", async () => {
    const { scheduler, store } = setUp();
    const outage = new StoreUnavailableError("http://10.0.0.7:8080 does not answer");
    store.look = () => Promise.reject(outage);
    const { logger, entries } = recordingLogger();
    const handler = createCronHandler({ scheduler, secret: "s", logger });
    expect(await read(await handler(request("Bearer s")))).toEqual(
      problem(500, "Internal Server Error", "storeUnavailable"),
    );
    expect(entries).toEqual([
      { level: "error", message: "escapement: the tick that an HTTP request asked for failed", details: [outage] },
    ]);
  });

  test("does not keep the next request from its own", async () => {
    const { scheduler, store } = setUp();
    const look = store.look.bind(store);
    store.look = () => Promise.reject(new Error("once"));
    const handler = createCronHandler({ scheduler, secret: "s", logger: recordingLogger().logger });
    const failed = await read(await handler(request("Bearer s")));
    store.look = look;
    expect(failed).toEqual(problem(500, "Internal Server Error", "internal"));
    expect((await handler(request("Bearer s"))).status).toBe(200);
  });

  test("is a 409 when the scheduler was started", async () => {
    const { scheduler } = setUp();
    await scheduler.start();
    const handler = createCronHandler({ scheduler, secret: "s", logger: recordingLogger().logger });
    expect(await read(await handler(request("Bearer s")))).toEqual(problem(409, "Conflict", "schedulerState"));
  });

  test("is a 500 when no scheduler could be made", async () => {
    const { logger, entries } = recordingLogger();
    const scheduler = (): Scheduler => undefined as unknown as Scheduler;
    const handler = createCronHandler({ scheduler, secret: "s", logger });
    expect(await read(await handler(request("Bearer s")))).toEqual(problem(500, "Internal Server Error", "options"));
    expect(String(entries[0]?.details)).toBe(
      "OptionsError: createCronHandler(): scheduler must be a function that returns a Scheduler; it returned undefined",
    );
  });
});

describe("requests that overlap", () => {
  test("run each job once, and all find what was added before them", async () => {
    const { scheduler } = setUp();
    let runs = 0;
    scheduler.task("t", async () => {
      runs++;
      await gate.promise;
    });
    const gate = deferred();
    await scheduler.addJob("t");
    const handler = createCronHandler({ scheduler, secret: "s" });
    const first = handler(request("Bearer s"));
    await scheduler.nextEvent("jobAcquired");
    await scheduler.addJob("t");
    const others = [handler(request("Bearer s")), handler(request("Bearer s"))];
    gate.resolve();
    const answers = await Promise.all([first, ...others]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([runs, (await scheduler.getJobs()).items]).toEqual([2, []]);
  });

  test("have schedulers of their own where a function makes them", async () => {
    const { scheduler, store, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addJobs(Array.from({ length: 10 }, () => ({ task: "t" })));
    let runs = 0;
    const make = async (): Promise<Scheduler> => {
      const own = new Scheduler({ dataStore: store, clock, logLevel: "silent" });
      own.task("t", () => {
        runs++;
      });
      return own;
    };
    const handler = createCronHandler({ scheduler: make, secret: "s" });
    const answers = await Promise.all(Array.from({ length: 3 }, () => handler(request("Bearer s"))));
    expect([answers.map(({ status }) => status), runs]).toEqual([[200, 200, 200], 10]);
  });
});

test("what is no Request, as a context of Hono's, is answered by 500, and the log says what to pass", async () => {
  const { scheduler } = setUp();
  const { logger, entries } = recordingLogger();
  const handler = createCronHandler({ scheduler, secret: "s3cret", logger });
  const context = { req: { raw: request("Bearer s3cret") } } as unknown as Request;
  expect(await read(await handler(context))).toEqual(problem(500, "Internal Server Error", "options"));
  const told = entries.map(({ level, message }) => `${level}: ${message}`).join();
  expect(told).toContain("error: escapement: the handler of createCronHandler() takes a Request; got ");
  expect(told).toContain("pass c.req.raw of Hono");
});

describe("wrong options are refused:", () => {
  const scheduler = new Scheduler();
  const MISSING = "is the environment variable set? A function without a public address may have secret: null";
  const MUST =
    "createCronHandler(): secret must be text without spaces, a list of such texts, null, or a function that gives " +
    "one; got";
  const OTHERS = "a header carries nothing but visible characters of ASCII";
  test.each([
    [{ scheduler, secret: undefined }, `${MUST} undefined: ${MISSING}`],
    [{ scheduler, secret: "" }, `${MUST} "": ${MISSING}`],
    [{ scheduler, secret: [] }, `${MUST} a value that is not shown: ${MISSING}`],
    [{ scheduler, secret: "two words" }, `${MUST} text that is not shown: ${OTHERS}`],
    [{ scheduler, secret: ["fine", ""] }, `${MUST} a value that is not shown: ${OTHERS}`],
    [{ scheduler: "s", secret: "s" }, "scheduler must be a Scheduler, or a function that makes one; got"],
    [{ scheduler, secret: "s", tick: { maxJobs: 0 } }, "tick.maxJobs must be a whole number of 1 or more; got 0"],
    [{ scheduler, secret: "s", token: "t" }, "token is no option"],
  ])("%o", (options, message) => {
    expect(() => createCronHandler(options as never)).toThrow(message);
  });

  test("a secret that was left out", () => {
    expect(() => createCronHandler({ scheduler } as never)).toThrow("createCronHandler(): secret");
  });
});

function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
