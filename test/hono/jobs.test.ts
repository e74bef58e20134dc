import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { setUpRouter } from "./support.ts";

function withTasks() {
  const setup = setUpRouter();
  setup.scheduler.task("add", { maxRunningJobs: null }, (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0));
  setup.scheduler.task("fail", () => {
    throw new Error("no paper", { cause: new Error("no trees") });
  });
  return setup;
}

async function added(setup: ReturnType<typeof withTasks>, body: object): Promise<string> {
  const answer = await setup.ask("POST /jobs", body);
  return (answer.body as { id: string }).id;
}

describe("a job over HTTP", () => {
  test("is added, with the place where it is found, and read while it is unfinished", async () => {
    const setup = withTasks();
    const { status, body, headers } = await setup.ask("POST /jobs", {
      taskId: "add",
      payload: [1, 2],
      runAt: "2030-01-02T00:00:00+01:00",
      priority: 3,
      resultExpirationTime: "1h",
      metadata: { owner: "Ada" },
    });
    const { id } = body as { id: string };
    expect([status, headers.get("location")]).toEqual([202, `/jobs/${id}`]);
    expect(body).toMatchObject({
      taskId: "add",
      payload: [1, 2],
      runAt: "2030-01-01T23:00:00Z",
      priority: 3,
      metadata: { owner: "Ada" },
      state: "queued",
    });
    expect(await setup.ask(`GET /jobs/${id}`)).toMatchObject({ status: 200, body });
  });

  test("has the key of the request, unless it has its own", async () => {
    const setup = withTasks();
    const headers = { "idempotency-key": "request" };
    const first = await setup.ask("POST /jobs", { taskId: "add", payload: [] }, headers);
    const again = await setup.ask("POST /jobs", { taskId: "add", payload: [] }, headers);
    const own = await setup.ask("POST /jobs", { taskId: "add", payload: [], idempotencyKey: "own" }, headers);
    expect([first.body, own.body]).toMatchObject([{ idempotencyKey: "request" }, { idempotencyKey: "own" }]);
    expect(again.body).toEqual(first.body);
  });

  test.each([
    ["POST /jobs", (job: object) => job],
    ["POST /jobs/batch", (job: object) => ({ jobs: [job] })],
  ])("is added once by %s with a key, also when it has ended", async (route, bodyOf) => {
    const { ask, scheduler } = withTasks();
    const headers = { "idempotency-key": "request" };
    const add = () => ask(route, bodyOf({ taskId: "add", payload: [1, 2] }), headers);
    await add();
    const first = await scheduler.tick();
    await add();
    const second = await scheduler.tick();
    expect([first.jobsRun, second.jobsRun]).toEqual([1, 0]);
  });

  test("keeps the key of the request as long as it says", async () => {
    const { ask, scheduler, clock } = withTasks();
    const add = () =>
      ask("POST /jobs", { taskId: "add", payload: [1, 2], uniqueFor: "1m" }, { "idempotency-key": "k" });
    await add();
    await scheduler.tick();
    await clock.advance("PT1M");
    await add();
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 1 });
  });

  test("takes a key together with a throttle", async () => {
    const job = { taskId: "add", payload: [1, 2], throttle: { key: "k", per: "1m" } };
    expect(await withTasks().ask("POST /jobs", job, { "idempotency-key": "k" })).toMatchObject({ status: 202 });
  });

  test.each([
    [{ taskId: "none" }, 404, "taskLookup"],
    [{ payload: 1 }, 422, "options"],
    [{ taskId: "add", runAt: "soon" }, 422, "options"],
    [{ taskId: "add", priority: 1.5 }, 422, "options"],
    [{ taskId: "add", idempotencykey: "k" }, 422, "options"],
    [{ taskId: "add", debounce: { key: "k", wait: "5s" }, idempotencyKey: "k" }, 422, "options"],
    [{ taskId: "add", after: ["none"] }, 422, "storeRefused"],
    [[], 422, "options"],
    [null, 422, "options"],
  ])("is not added from %j", async (body, status, code) => {
    const setup = withTasks();
    expect(await setup.ask("POST /jobs", body)).toMatchObject({ status, body: { status, code } });
    expect(await setup.ask("GET /jobs")).toMatchObject({ body: { items: [] } });
  });

  test("is refused by its task's schema with the paths to what is wrong", async () => {
    const { ask, scheduler } = setUpRouter();
    const validate = () => ({ issues: [{ message: "must be text", path: ["to", 0] }] });
    scheduler.task("mail", { schema: { "~standard": { version: 1, vendor: "test", validate } } }, () => {});
    expect(await ask("POST /jobs", { taskId: "mail", payload: {} })).toMatchObject({
      status: 422,
      body: { code: "payload", issues: [{ path: "to.0", message: "must be text" }] },
    });
  });

  test("is cancelled, and then there is nothing to cancel", async () => {
    const setup = withTasks();
    const id = await added(setup, { taskId: "add", runAt: "2031-01-01T00:00:00Z" });
    expect(await setup.ask(`POST /jobs/${id}/cancel`)).toMatchObject({
      status: 202,
      body: { id, cancellation: "delivered" },
    });
    expect(await setup.ask(`POST /jobs/${id}/cancel`)).toMatchObject({ status: 404, body: { code: "jobLookup", id } });
    expect(await setup.ask(`GET /jobs/${id}`)).toMatchObject({ status: 200, body: { id, state: "ended" } });
    expect(await setup.ask(`GET /jobs/${id}/result`)).toMatchObject({ status: 200, body: { outcome: "cancelled" } });
  });

  test("is retried as it was, or with another payload", async () => {
    const setup = withTasks();
    const id = await added(setup, { taskId: "fail", payload: 1, metadata: { owner: "Ada" } });
    await drain(setup.scheduler);
    const again = await setup.ask(`POST /jobs/${id}/retry`);
    const other = await setup.ask(`POST /jobs/${id}/retry`, { payload: 2 });
    const both = await setup.ask(`POST /jobs/${id}/retry`, { payload: 2, restart: true });
    expect(both).toMatchObject({ status: 422, body: { detail: expect.stringMatching(/does not go with a payload/) } });
    expect([again, other]).toMatchObject([
      { status: 202, body: { id: `${id}~1`, retryOf: id, payload: 1, metadata: { owner: "Ada" } } },
      { status: 202, body: { taskId: "fail", retryOf: null, payload: 2, metadata: { owner: "Ada" } } },
    ]);
    expect([again.headers.get("location"), await setup.ask("POST /jobs/none/retry")]).toMatchObject([
      `/jobs/${encodeURIComponent(`${id}~1`)}`,
      { status: 404, body: { code: "jobLookup" } },
    ]);
  });
});

describe("many jobs", () => {
  test("are added in one commit, each with a key of its own", async () => {
    const { ask } = withTasks();
    const jobs = [
      { taskId: "add", payload: [1] },
      { taskId: "add", payload: [2], idempotencyKey: "two" },
    ];
    const { status, body } = await ask("POST /jobs/batch", { jobs }, { "idempotency-key": "k" });
    expect([status, body]).toMatchObject([
      202,
      {
        items: [
          { payload: [1], idempotencyKey: "k#0" },
          { payload: [2], idempotencyKey: "two" },
        ],
        then: null,
      },
    ]);
  });

  test("are added together with one that comes after all of them", async () => {
    const { ask } = withTasks();
    const jobs = [
      { taskId: "add", payload: [1] },
      { taskId: "add", payload: [2] },
    ];
    const { status, body } = await ask("POST /jobs/batch", { jobs, then: { taskId: "fail", onParentFailure: "run" } });
    const { items } = body as { items: { id: string }[] };
    expect([status, body]).toMatchObject([202, { then: { blockedBy: "parents", after: items.map(({ id }) => id) } }]);
  });

  test("are all refused for one of them", async () => {
    const { ask } = withTasks();
    const jobs = [{ taskId: "add" }, { taskId: "add", foo: 1 }];
    expect(await ask("POST /jobs/batch", { jobs })).toMatchObject({
      status: 422,
      body: { issues: [{ path: "jobs.1.foo" }] },
    });
    expect(await ask("GET /jobs")).toMatchObject({ body: { items: [] } });
  });

  test("are listed by a filter, in pages", async () => {
    const setup = withTasks();
    const ids = [];
    for (const taskId of ["add", "fail", "add"]) ids.push(await added(setup, { taskId, payload: [] }));
    const first = await setup.ask("GET /jobs?taskId=add&limit=1");
    const { cursor } = first.body as { cursor: string };
    const second = await setup.ask(`GET /jobs?taskId=add&limit=1&cursor=${encodeURIComponent(cursor)}`);
    expect([first.body, second.body]).toMatchObject([
      { items: [{ id: ids[0] }] },
      { items: [{ id: ids[2] }], cursor: null },
    ]);
  });

  test("are listed with payloads, values and stacks only where these are asked for", async () => {
    const setup = withTasks();
    await setup.scheduler.addSchedule("add", "0 9 * * *", { id: "daily", payload: [1] });
    await added(setup, { taskId: "add", payload: [1, 2] });
    await added(setup, { taskId: "fail" });
    await drain(setup.scheduler);
    await added(setup, { taskId: "add", payload: [3], runAt: "2031-01-01T00:00:00Z" });
    const shown = async (route: string) => {
      const { body } = await setup.ask(`GET ${route}`);
      return (
        body as { items: { payload?: unknown; returnValue?: unknown; error?: { stack?: string } | null }[] }
      ).items
        .map(({ payload, returnValue, error }) => [payload, returnValue, error?.stack !== undefined])
        .toSorted();
    };
    const none = [undefined, undefined, false];
    expect([await shown("/schedules"), await shown("/jobs")]).toEqual([[none], [none]]);
    expect(await shown("/jobs?include=result")).toEqual([none]);
    expect(await shown("/schedules?include=payload")).toEqual([[[1], undefined, false]]);
    expect(await shown("/jobs?include=payload,result")).toEqual([[[3], undefined, false]]);
    expect(await shown("/results")).toEqual([none, none]);
    expect(await shown("/results?include=payload")).toEqual([none, [[1, 2], undefined, false]]);
    expect(await shown("/results?include=result")).toEqual([
      [undefined, undefined, true],
      [undefined, 3, false],
    ]);
    expect(await setup.ask("GET /schedules?include=payload,result")).toMatchObject({
      status: 400,
      body: { issues: [{ path: "include.1", message: expect.stringMatching(/^must be payload, .*; got "result"$/) }] },
    });
    expect(await setup.ask("GET /jobs?include=payload,stack")).toMatchObject({
      status: 400,
      body: { code: "options", issues: [{ path: "include.1" }] },
    });
  });

  test("are searched, filtered by state and time, and listed from the newest", async () => {
    const setup = withTasks();
    const one = await added(setup, { taskId: "add", runAt: "2030-01-01T01:00:00Z", concurrencyKey: "tenant 7" });
    const two = await added(setup, { taskId: "fail", runAt: "2030-01-01T02:00:00Z" });
    const lists = [
      "order=newest",
      "search=TENANT",
      "state=running",
      "state=queued&from=2030-01-01T01:30:00Z",
      "until=2030-01-01T01:30:00Z",
      "sort=runAt",
      "sort=runAt&order=newest&limit=1",
    ];
    const found = [];
    for (const query of lists) {
      const { body } = await setup.ask(`GET /jobs?${query}`);
      found.push((body as { items: { id: string }[] }).items.map(({ id }) => id));
    }
    expect(found).toEqual([[two, one], [one], [], [two], [one], [one, two], [two]]);
  });

  test("are cancelled, retried and purged by a filter", async () => {
    const setup = withTasks();
    for (let count = 0; count < 3; count++) await added(setup, { taskId: "fail" });
    await drain(setup.scheduler);
    const from = "2030-01-01T00:00:00Z";
    const retried = await setup.ask("POST /jobs/bulk", { action: "retry", filter: { taskId: "fail", from } });
    const cancelled = await setup.ask("POST /jobs/bulk", { action: "cancel", filter: { taskId: "fail" } });
    const purged = await setup.ask("POST /jobs/bulk", { action: "purge", all: true });
    expect([retried.body, cancelled.body, purged.body]).toEqual([
      { action: "retry", count: 3, skipped: 0, refusals: [] },
      { action: "cancel", count: 3, skipped: 0, refusals: [] },
      { action: "purge", count: 6, skipped: 0, refusals: [] },
    ]);
  });

  test("are cancelled and retried by their ids", async () => {
    const setup = withTasks();
    const waiting = await added(setup, { taskId: "add", runAt: "2031-01-01T00:00:00Z" });
    const failed = await added(setup, { taskId: "fail" });
    await drain(setup.scheduler);
    const cancelled = await setup.ask("POST /jobs/bulk", { action: "cancel", ids: [waiting, failed] });
    const retried = await setup.ask("POST /jobs/bulk", { action: "retry", ids: [failed, "none"] });
    expect([cancelled.body, retried.body]).toMatchObject([
      { action: "cancel", count: 1, skipped: 1, refusals: [{ id: failed, code: "jobLookup" }] },
      { action: "retry", count: 1, skipped: 1, refusals: [{ id: "none", code: "jobLookup" }] },
    ]);
  });

  test.each(["retry", "purge"])("stay as they are when the %s of another number was expected", async (action) => {
    const setup = withTasks();
    for (let count = 0; count < 3; count++) await added(setup, { taskId: "fail" });
    await drain(setup.scheduler);
    const body = { action, filter: { taskId: "fail" }, expectedCount: 2 };
    expect(await setup.ask("POST /jobs/bulk", body)).toMatchObject({ status: 409, body: { code: "unexpectedCount" } });
    expect(await setup.ask("POST /jobs/bulk", { ...body, expectedCount: 3 })).toMatchObject({ body: { count: 3 } });
  });

  test.each([
    { action: "purge" },
    { action: "purge", ids: ["a"], all: true },
    { action: "retry", ids: ["a"], all: true },
    { action: "retry", filter: {} },
    { action: "cancel", filter: { outcome: "error" } },
    { action: "cancel", filter: { task: "fail" } },
    { filter: { taskId: "fail" } },
  ])("are not touched by %j", async (body) => {
    expect(await withTasks().ask("POST /jobs/bulk", body)).toMatchObject({ status: 422, body: { code: "options" } });
  });
});

describe("a result over HTTP", () => {
  test("is 202 with the job while it is unfinished, then 200", async () => {
    const setup = withTasks();
    const id = await added(setup, { taskId: "add", payload: [1, 2] });
    const early = await setup.ask(`GET /jobs/${id}/result`);
    expect([early.status, early.headers.get("retry-after"), early.body]).toMatchObject([202, "1", { id }]);
    await drain(setup.scheduler);
    expect(await setup.ask(`GET /jobs/${id}/result`)).toMatchObject({
      status: 200,
      body: { jobId: id, outcome: "success", returnValue: 3, attempts: 1 },
    });
    expect(await setup.ask("GET /jobs/none/result")).toMatchObject({ status: 404, body: { code: "jobLookup" } });
  });

  test("is waited for until the job ends", async () => {
    const setup = withTasks();
    const id = await added(setup, { taskId: "add", payload: [1, 2] });
    const waiting = setup.ask(`GET /jobs/${id}/result?wait=30`);
    await drain(setup.scheduler);
    await setup.clock.advance({ seconds: 5 });
    expect(await waiting).toMatchObject({ status: 200, body: { returnValue: 3 } });
  });

  test("is waited for as long as the caller says", async () => {
    const setup = withTasks();
    const id = await added(setup, { taskId: "add", runAt: "2030-01-02T00:00:00Z" });
    const waiting = setup.ask(`GET /jobs/${id}/result?wait=5`);
    await setup.clock.advance({ seconds: 6 });
    expect(await waiting).toMatchObject({ status: 202, body: { id } });
  });

  test.each(["wait=0", "wait=31", "wait=x", "wiat=1"])("refuses the query %s", async (query) => {
    expect(await withTasks().ask(`GET /jobs/some/result?${query}`)).toMatchObject({ status: 400 });
  });

  test("is listed with all others by a filter, the newest first", async () => {
    const setup = withTasks();
    const failed = await added(setup, { taskId: "fail" });
    await drain(setup.scheduler);
    await setup.clock.advance({ minutes: 1 });
    const sum = await added(setup, { taskId: "add", payload: [] });
    await drain(setup.scheduler);
    const lists = [
      "",
      "?order=oldest",
      "?outcome=error",
      "?search=no%20paper",
      "?from=2030-01-01T00:00:30Z",
      "?until=2030-01-01T00:00:30Z&taskId=fail",
    ];
    const found = [];
    for (const query of lists) {
      const { body } = await setup.ask(`GET /results${query}`);
      found.push((body as { items: { jobId: string }[] }).items.map(({ jobId }) => jobId));
    }
    expect(found).toEqual([[sum, failed], [failed, sum], [failed], [failed], [sum], [failed]]);
  });
});
