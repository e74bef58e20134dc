import { describe, expect, test } from "vitest";
import { problem, setUpRouter } from "./support.ts";

const DAILY = { cron: "0 9 * * *", timeZone: "Europe/Berlin" };

async function withSchedules(...ids: readonly string[]) {
  const setup = setUpRouter();
  setup.scheduler.task("report", () => {});
  for (const id of ids) await setup.ask("POST /schedules", { id, taskId: "report", trigger: DAILY });
  return setup;
}

describe("a schedule over HTTP", () => {
  test("is added, with the place where it is found, and read again", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("report", () => {});
    const added = await ask("POST /schedules", { id: "daily", taskId: "report", trigger: DAILY, payload: { n: 1 } });
    expect({ status: added.status, location: added.headers.get("location"), body: added.body }).toEqual({
      status: 201,
      location: "/schedules/daily",
      body: {
        id: "daily",
        name: null,
        taskId: "report",
        trigger: { type: "cron", version: 1, expression: "0 9 * * *", timeZone: "Europe/Berlin" },
        payload: { n: 1 },
        executor: "inline",
        priority: 0,
        coalesce: "latest",
        misfireGraceTime: null,
        maxJitter: "PT0S",
        catchUp: null,
        resultExpirationTime: "PT24H",
        failureExpirationTime: null,
        lastFailure: null,
        overlap: "queue",
        concurrencyKey: null,
        expectStartWithin: null,
        expectFinishWithin: null,
        pauseAfterFailures: null,
        skippedCount: 0,
        revision: expect.any(Number),
        metadata: {},
        labels: {},
        paused: false,
        pausedUntil: null,
        pauseReason: null,
        pausedBy: null,
        createdAt: "2030-01-01T00:00:00Z",
        nextFireTime: "2030-01-01T08:00:00Z",
        lastFireTime: null,
      },
    });
    const read = await ask("GET /schedules/daily");
    expect([read.status, read.body]).toEqual([200, added.body]);
  });

  test("is a conflict when its id exists, unless the policy says otherwise", async () => {
    const { ask } = await withSchedules("daily");
    const body = { id: "daily", taskId: "report", trigger: DAILY };
    const again = await ask("POST /schedules", body);
    const updated = await ask("POST /schedules", { ...body, priority: 5, conflictPolicy: "replace" });
    expect([again.status, again.body]).toEqual([
      409,
      { ...problem(409, "Conflict", "conflictingId"), id: "daily", detail: expect.stringContaining("daily") },
    ]);
    expect([updated.status, updated.body]).toMatchObject([201, { priority: 5 }]);
  });

  test.each([
    [{ every: "5m" }, { type: "interval", milliseconds: 300_000 }],
    [{ every: "PT90M" }, { type: "interval", milliseconds: 5_400_000 }],
    [{ at: "2030-02-01T09:00:00Z" }, { type: "date", runTime: "2030-02-01T09:00:00Z" }],
    [
      { at: "2030-02-01 09:00", timeZone: "Europe/Berlin" },
      { type: "date", runTime: "2030-02-01T08:00:00Z" },
    ],
    [{ cron: "0 9 * * *" }, { type: "cron", timeZone: "Asia/Tokyo" }],
    [{ type: "cron", version: 1, expression: "0 9 * * *", timeZone: "UTC" }, { timeZone: "UTC" }],
  ])("takes the trigger %j", async (trigger, stored) => {
    const { ask, scheduler } = setUpRouter({}, { timeZone: "Asia/Tokyo" });
    scheduler.task("report", () => {});
    const { status, body } = await ask("POST /schedules", { taskId: "report", trigger });
    expect([status, body]).toMatchObject([201, { trigger: stored }]);
  });

  test.each([
    [{ cron: "0 9 * * mon-fir" }, "cronSyntax", { position: 8, element: "mon-fir", suggestion: "mon-fri" }],
    [{ cron: "0 9 * * *", timeZone: "Europe/Berln" }, "options", { issues: [{ path: "trigger.timeZone" }] }],
    [{ every: "5" }, "options", { issues: [{ path: "trigger.every" }] }],
    [{ every: "0s" }, "options", {}],
    [{ every: 5 }, "options", { issues: [{ path: "trigger.every" }] }],
    [
      { every: { minutes: 5 } },
      "options",
      { issues: [{ path: "trigger.every", message: expect.stringContaining('"every": "5m"') }] },
    ],
    ["61 * * * *", "cronSyntax", { field: "minute" }],
    [
      { type: "solar", version: 1 },
      "deserialization",
      { detail: expect.stringContaining("date, interval, calendarInterval, cron, or, and, excluding") },
    ],
    [{ at: "tomorrow" }, "options", { issues: [{ path: "trigger.at" }] }],
    [{ cron: "0 9 * * *", zone: "UTC" }, "options", { issues: [{ path: "trigger.zone" }] }],
    [{}, "options", { issues: [{ path: "trigger" }] }],
    [5, "options", { issues: [{ path: "trigger" }] }],
    [{ type: "moon", version: 1 }, "deserialization", {}],
  ])("refuses the trigger %j", async (trigger, code, facts) => {
    const { ask } = await withSchedules();
    const { status, body } = await ask("POST /schedules", { taskId: "report", trigger });
    expect([status, body]).toMatchObject([422, { code, ...facts }]);
  });

  test("has its revision as ETag, without which nobody overwrites the change of another", async () => {
    const { ask } = await withSchedules("daily");
    const read = await ask("GET /schedules/daily");
    const etag = read.headers.get("etag") ?? "";
    expect(etag).toBe(`"${(read.body as { revision: number }).revision}"`);
    const changed = await ask("PATCH /schedules/daily", { priority: 5 }, { "if-match": etag });
    expect([changed.status, changed.headers.get("etag") === etag]).toEqual([200, false]);
    const late = { "if-match": etag };
    const refused = [
      await ask("PATCH /schedules/daily", { priority: 6 }, late),
      await ask("PUT /schedules/daily", read.body, late),
      await ask("DELETE /schedules/daily", undefined, late),
    ];
    const conflict = { status: 412, body: { code: "revisionConflict", title: "Precondition Failed", id: "daily" } };
    expect(refused).toMatchObject([conflict, conflict, conflict]);
    const wrong = await ask("DELETE /schedules/daily", undefined, { "if-match": "W/x" });
    expect(wrong).toMatchObject({ status: 400, body: { code: "badRequest" } });
    // As a proxy hands it on that compresses answers.
    const current = { "if-match": `W/${changed.headers.get("etag")}` };
    const put = await ask("PUT /schedules/daily", { ...(changed.body as object), priority: 7 }, current);
    expect(put).toMatchObject({
      status: 200,
      body: { ...(changed.body as object), priority: 7, revision: expect.any(Number) },
    });
    expect(await ask("DELETE /schedules/daily", undefined, current)).toMatchObject({ status: 412 });
    expect(
      await ask("DELETE /schedules/daily", undefined, { "if-match": put.headers.get("etag") ?? "" }),
    ).toMatchObject({
      status: 204,
    });
  });

  test.each([
    ["*", 200],
    ['"1", TAG', 200],
    ['TAG,, W/"7"', 200],
    ['W/"5",TAG', 200],
    ['"other", TAG', 200],
    ["W/TAG", 200],
    ['"1"', 412],
    ['"1", "2"', 412],
    ['"other"', 412],
    ['""', 412],
    ["TAG TAG x", 400],
    ["1", 400],
    ["", 400],
    ['*, "1"', 400],
  ])("is changed with If-Match: %s", async (text, status) => {
    const { ask } = await withSchedules("daily");
    const tag = (await ask("GET /schedules/daily")).headers.get("etag") ?? "";
    const headers = { "if-match": text.replaceAll("TAG", tag) };
    expect(await ask("PATCH /schedules/daily", { priority: 5 }, headers)).toMatchObject({ status });
    expect(await ask("PATCH /schedules/none", { priority: 5 }, headers)).toMatchObject({
      status: status === 400 ? 400 : 404,
    });
  });

  test("is replaced by PUT, changed by PATCH and removed by DELETE", async () => {
    const { ask } = await withSchedules("daily");
    const put = await ask("PUT /schedules/daily", { taskId: "report", trigger: { every: "1h" }, priority: 3 });
    const patch = await ask("PATCH /schedules/daily", { name: "Hourly", nextFireTime: "2030-01-01T05:00:00Z" });
    const gone = await ask("DELETE /schedules/daily");
    const again = await ask("DELETE /schedules/daily");
    expect([put, patch, gone, again]).toMatchObject([
      { status: 200, body: { id: "daily", trigger: { type: "interval" }, priority: 3 } },
      { status: 200, body: { name: "Hourly", priority: 3, nextFireTime: "2030-01-01T05:00:00Z" } },
      { status: 204, body: null },
      { status: 404, body: { code: "scheduleLookup", id: "daily" } },
    ]);
  });

  test.each(["GET", "PUT", "PATCH", "DELETE"])("that does not exist is not found by %s", async (method) => {
    const { ask } = await withSchedules();
    const body = { GET: undefined, DELETE: undefined, PATCH: {}, PUT: { taskId: "report", trigger: DAILY } }[method];
    expect(await ask(`${method} /schedules/none`, body)).toMatchObject({
      status: 404,
      body: { code: "scheduleLookup", id: "none" },
    });
  });

  test("is paused and goes on", async () => {
    const { ask } = await withSchedules("daily");
    const paused = await ask("POST /schedules/daily/pause");
    const unpaused = await ask("POST /schedules/daily/unpause", { resumeFrom: "2030-01-05T00:00:00Z" });
    expect([paused, unpaused]).toMatchObject([
      { status: 200, body: { paused: true } },
      { status: 200, body: { paused: false, nextFireTime: "2030-01-05T08:00:00Z" } },
    ]);
    expect(await ask("POST /schedules/daily/unpause")).toMatchObject({ status: 200 });
  });

  test("is run now, once for each idempotency key", async () => {
    const { ask } = await withSchedules("daily");
    const first = await ask("POST /schedules/daily/run", undefined, { "idempotency-key": "k" });
    const again = await ask("POST /schedules/daily/run", undefined, { "idempotency-key": "k" });
    const { id } = first.body as { id: string };
    expect([first.status, first.headers.get("location"), again.body]).toEqual([202, `/jobs/${id}`, first.body]);
    expect(first.body).toMatchObject({ scheduleId: "daily", idempotencyKey: "k" });
  });
});

describe("the list of schedules", () => {
  test("comes in pages, by a filter", async () => {
    const { ask } = await withSchedules("a", "b", "c");
    await ask("POST /schedules/b/pause");
    const first = await ask("GET /schedules?limit=2");
    const { cursor } = first.body as { cursor: string };
    const second = await ask(`GET /schedules?limit=2&cursor=${encodeURIComponent(cursor)}`);
    const other = await ask(`GET /schedules?sort=nextFireTime&cursor=${encodeURIComponent(cursor)}`);
    expect(other).toMatchObject({ status: 400, body: { code: "options", issues: [{ path: "cursor" }] } });
    const paused = await ask("GET /schedules?paused=true&taskId=report");
    expect([first, second, paused].map(idsOf)).toEqual([["a", "b"], ["c"], ["b"]]);
    expect([second.body, paused.body]).toMatchObject([{ cursor: null }, { cursor: null }]);
  });

  test("is searched, sorted and filtered by state", async () => {
    const { ask } = await withSchedules("Daily report", "b");
    await ask("POST /schedules", { id: "c", name: "Hourly REPORT", taskId: "report", trigger: { every: "1h" } });
    await ask("POST /schedules/b/pause");
    const lists = ["search=report", "sort=nextFireTime", "state=paused", "state=active&search=daily", "state=ended"];
    const found = [];
    for (const query of lists) found.push(idsOf(await ask(`GET /schedules?${query}`)));
    expect(found).toEqual([["Daily report", "c"], ["c", "Daily report", "b"], ["b"], ["Daily report"], []]);
    const paused = await ask("POST /schedules/bulk", {
      action: "pause",
      filter: { search: "report", state: "active" },
    });
    expect(paused.body).toEqual({ action: "pause", count: 2, skipped: 0, refusals: [] });
  });

  test.each([
    ["limit=0", "limit", "must be a whole number from 1 to 1000; got 0"],
    ["limit=ten", "limit", 'must be a whole number from 1 to 1000; got "ten"'],
    ["paused=yes", "paused", 'must be true or false; got "yes"'],
    ["taskId=", "taskId", 'must be text of 1 to 256 characters; got ""'],
    ["limt=5", "limt", 'is no option; did you mean "limit"?'],
    ["limit=5&limit=6", "limit", "is given twice"],
    ["__proto__=5", "__proto__", expect.stringContaining("is no option")],
  ])("refuses the query %s", async (query, path, message) => {
    const { ask } = await withSchedules();
    const { status, body } = await ask(`GET /schedules?${query}`);
    expect([status, body]).toMatchObject([400, { code: "options", issues: [{ path, message }] }]);
  });
});

describe("a trigger that is text", () => {
  test("is crontab text", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    const added = await ask("POST /schedules", { id: "s", taskId: "t", trigger: "0 9 * * *" });
    const { body } = await ask("POST /schedules", { id: "o", taskId: "t", trigger: { cron: "0 9 * * *" } });
    const { trigger } = body as { trigger: object };
    expect(added).toMatchObject({ status: 201, body: { trigger } });
    const preview = await ask("POST /triggers/preview", { trigger: "0 9 * * *", limit: 1 });
    expect(preview).toMatchObject({ status: 200, body: { timeZone: "UTC" } });
  });
});

describe("many schedules", () => {
  test.each([
    ["ids", { action: "pause", ids: ["a", "c", "none"] }, 2, [true, false, true]],
    ["a filter", { action: "pause", filter: { taskId: "report" }, expectedCount: 3 }, 3, [true, true, true]],
    ["no schedule", { action: "pause", ids: [] }, 0, [false, false, false]],
  ])("are paused by %s", async (_, body, count, paused) => {
    const { ask } = await withSchedules("a", "b", "c");
    expect(await ask("POST /schedules/bulk", body)).toMatchObject({ status: 200, body: { action: "pause", count } });
    const { body: page } = await ask("GET /schedules");
    expect((page as { items: { paused: boolean }[] }).items.map((item) => item.paused)).toEqual(paused);
  });

  test("go on and are removed", async () => {
    const { ask } = await withSchedules("a", "b");
    await ask("POST /schedules/bulk", { action: "pause", all: true });
    const unpaused = await ask("POST /schedules/bulk", {
      action: "unpause",
      filter: { paused: true },
      resumeFrom: "now",
    });
    const removed = await ask("POST /schedules/bulk", { action: "remove", all: true });
    expect([unpaused.body, removed.body]).toEqual([
      { action: "unpause", count: 2, skipped: 0, refusals: [] },
      { action: "remove", count: 2, skipped: 0, refusals: [] },
    ]);
    expect(idsOf(await ask("GET /schedules"))).toEqual([]);
  });

  test("are named with the reason when they are passed over", async () => {
    const { ask } = await withSchedules("a");
    const ids = ["a", ...Array.from({ length: 120 }, (_, index) => `none ${index}`)];
    const { body } = await ask("POST /schedules/bulk", { action: "pause", ids });
    const { refusals, ...counts } = body as { refusals: unknown[] };
    expect(counts).toEqual({ action: "pause", count: 1, skipped: 120 });
    expect([refusals.length, refusals[0]]).toMatchObject([100, { id: "none 0", code: "scheduleLookup" }]);
  });

  test("are left alone once the caller has gone", async () => {
    const { router, ask, scheduler } = await withSchedules("a");
    const trigger = "0 9 * * *";
    await scheduler.addSchedules(Array.from({ length: 1001 }, (_, n) => ({ task: "report", trigger, id: `s-${n}` })));
    const caller = new AbortController();
    using _ = scheduler.subscribe("scheduleUpdated", () => caller.abort());
    await router.request("/schedules/bulk", {
      method: "POST",
      signal: caller.signal,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action: "pause", all: true }),
    });
    const { body } = await ask("GET /schedules?paused=false&limit=1000");
    expect((body as { items: unknown[] }).items.length).toBe(2);
  });

  test("stay as they are when another number of them fits than the caller saw", async () => {
    const { ask } = await withSchedules("a", "b");
    const answer = await ask("POST /schedules/bulk", { action: "remove", all: true, expectedCount: 1 });
    expect(answer).toMatchObject({ status: 409, body: { code: "unexpectedCount" } });
    expect(idsOf(await ask("GET /schedules"))).toEqual(["a", "b"]);
  });

  test.each([
    [{ action: "pause" }, ""],
    [{ action: "pause", ids: ["a"], filter: {} }, ""],
    [{ action: "remove", filter: {} }, ""],
    [{ action: "pause", filter: {} }, ""],
    [{ action: "unpause", filter: {}, all: false }, ""],
    [{ action: "remove", ids: ["a"], all: true }, ""],
    [{ action: "remove", filter: { search: "a" }, all: true }, ""],
    [{ action: "pause", ids: ["a"], resumeFrom: "now" }, "resumeFrom"],
    [{ action: "explode", ids: ["a"] }, "action"],
    [{ action: "pause", filter: { task: "report" } }, "filter.task"],
  ])("are not changed by %j", async (body, path) => {
    const { ask } = await withSchedules("a");
    expect(await ask("POST /schedules/bulk", body)).toMatchObject({
      status: 422,
      body: { code: "options", issues: [{ path }] },
    });
    expect(await ask("GET /schedules/a")).toMatchObject({ body: { paused: false } });
  });

  test("are told how to mean all of them", async () => {
    const { ask } = await withSchedules("a");
    const { body } = await ask("POST /schedules/bulk", { action: "remove", filter: {} });
    expect(body).toMatchObject({ detail: expect.stringContaining("write { all: true }") });
  });
});

function idsOf({ body }: { body: unknown }): string[] {
  return (body as { items: { id: string }[] }).items.map(({ id }) => id);
}
