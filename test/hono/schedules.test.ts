import { describe, expect, test } from "vitest";
import { problem, setUpRouter } from "./support.ts";

const DAILY = { cron: "0 9 * * *", timeZone: "Europe/Berlin" };

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
        maxCatchUp: null,
        resultExpirationTime: "PT24H",
        overlap: "queue",
        concurrencyKey: null,
        skippedCount: 0,
        metadata: {},
        paused: false,
        createdAt: "2030-01-01T00:00:00Z",
        nextFireTime: "2030-01-01T08:00:00Z",
        lastFireTime: null,
      },
    });
    const read = await ask("GET /schedules/daily");
    expect([read.status, read.body]).toEqual([200, added.body]);
  });

  test("is a conflict when its id exists, unless the policy says otherwise", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("report", () => {});
    const body = { id: "daily", taskId: "report", trigger: DAILY };
    await ask("POST /schedules", body);
    const again = await ask("POST /schedules", body);
    const updated = await ask("POST /schedules", { ...body, priority: 5, conflictPolicy: "replace" });
    expect([again.status, again.body]).toEqual([
      409,
      { ...problem(409, "Conflict", "conflictingId"), id: "daily", detail: expect.stringContaining("daily") },
    ]);
    expect([updated.status, updated.body]).toEqual([201, expect.objectContaining({ priority: 5 })]);
  });

  test.each([
    [{ every: "5m" }, { type: "interval", milliseconds: 300_000 }],
    [{ every: "PT90M" }, { type: "interval", milliseconds: 5_400_000 }],
    [{ at: "2030-02-01T09:00:00Z" }, { type: "date", runTime: "2030-02-01T09:00:00Z" }],
    [
      { at: "2030-02-01 09:00", timeZone: "Europe/Berlin" },
      { type: "date", runTime: "2030-02-01T08:00:00Z" },
    ],
    [{ cron: "0 9 * * *" }, { type: "cron", timeZone: "UTC" }],
    [{ type: "cron", version: 1, expression: "0 9 * * *", timeZone: "Asia/Tokyo" }, { timeZone: "Asia/Tokyo" }],
  ])("takes the trigger %j", async (trigger, stored) => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("report", () => {});
    const { status, body } = await ask("POST /schedules", { taskId: "report", trigger });
    expect([status, body]).toMatchObject([201, { trigger: stored }]);
  });
});
