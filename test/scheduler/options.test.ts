import { describe, expect, test } from "vitest";
import {
  type JobOptions,
  OptionsError,
  type ScheduleOptions,
  Scheduler,
  type SchedulerOptions,
  type TaskSettings,
} from "../../src/mod.ts";
import { everySecond, rejectionOf, setUp } from "./support.ts";

function pathsOf(error: unknown): string[] {
  expect(error).toBeInstanceOf(OptionsError);
  return (error as OptionsError).issues.map(({ path }) => path);
}

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.unreachable("nothing was thrown");
}

describe("new Scheduler", () => {
  test.each([
    [{ rolle: "both" }, "rolle"],
    [{ role: "boss" }, "role"],
    [{ identity: "" }, "identity"],
    [{ identity: "x".repeat(257) }, "identity"],
    [{ maxConcurrentJobs: 0 }, "maxConcurrentJobs"],
    [{ maxConcurrentJobs: 1.5 }, "maxConcurrentJobs"],
    [{ leaseDuration: 60_000 }, "leaseDuration"],
    [{ leaseDuration: "PT0.01S" }, "leaseDuration"],
    [{ leaseDuration: { months: 1 } }, "leaseDuration"],
    [{ maxIdle: "soon" }, "maxIdle"],
    [{ cleanupInterval: "PT0S" }, "cleanupInterval"],
    [{ taskDefaults: { retry: { backoff: { factor: 0.5 } } } }, "taskDefaults.retry.backoff.factor"],
    [{ taskDefaults: { timeout: "P1000000Y" } }, "taskDefaults.timeout"],
    [{ dataStore: {} }, "dataStore"],
    [{ dataStore: "file:jobs.db" }, "dataStore"],
    [{ eventBroker: new Map() }, "eventBroker"],
    [{ executors: { threads: () => {} } }, "executors.threads"],
    [{ logger: { log: () => {} } }, "logger"],
    [{ clock: Date }, "clock"],
    [{ random: 4 }, "random"],
  ])("refuses %o at %s", (options, path) => {
    expect(pathsOf(thrownBy(() => new Scheduler(options as unknown as SchedulerOptions)))).toEqual([path]);
  });

  test("reports every problem at once, with what to do", () => {
    const error = thrownBy(() => new Scheduler({ role: "boss", maxIdle: 5, colour: 1 } as unknown as SchedulerOptions));
    expect(pathsOf(error).sort()).toEqual(["colour", "maxIdle", "role"]);
    expect((error as Error).message).toMatch(/^new Scheduler\(\): 3 problems\n- role must be /);
    expect((error as Error).message).toContain('"5m" or { minutes: 5 }');
  });

  test("takes every kind of duration", () => {
    for (const leaseDuration of ["PT30S", { seconds: 30 }, { minutes: 1, milliseconds: 500 }]) {
      expect(new Scheduler({ leaseDuration }).state).toBe("stopped");
    }
  });
});

describe("task", () => {
  test.each([
    [{ maxRunningJobs: 0 }, "maxRunningJobs"],
    [{ retry: { maxAttempts: 0 } }, "retry.maxAttempts"],
    [{ retry: { backoff: { jitter: "some" } } }, "retry.backoff.jitter"],
    [{ retry: { backoff: { factor: Number.POSITIVE_INFINITY } } }, "retry.backoff.factor"],
    [{ maxRecoveries: -1 }, "maxRecoveries"],
    [{ timeout: "PT0S" }, "timeout"],
    [{ timeout: "-PT1S" }, "timeout"],
    [{ schema: {} }, "schema"],
    [{ metadata: { when: new Date(0) } }, "metadata"],
    [{ metadata: [] }, "metadata"],
    [{ metadata: { text: "x".repeat(1_000_000) } }, "metadata"],
    [{ resultExpirationTime: null }, "resultExpirationTime"],
  ])("refuses the settings %o at %s", (settings, path) => {
    const { scheduler } = setUp();
    const error = thrownBy(() => scheduler.task("t", settings as unknown as TaskSettings, () => {}));
    expect(pathsOf(error)).toEqual([path]);
    expect((error as Error).message).toContain('task "t"');
  });

  test.each([
    ["", ""],
    [7, ""],
    ["x".repeat(257), ""],
  ])("refuses the id %o", (id, path) => {
    const { scheduler } = setUp();
    expect(pathsOf(thrownBy(() => scheduler.task(id as string, () => {})))).toEqual([path]);
  });

  test("refuses a handler that is no function", () => {
    const { scheduler } = setUp();
    expect(pathsOf(thrownBy(() => scheduler.task("t", {}, undefined as unknown as () => void)))).toEqual(["handler"]);
  });
});

describe("addSchedule", () => {
  test.each([
    [{ coalesce: "some" }, "coalesce"],
    [{ conflictPolicy: "ignore" }, "conflictPolicy"],
    [{ maxJitter: 5 }, "maxJitter"],
    [{ catchUp: 3 }, "catchUp"],
    [{ catchUp: { maxCount: 0 } }, "catchUp.maxCount"],
    [{ catchUp: { maxCount: 10_001 } }, "catchUp.maxCount"],
    [{ catchUp: { maxAge: "PT0S" } }, "catchUp.maxAge"],
    [{ catchUp: { pace: 5 } }, "catchUp.pace"],
    [{ catchUp: { count: 5 } }, "catchUp.count"],
    [{ expectStartWithin: 60 }, "expectStartWithin"],
    [{ expectFinishWithin: "0s" }, "expectFinishWithin"],
    [{ priority: 0.5 }, "priority"],
    [{ paused: 1 }, "paused"],
    [{ id: "" }, "id"],
    [{ runAt: "2030-01-01T00:00:00Z" }, "runAt"],
  ])("refuses %o at %s", async (options, path) => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const adding = scheduler.addSchedule("t", everySecond(), options as unknown as ScheduleOptions);
    expect(pathsOf(await rejectionOf(adding))).toEqual([path]);
  });

  test("refuses what is no trigger", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const adding = scheduler.addSchedule("t", { minutes: 5 } as unknown as ReturnType<typeof everySecond>);
    expect(pathsOf(await rejectionOf(adding))).toEqual(["trigger"]);
  });
});

describe("jobs", () => {
  test.each([
    [{ runAt: "tomorrow" }, "runAt"],
    [{ runAt: "2030-01-01T00:00:00" }, "runAt"],
    [{ runAt: 1_893_456_000_000 }, "runAt"],
    [{ startDeadline: new Date(Number.NaN) }, "startDeadline"],
    [{ idempotencyKey: "" }, "idempotencyKey"],
    [{ timeout: "PT1S" }, "timeout"],
  ])("addJob refuses %o at %s", async (options, path) => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    expect(pathsOf(await rejectionOf(scheduler.addJob("t", options as unknown as JobOptions)))).toEqual([path]);
  });

  test("addJobs names the job whose options do not fit, and adds none", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const error = await rejectionOf(scheduler.addJobs([{ task: "t" }, { task: "t", priority: 0.5 }]));
    expect(pathsOf(error)).toEqual(["priority"]);
    expect((error as Error).message).toContain("addJobs()[1]");
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("addJobs refuses more than 10,000 at once, and what is no list", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const jobs = Array.from({ length: 10_001 }, () => ({ task: "t" }));
    await expect(scheduler.addJobs(jobs)).rejects.toMatchObject({ code: "options" });
    await expect(scheduler.addJobs({ task: "t" } as unknown as [])).rejects.toMatchObject({ code: "options" });
    expect(await scheduler.addJobs([])).toEqual([]);
  });

  test("getJob finds a job until its result is gone", async () => {
    const { scheduler, clock } = setUp();
    const { id, state } = await scheduler.addJob(
      scheduler.task("t", { failureExpirationTime: "1h" }, (_: number) => {
        throw new Error("no paper");
      }),
      { payload: 7, metadata: { owner: "Ada" }, priority: 2, retry: { backoff: { initial: "5s" } } },
    );
    expect([(await scheduler.getJob(id)).id, state]).toEqual([id, "queued"]);
    await scheduler.tick();
    const ended = await scheduler.getJob(id);
    expect(ended).toMatchObject({
      id,
      taskId: "t",
      state: "ended",
      payload: 7,
      metadata: { owner: "Ada" },
      priority: 2,
    });
    expect([ended.failedAttempts, ended.attemptHistory]).toMatchObject([
      1,
      [{ number: 1, error: { message: "no paper" } }],
    ]);
    expect(ended.retry?.backoff.initial.toString()).toBe("PT5S");
    await clock.advance("PT1H");
    await expect(scheduler.getJob(id)).rejects.toMatchObject({ code: "jobLookup", id });
    await expect(scheduler.getJob(undefined as unknown as string)).rejects.toMatchObject({ code: "options" });
  });

  test.each([{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }])("a page is refused with %o", async (filter) => {
    const { scheduler } = setUp();
    for (const page of [scheduler.getJobs(filter), scheduler.getSchedules(filter), scheduler.getJobResults(filter)]) {
      expect(pathsOf(await rejectionOf(page))).toEqual(["limit"]);
    }
  });

  test.each([
    ["start", { paused: "yes" }, "paused"],
    ["stop", { drainTimeout: 30 }, "drainTimeout"],
    ["tick", { maxJobs: 0 }, "maxJobs"],
    ["tick", { signal: true }, "signal"],
    ["runUntilStopped", { signal: {} }, "signal"],
  ] as const)("%s refuses %o at %s", async (verb, options, path) => {
    const { scheduler } = setUp();
    const call = scheduler[verb].bind(scheduler) as (options: object) => Promise<unknown>;
    expect(pathsOf(await rejectionOf(call(options)))).toEqual([path]);
    expect(scheduler.state).toBe("stopped");
  });

  test("unpauseSchedule refuses an instant that is none", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", paused: true });
    const error = await rejectionOf(scheduler.unpauseSchedule("s", { resumeFrom: "later" }));
    expect(pathsOf(error)).toEqual(["resumeFrom"]);
  });
});
