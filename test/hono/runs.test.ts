import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { setUpRouter } from "./support.ts";

async function withRuns(options: Parameters<typeof setUpRouter>[0] = {}) {
  const setup = setUpRouter(options);
  const { scheduler } = setup;
  scheduler.task("ok", () => "value");
  scheduler.task("fail", () => {
    throw new Error("no paper");
  });
  const done = await scheduler.addJob("ok", { payload: { a: 1 } });
  await drain(scheduler);
  const failed = await scheduler.addJob("fail", { payload: 2 });
  await drain(scheduler);
  const waiting = await scheduler.addJob("ok", { delay: "1h" });
  return { ...setup, ids: { done: done.id, failed: failed.id, waiting: waiting.id } };
}

describe("schedules over HTTP", () => {
  test("are listed by ids, which may have commas, with fire times to come and runs", async () => {
    const { ask, scheduler, clock } = setUpRouter();
    scheduler.task("t", () => {});
    for (const id of ["a", "b", "c,d"]) await scheduler.addSchedule("t", "* * * * *", { id });
    await clock.advance("PT1M");
    await drain(scheduler);
    const { body } = await ask("GET /schedules?ids=c,d&ids=a&include=next:2,runs:1");
    const run = { verdict: "success", fireTime: "2030-01-01T00:01:00Z", run: { lateness: "PT0S", attempts: 1 } };
    const next = ["2030-01-01T00:02:00Z", "2030-01-01T00:03:00Z"].map((at) => ({ at, clockChange: null }));
    expect(body).toMatchObject({
      items: [
        { id: "a", next, runs: [run] },
        { id: "c,d", next, runs: [run] },
      ],
    });
    const plain = (await ask("GET /schedules?include=payload")).body as { items: object[] };
    expect(plain.items.some((item) => "next" in item || "runs" in item)).toBe(false);
  });

  test.each(["ids=", "include=next", "include=next:0", "include=runs:1000", "include=result", "include=next:101"])(
    "are not listed by %s",
    async (query) => {
      const { ask } = setUpRouter();
      expect(await ask(`GET /schedules?${query}`)).toMatchObject({ status: 400, body: { code: "options" } });
    },
  );
});

describe("statistics over HTTP", () => {
  test("are what the library has, and come with a list of schedules", async () => {
    const { ask, scheduler, clock } = await withRuns();
    await scheduler.addSchedule("ok", "* * * * *", { id: "s" });
    await clock.advance("PT1M");
    await drain(scheduler);
    const { body } = await ask("GET /stats?by=task&bucket=PT24H&until=2030-01-02T00:00:00Z");
    const times = { p50: "PT0S", p95: "PT0S" };
    const total = { count: 2, outcomes: { success: 2, error: 0, skipped: 0 }, runTime: times, lateness: times };
    expect(body).toMatchObject({
      ...{ from: "2030-01-01T00:00:00Z", until: "2030-01-02T00:00:00Z", bucket: "PT24H", isKept: true },
      items: [
        { id: "ok", total, buckets: [{ from: "2030-01-01T00:00:00Z", ...total }] },
        { id: "fail", total: { count: 1, outcomes: { error: 1 }, lateness: null } },
      ],
    });
    const listed = await ask("GET /schedules?include=stats");
    expect(listed.body).toMatchObject({ items: [{ id: "s", stats: { count: 1, outcomes: { success: 1 } } }] });
  });

  test.each([
    ...["bucket=1ms", "bucket=soon", "bucket=-PT1H", "bucket=PT0S", "bucket=PT1H30M", "by=hour", "by=task&by=schedule"],
    ...["from=1000-01-01T00:00:00Z", "from=x", "until=2020-01-01T00:00:00Z&from=2021-01-01T00:00:00Z", "limit=0"],
    ...["limit=1000&by=task", "limit=1e9", "scheduleId=", "taskId=a&scheduleId=b", "by=schedule&bucket=1h", "per=1h"],
    ...["from=2030-01-01T00:00:00Z&until=%2B275760-09-13T00:00:00Z", `taskId=${"x".repeat(300)}`],
  ])("are refused for %s", async (query) => {
    const { ask } = setUpRouter();
    expect(await ask(`GET /stats?${query}`)).toMatchObject({ status: 400, body: { code: "options" } });
  });
});

describe("failures over HTTP", () => {
  test("are listed in groups, of which one is retried if it is as large as expected", async () => {
    const { ask, ids } = await withRuns();
    const { status, body } = await ask("GET /failures?groupBy=task,error&from=2030-01-01T00:00:00Z");
    const { items } = body as { items: { key: string }[] };
    expect([status, body]).toMatchObject([
      200,
      { items: [{ taskId: "fail", pattern: "no paper", count: 1, jobIds: [ids.failed] }], seen: { count: 1 } },
    ]);
    const filter = { taskId: "fail", failureKey: items[0]?.key };
    const bulk = (action: string, expectedCount: number, chosen: object = filter) =>
      ask("POST /jobs/bulk", { action, filter: chosen, expectedCount });
    expect(await bulk("retry", 2)).toMatchObject({ status: 409 });
    expect(await bulk("retry", 0, { failureKey: "other" })).toMatchObject({ status: 200, body: { count: 0 } });
    expect(await bulk("retry", 1)).toMatchObject({ status: 200, body: { count: 1 } });
    expect(await bulk("purge", 1)).toMatchObject({ status: 422, body: { code: "options" } });
    expect(await ask("GET /failures?groupBy=name")).toMatchObject({ status: 400 });
  });
});

describe("runs over HTTP", () => {
  test("are jobs that have ended or not, without large values unless they are asked for", async () => {
    const { ask, ids } = await withRuns();
    const { status, body } = await ask("GET /runs");
    const { items, cursor } = body as { items: Record<string, unknown>[]; cursor: null };
    expect([status, cursor, items.map(({ id }) => id)]).toEqual([200, null, [ids.waiting, ids.failed, ids.done]]);
    expect(items.map(({ state, outcome }) => [state, outcome])).toEqual([
      ["queued", null],
      ["ended", "error"],
      ["ended", "success"],
    ]);
    expect(items.some((item) => "payload" in item || "returnValue" in item)).toBe(false);
    expect(items[1]?.error).toEqual({ name: "Error", message: "no paper" });
    const whole = (await ask("GET /runs?include=payload,result&outcome=success")).body;
    expect(whole).toMatchObject({ items: [{ id: ids.done, payload: { a: 1 }, returnValue: "value" }] });
  });

  test("are filtered, and paged by cursors that belong to the list", async () => {
    const { ask, ids } = await withRuns();
    const found = async (query: string) =>
      ((await ask(`GET /runs?${query}`)).body as { items: { id: string }[] }).items.map(({ id }) => id);
    expect(await found("outcome=error,abandoned")).toEqual([ids.failed]);
    expect(await found("outcome=error&outcome=success&taskId=ok")).toEqual([ids.done]);
    expect(await found("state=queued,blocked")).toEqual([ids.waiting]);
    expect(await found("error=PAPER&minAttempts=1&maxRunTime=5m")).toEqual([ids.failed]);
    const first = (await ask("GET /runs?limit=2")).body as { cursor: string };
    expect(await found(`limit=2&cursor=${encodeURIComponent(first.cursor)}`)).toEqual([ids.done]);
    const other = await ask(`GET /runs?limit=2&state=ended&cursor=${encodeURIComponent(first.cursor)}`);
    expect(other).toMatchObject({ status: 400, body: { code: "options" } });
  });

  test("have their total and the counts of each state where these are asked for", async () => {
    const { ask, scheduler } = await withRuns();
    const one = { count: 1, isCapped: false };
    const none = { count: 0, isCapped: false };
    const { body } = await ask("GET /runs?include=total,facets&outcome=error&limit=1");
    expect(body).toMatchObject({
      total: one,
      facets: { queued: one, blocked: none, running: none, error: one, success: one, abandoned: none },
    });
    expect((await ask("GET /runs")).body).not.toHaveProperty("total");
    expect((await ask("GET /jobs?include=facets&state=blocked")).body).toEqual({
      ...{ items: [], cursor: null },
      facets: { queued: one, blocked: none, running: none },
    });
    for (const id of ["a", "b", "c"]) await scheduler.addSchedule("ok", "@daily", { id, paused: id === "c" });
    expect((await ask("GET /schedules?include=total,facets&state=active&limit=1")).body).toMatchObject({
      total: { count: 2, isCapped: false },
      facets: { active: { count: 2 }, paused: { count: 1 }, ended: none, failing: none },
    });
    await scheduler.addJobs(Array.from({ length: 1001 }, () => ({ task: "ok", delay: "1h" })));
    expect((await ask("GET /jobs?include=total&limit=1")).body).toMatchObject({
      total: { count: 1000, isCapped: true },
    });
  });

  test("that have ended are purged by whatever lists them, or counted only", async () => {
    const { ask, ids } = await withRuns();
    const purge = async (chosen: object): Promise<unknown> => {
      const { status, body } = await ask("POST /jobs/bulk", { action: "purge", ...chosen });
      return status === 200 ? (body as { count: number }).count : status;
    };
    const dry = (filter: object) => purge({ filter, dryRun: true });
    expect([await dry({ search: "PAPER" }), await dry({ error: "PAPER", outcome: ["error", "success"] })]).toEqual([
      1, 1,
    ]);
    expect([await dry({ state: "ended" }), await dry({ maxRunTime: "5m" }), await dry({ minAttempts: 2 })]).toEqual([
      2, 2, 0,
    ]);
    expect(await purge({ ids: [ids.done, ids.waiting, "none"], dryRun: true })).toBe(1);
    expect(await purge({ filter: { search: "paper" }, expectedCount: 2 })).toBe(409);
    expect(await ask("POST /jobs/bulk", { action: "retry", all: true, dryRun: true })).toMatchObject({ status: 422 });
    expect((await ask("GET /results")).body).toMatchObject({ items: [{}, {}] });
    expect(await purge({ filter: { search: "paper" }, expectedCount: 1 })).toBe(1);
    expect(await ask(`GET /runs/${ids.failed}`)).toMatchObject({ status: 404 });
    expect(await purge({ ids: [ids.done, ids.waiting], expectedCount: 1 })).toBe(1);
    expect((await ask("GET /runs")).body).toMatchObject({ items: [{ id: ids.waiting }] });
  });

  test("are retried and cancelled by whatever lists them, if they are as many as expected", async () => {
    const { ask, ids } = await withRuns();
    const bulk = (action: string, filter: object, expectedCount: number) =>
      ask("POST /jobs/bulk", { action, filter, expectedCount });
    expect(await bulk("retry", { search: ids.failed }, 2)).toMatchObject({ status: 409 });
    expect(await bulk("retry", { search: ids.done }, 0)).toMatchObject({ status: 200, body: { count: 0 } });
    expect(await bulk("retry", { error: "PAPER", outcome: ["error"] }, 1)).toMatchObject({ body: { count: 1 } });
    expect(await bulk("cancel", { state: ["blocked", "running"] }, 0)).toMatchObject({ body: { count: 0 } });
    expect(await bulk("cancel", { search: ids.waiting, state: "queued" }, 1)).toMatchObject({ body: { count: 1 } });
    expect(await ask(`GET /runs/${ids.waiting}`)).toMatchObject({ body: { outcome: "cancelled" } });
  });

  test.each([
    ["retry", { state: "running" }, "filter.state"],
    ["retry", { search: "a", failureKey: "b" }, "filter.failureKey"],
    ["retry", { backfillId: "b" }, "filter.backfillId"],
    ["cancel", { state: ["queued", "ended"] }, "filter.state"],
    ["cancel", { minRunTime: "5m" }, "filter.minRunTime"],
    ["cancel", { search: "a", minAttempts: -1 }, "filter.minAttempts"],
    ["purge", { search: "a", state: ["ended", "running"] }, "filter.state"],
    ["purge", { backfillId: "b" }, "filter.backfillId"],
    ["purge", { failureKey: "b" }, "filter.failureKey"],
    ["purge", { search: "a", minAttempts: -1 }, "filter.minAttempts"],
    ["retry", { outcome: "late" }, "filter.outcome"],
  ])("are not changed by a %s with a filter that does not go with it: %o", async (action, filter, path) => {
    const { ask } = await withRuns();
    const { status, body } = await ask("POST /jobs/bulk", { action, filter });
    expect([status, body]).toMatchObject([422, { code: "options", issues: [{ path }] }]);
  });

  test.each(["state=asleep", "outcome=", "minAttempts=-1", "minRunTime=soon", "key=", "order=oldest"])(
    "are not listed by %s",
    async (query) => {
      const { ask } = await withRuns();
      expect(await ask(`GET /runs?${query}`)).toMatchObject({ status: 400, body: { code: "options" } });
    },
  );

  test("are read one by one, with their values hidden by the function of the router", async () => {
    const { ask, ids } = await withRuns({ redact: (_, { field }) => `no ${field}` });
    const { status, body } = await ask(`GET /runs/${ids.done}`);
    expect([status, body]).toMatchObject([
      200,
      { outcome: "success", payload: "no payload", returnValue: "no returnValue" },
    ]);
    expect(await ask("GET /runs/none")).toMatchObject({ status: 404, body: { code: "jobLookup", id: "none" } });
  });
});
