import { describe, expect, test } from "vitest";
import { DateTrigger, OptionsError } from "../../src/mod.ts";
import { setUpRouter } from "../hono/support.ts";
import { at, rejectionOf } from "../scheduler/support.ts";
import { setUpBehindRouter } from "./support.ts";

const PAUSE = { until: at(3600), reason: "upgrade", by: "Ada" };

describe("a client behind a router", () => {
  test("pauses schedules and tasks until an instant, for a reason, and reads both", async () => {
    const { client, scheduler, clock } = setUpBehindRouter();
    scheduler.task("t", () => {});
    for (const id of ["one", "two", "three"]) await scheduler.addSchedule("t", "0 0 1 1 *", { id });
    const shown = { pausedUntil: at(3600), pauseReason: "upgrade", pausedBy: "Ada" };
    expect(await client.pauseSchedule("one", PAUSE)).toMatchObject({ paused: true, ...shown });
    expect(await client.pauseSchedules({ ids: ["two"] }, PAUSE)).toMatchObject({ paused: 1, skipped: 0 });
    expect(await (await client.getSchedule("three")).pause(PAUSE)).toMatchObject({ paused: true, ...shown });
    for (const id of ["one", "two", "three"]) expect(await scheduler.getSchedule(id)).toMatchObject(shown);
    expect(await client.pauseTask("t", PAUSE)).toMatchObject({ isPaused: true, ...shown });
    await client.pauseTask("t", { key: "k", until: at(60) });
    const { pausedTasks } = await client.health();
    expect(pausedTasks).toEqual([
      { taskId: "t", key: null, ...PAUSE },
      { taskId: "t", key: "k", until: at(60), reason: null, by: scheduler.identity },
    ]);
    const { items } = await client.getScheduleChanges("one");
    expect(items[0]).toMatchObject({
      kind: "paused",
      by: "Ada",
      after: { pausedUntil: at(3600), pauseReason: "upgrade" },
    });
    await clock.advance({ hours: 1 });
    await scheduler.tick();
    expect((await client.getSchedules({ paused: true })).items).toEqual([]);
    expect((await client.health()).pausedTasks).toEqual([]);
  });

  test("refuses an end that has passed where the scheduler does", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 0 1 1 *", { id: "s" });
    for (const call of [client.pauseSchedule("s", { until: at(0) }), client.pauseTask("t", { until: at(-1) })]) {
      expect(await rejectionOf(call)).toBeInstanceOf(OptionsError);
    }
  });
});

describe("a client behind a router that pauses after failures", () => {
  test("sets and reads the number, and reads why a schedule was paused", async () => {
    const { client, scheduler } = setUpBehindRouter();
    scheduler.task("t", () => Promise.reject(new Error("down")));
    const trigger = "2030-01-01T00:00:00Z";
    const added = await client.addSchedule("t", new DateTrigger(trigger), { id: "s", pauseAfterFailures: 1 });
    expect(added.pauseAfterFailures).toBe(1);
    await client.addSchedule("t", "0 0 1 1 *", { id: "other" });
    expect((await client.updateSchedule("other", { pauseAfterFailures: 3 })).pauseAfterFailures).toBe(3);
    expect((await client.updateSchedule("other", { pauseAfterFailures: null })).pauseAfterFailures).toBeNull();
    const wrong = client.updateSchedule("other", { pauseAfterFailures: 0 });
    expect(await rejectionOf(wrong)).toBeInstanceOf(OptionsError);
    await client.updateSchedule("other", { pauseAfterFailures: 1, nextFireTime: trigger });
    await scheduler.tick();
    expect(await client.getSchedule("other")).toMatchObject({
      paused: true,
      pauseReason: "1 failure in a row",
      pausedBy: scheduler.identity,
    });
  });
});

describe("the router", () => {
  test("refuses what no pause takes, and answers what one is", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 0 1 1 *", { id: "s" });
    await scheduler.tick();
    const wrong: [string, unknown][] = [
      ["POST /schedules/s/pause", { until: "2029-12-31T00:00:00Z" }],
      ["POST /schedules/s/pause", { until: "tomorrow" }],
      ["POST /schedules/s/pause", { until: 7 }],
      ["POST /schedules/s/pause", { reason: "" }],
      ["POST /schedules/s/pause", { reason: "x".repeat(501) }],
      ["POST /schedules/s/pause", { reason: { $ne: 1 } }],
      ["POST /schedules/s/pause", { resumeFrom: "now" }],
      ["POST /schedules/s/unpause", { until: "2030-01-02T00:00:00Z" }],
      ["POST /tasks/t/unpause", { reason: "over" }],
      ["POST /tasks/t/pause", { until: null }],
      ["POST /schedules/bulk", { action: "unpause", ids: ["s"], until: "2030-01-02T00:00:00Z" }],
      ["POST /schedules/bulk", { action: "remove", ids: ["s"], reason: "old" }],
      ["POST /schedules/bulk", { action: "pause", ids: ["s"], resumeFrom: "now" }],
    ];
    for (const [route, body] of wrong)
      expect([route, body, (await ask(route, body)).status]).toEqual([route, body, 422]);
    const { body } = await ask("POST /schedules/s/pause", { until: "2030-01-02T00:00:00+01:00", reason: "upgrade" });
    expect(body).toMatchObject({ paused: true, pausedUntil: "2030-01-01T23:00:00Z", pauseReason: "upgrade" });
    const put = await ask("PUT /schedules/s", { ...(body as object), priority: 5 });
    expect([put.status, put.body]).toMatchObject([200, { priority: 5, pausedUntil: "2030-01-01T23:00:00Z" }]);
  });
});
