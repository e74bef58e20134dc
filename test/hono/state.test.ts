import { describe, expect, test } from "vitest";
import { VERSION } from "../../src/core/version.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { MemoryDataStore, Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { recordingLogger } from "../scheduler/support.ts";
import { asker, setUpRouter } from "./support.ts";

function withoutStore() {
  const store = new MemoryDataStore();
  const refuse = () => Promise.reject(new StoreUnavailableError("password@db.example"));
  store.inspect = refuse;
  const { logger } = recordingLogger();
  return asker(createRouter(new Scheduler({ dataStore: store, logger }), { auth: "none", logger }));
}

describe("health", () => {
  test("is live and ready while the store answers", async () => {
    const { ask } = setUpRouter();
    expect([await ask("GET /health/live"), await ask("GET /health/ready")]).toMatchObject([
      { status: 200, body: { status: "live" } },
      { status: 200, body: { status: "ready" } },
    ]);
  });

  test("is live and not ready when the store is away, and shows nothing of the database", async () => {
    const ask = withoutStore();
    expect(await ask("GET /health/live")).toMatchObject({ status: 200 });
    expect(await ask("GET /health/ready")).toMatchObject({ status: 503, body: { code: "storeUnavailable" } });
    const { status, body } = await ask("GET /health");
    expect([status, body]).toMatchObject([
      200,
      { isStoreReached: false, storeError: { message: "the store cannot be reached", code: "storeUnavailable" } },
    ]);
    expect(JSON.stringify(body)).not.toContain("password");
    expect(await ask("GET /overview")).toMatchObject({ status: 200, body: { isStoreReached: false, failures: [] } });
  });

  test("tells what waits and who is alive", async () => {
    const { ask, scheduler, clock } = setUpRouter();
    scheduler.task("t", () => {});
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    await clock.advance({ seconds: 90 });
    expect(await ask("GET /health")).toMatchObject({
      status: 200,
      body: {
        eventsShared: false,
        versions: { package: VERSION, schema: null },
        oldestDueJob: { taskId: "t", runAt: "2030-01-01T00:00:00Z", lateMs: 90_000 },
        backlog: [
          { taskId: "t", waiting: { count: 2, isCapped: false }, blocked: { count: 0, isCapped: false }, running: 0 },
        ],
      },
    });
    await scheduler.start();
    const { identity } = scheduler;
    expect(await ask("GET /schedulers")).toMatchObject({
      status: 200,
      body: { items: [{ identity, tasks: ["t"] }], cursor: null },
    });
  });
});

describe("the overview", () => {
  test("counts what there is, and has the last failures", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    scheduler.task("fail", () => {
      throw new Error("no paper");
    });
    await scheduler.addJob("fail");
    await drain(scheduler);
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    await scheduler.addSchedule("t", "0 9 * * *", { id: "s" });
    await scheduler.pauseTask("fail");
    const { body } = await ask("GET /overview");
    expect(body).toMatchObject({
      isStoreReached: true,
      counts: {
        queued: { count: 2, isCapped: false },
        blocked: { count: 0, isCapped: false },
        running: 0,
        pausedTasks: 1,
      },
      pausedTasks: [{ taskId: "fail", key: null, until: null, reason: null, by: scheduler.identity }],
      nextFires: [{ id: "s", next: [{ at: "2030-01-01T09:00:00Z", clockChange: null }] }],
      failures: [{ taskId: "fail", outcome: "error", error: { message: "no paper" } }],
      failureGroups: [{ taskId: "fail", count: 1, message: "no paper" }],
      coming: [{ scheduleId: "s", taskId: "t", fireTime: "2030-01-01T09:00:00Z" }],
      runs: [{ taskId: "fail", state: "ended", outcome: "error", dueAt: "2030-01-01T00:00:00Z", runTime: "PT0S" }],
      stats: { bucket: "PT1H", items: [{ id: null, total: { count: 1, outcomes: { error: 1 } } }] },
      overdueCount: { count: 0 },
    });
  });

  test("has the schedules that fail, and the blackouts that are not over", async () => {
    const { ask, scheduler, clock } = setUpRouter();
    scheduler.task("fail", () => {
      throw new Error("no paper");
    });
    await scheduler.addSchedule("fail", "* * * * *", { id: "s", pauseAfterFailures: 1 });
    await scheduler.addSchedule("fail", "0 9 1 1 *", { id: "other" });
    await scheduler.addBlackout("holidays", { from: "2030-01-01T00:02:00Z", until: "2030-01-01T00:03:00Z" });
    await clock.advance("PT1M");
    await drain(scheduler);
    expect((await ask("GET /overview")).body).toMatchObject({
      failingSchedules: [{ id: "s", paused: true, pauseReason: "1 failure in a row" }],
      blackouts: [{ id: "holidays" }],
    });
    expect((await ask("GET /schedules?state=failing")).body).toMatchObject({ items: [{ id: "s" }], cursor: null });
    await clock.advance("PT2M");
    expect((await ask("GET /overview")).body).toMatchObject({ blackouts: [] });
  });
});

describe("tasks", () => {
  test("are listed, paused, let go on and removed", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("a/b", { timeout: "5m" }, () => {});
    const seen = async () => {
      const { body } = await ask("GET /tasks");
      return (body as { items: { id: string; isPaused: boolean; timeout: string }[] }).items.map(
        ({ id, isPaused, timeout }) => [id, isPaused, timeout],
      );
    };
    expect(await seen()).toEqual([["a/b", false, "PT5M"]]);
    const { items } = (await ask("GET /tasks")).body as { items: object[] };
    expect(await ask("POST /tasks/a%2Fb/pause")).toMatchObject({
      status: 200,
      body: { ...items[0], isPaused: true, pausedBy: scheduler.identity },
    });
    expect(await seen()).toEqual([["a/b", true, "PT5M"]]);
    expect(await ask("POST /tasks/a%2Fb/pause", { key: "tenant 7" })).toMatchObject({ body: { isPaused: true } });
    expect(await ask("POST /tasks/a%2Fb/unpause")).toMatchObject({ status: 200, body: items[0] });
    expect((await scheduler.health()).pausedTasks).toMatchObject([{ taskId: "a/b", key: "tenant 7" }]);
    expect(await ask("GET /tasks/a%2Fb")).toMatchObject({ status: 200, body: { id: "a/b", timeout: "PT5M" } });
    expect(await ask("DELETE /tasks/a%2Fb")).toMatchObject({ status: 204 });
    expect(await seen()).toEqual([]);
  });

  test("stay while a job refers to them, and are not found when there is none", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    expect(await ask("DELETE /tasks/t")).toMatchObject({ status: 409, body: { code: "conflictingId", id: "t" } });
    expect(await ask("DELETE /tasks/none")).toMatchObject({ status: 404, body: { code: "taskLookup", id: "none" } });
    expect(await ask("GET /tasks/none")).toMatchObject({ status: 404, body: { code: "taskLookup", id: "none" } });
    expect(await ask("POST /tasks/none/pause")).toMatchObject({ status: 404 });
    expect(await ask("POST /tasks/t/pause", { key: "" })).toMatchObject({ status: 422 });
  });
});

describe("a tick over HTTP", () => {
  test("does what is due, and tells what it did", async () => {
    const { ask, scheduler } = setUpRouter();
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    await scheduler.addJob("t", { runAt: "2030-01-01T00:01:30Z" });
    expect(await ask("POST /tick")).toMatchObject({
      status: 200,
      body: { jobsRun: 1, outcomes: { success: 1 }, nextWakeAt: "2030-01-01T00:01:30Z", exhausted: false },
    });
  });

  test("is a conflict when the scheduler was started", async () => {
    const { ask, scheduler } = setUpRouter();
    await scheduler.start();
    expect(await ask("POST /tick")).toMatchObject({ status: 409, body: { code: "schedulerState" } });
  });

  test("is not found where the client of a scheduler does none", async () => {
    const { scheduler } = setUpRouter();
    const names = ["getSchedules", "addJob", "health"] as const;
    const client = Object.fromEntries(names.map((name) => [name, () => scheduler[name]]));
    const ask = asker(createRouter(client as never, { auth: "none" }));
    expect(await ask("POST /tick")).toMatchObject({ status: 404, body: { code: "notFound" } });
  });
});

test("a clean-up over HTTP removes what has expired", async () => {
  const { ask, scheduler, clock } = setUpRouter();
  scheduler.task("t", { resultExpirationTime: "1m" }, () => {});
  const { id } = await scheduler.addJob("t");
  await drain(scheduler);
  await clock.advance({ minutes: 2 });
  expect(await ask("POST /cleanup")).toMatchObject({ status: 204, body: null });
  expect(await scheduler.getJobResult(id)).toBeNull();
});
