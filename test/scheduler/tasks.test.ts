import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, gate, recordEvents, START, setUp } from "./support.ts";

describe("tasks", () => {
  test("take each setting from the call, else the task, else the defaults, else the documented default", async () => {
    const { scheduler } = setUp({
      taskDefaults: {
        maxRunningJobs: 5,
        retry: { maxAttempts: 4, backoff: { initial: "PT2S", factor: 3 } },
        metadata: { team: "core", level: 1 },
      },
    });
    scheduler.task("plain", () => {});
    scheduler.task(
      "own",
      { maxRunningJobs: null, retry: { backoff: { initial: "PT9S" } }, metadata: { level: 2 } },
      () => {},
    );
    const [own, plain] = (await scheduler.getTasks()).map((task) => task.toJSON());
    const backoff = { initial: "PT2S", factor: 3, max: "PT1H", jitter: "full" };
    expect(plain).toEqual({
      id: "plain",
      abandonAfter: null,
      executor: "inline",
      maxRunningJobs: 5,
      maxRunningPerKey: null,
      rateLimit: null,
      fair: false,
      isPaused: false,
      misfireGraceTime: null,
      overlap: "queue",
      maxRecoveries: 3,
      maxSnoozes: 100,
      timeout: null,
      resultExpirationTime: "PT24H",
      failureExpirationTime: null,
      pauseAfterFailures: null,
      pausedUntil: null,
      pauseReason: null,
      pausedBy: null,
      retry: { maxAttempts: 4, backoff },
      metadata: { team: "core", level: 1 },
      keepLogs: null,
      labels: {},
    });
    expect(own).toEqual({
      ...plain,
      id: "own",
      maxRunningJobs: null,
      retry: { maxAttempts: 4, backoff: { ...backoff, initial: "PT9S" } },
      metadata: { team: "core", level: 2 },
    });
  });

  test("are read back with their durations", async () => {
    const { scheduler } = setUp();
    const retry = { maxAttempts: 2, backoff: { initial: "PT2S", factor: 3, max: "PT1M", jitter: "none" } } as const;
    scheduler.task("t", { misfireGraceTime: "PT90S", timeout: "PT5M", retry }, () => {});
    const [task] = await scheduler.getTasks();
    expect([String(task?.misfireGraceTime), String(task?.timeout), String(task?.resultExpirationTime)]).toEqual([
      ...["PT1M30S", "PT5M", "PT24H"],
    ]);
    expect(task?.retry.backoff.initial.total("seconds")).toBe(2);
    expect(task?.retry.backoff.max.total("seconds")).toBe(60);
    expect(task?.retry).toMatchObject({ maxAttempts: 2, backoff: { factor: 3, jitter: "none" } });
  });

  test("settings of the call come before those of the task, for jobs and schedules", async () => {
    const { scheduler } = setUp({ taskDefaults: { executor: "default", misfireGraceTime: "PT1S" } });
    const own = {
      executor: "own",
      misfireGraceTime: "PT2S",
      resultExpirationTime: "PT2H",
      failureExpirationTime: "PT4H",
    } as const;
    scheduler.task("plain", () => {});
    scheduler.task("t", own, () => {});
    const call = {
      executor: "call",
      misfireGraceTime: "PT3S",
      resultExpirationTime: "PT3H",
      failureExpirationTime: "PT5H",
    } as const;
    const settingsOf = async (taskId: string, options: object) => {
      const { executor, misfireGraceTime, resultExpirationTime, failureExpirationTime } = await scheduler.addSchedule(
        taskId,
        everySecond(),
        options,
      );
      return {
        executor,
        misfireGraceTime: String(misfireGraceTime),
        resultExpirationTime: String(resultExpirationTime),
        failureExpirationTime: String(failureExpirationTime),
      };
    };
    expect(await settingsOf("plain", {})).toEqual({
      executor: "default",
      misfireGraceTime: "PT1S",
      resultExpirationTime: "PT24H",
      failureExpirationTime: "null",
    });
    expect(await settingsOf("t", {})).toEqual(own);
    expect(await settingsOf("t", call)).toEqual(call);
    const executors = await Promise.all([
      scheduler.addJob("plain"),
      scheduler.addJob("t"),
      scheduler.addJob("t", { executor: "call" }),
    ]);
    expect(executors.map(({ executor }) => executor)).toEqual(["default", "own", "call"]);
  });

  test("metadata merges key by key from defaults, task and call, for jobs and schedules", async () => {
    const { scheduler } = setUp({ taskDefaults: { metadata: { a: 0, b: 0, c: 0 } } });
    const task = scheduler.task("t", { metadata: { b: 1, c: 1 } }, () => {});
    const merged = { a: 0, b: 1, c: 2 };
    expect((await scheduler.addJob(task, { metadata: { c: 2 } })).metadata).toEqual(merged);
    expect((await scheduler.addSchedule(task, everySecond(), { id: "s", metadata: { c: 2 } })).metadata).toEqual(
      merged,
    );
    expect((await scheduler.updateSchedule("s", { metadata: { d: 3 } })).metadata).toEqual({ a: 0, b: 1, c: 1, d: 3 });
  });

  test("a schedule gives its metadata to its jobs", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    scheduler.task("t", { metadata: { a: 1 } }, (_, { job }) => {
      seen.push(job.metadata);
    });
    await scheduler.addSchedule("t", everySecond(), { metadata: { b: 2 } });
    await scheduler.tick();
    expect(seen).toEqual([{ a: 1, b: 2 }]);
  });

  test("a function with a name is a task of that name", async () => {
    const { scheduler } = setUp();
    async function double(value: number): Promise<number> {
      return 2 * value;
    }
    const { id, taskId } = await scheduler.addJob(double, { payload: 21 });
    await drain(scheduler);
    expect([taskId, (await scheduler.getJobResult(id))?.returnValue]).toEqual(["double", 42]);
    expect((await scheduler.addJob(double, { payload: 1 })).taskId).toBe("double");
  });

  test("a function without a name, or with the name of another one's task, is refused", async () => {
    const { scheduler } = setUp();
    const first = { run: (): void => {} }.run;
    const second = { run: (): number => 1 }.run;
    await scheduler.addJob(first);
    await expect(scheduler.addJob(second)).rejects.toMatchObject({ code: "options", issues: [{ path: "task" }] });
    await expect(scheduler.addJob((() => () => {})())).rejects.toMatchObject({ code: "options" });
  });

  test("several tasks may share a handler, and the context tells them apart", async () => {
    const { scheduler } = setUp();
    const seen: string[] = [];
    const handler = (_: undefined, { job }: { job: { taskId: string } }): void => {
      seen.push(job.taskId);
    };
    const tasks = ["a", "b"].map((id) => scheduler.task(id, handler));
    await scheduler.addJobs(tasks.map((task) => ({ task })));
    await drain(scheduler);
    expect(seen).toEqual(["a", "b"]);
  });

  test("one that is known nowhere is refused", async () => {
    const { scheduler } = setUp();
    await expect(scheduler.addJob("nobody")).rejects.toMatchObject({ code: "taskLookup", id: "nobody" });
    await expect(scheduler.addSchedule("nobody", everySecond())).rejects.toMatchObject({ code: "taskLookup" });
  });

  test("one that only the store knows can be used, and waits for a worker that has its handler", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const worker = setUp({ clock, dataStore });
    const client = setUp({ clock, dataStore });
    worker.scheduler.task("t", { metadata: { from: "worker" }, resultExpirationTime: "PT5M" }, () => "ran");
    await worker.scheduler.getTasks();
    const job = await client.scheduler.addJob("t");
    expect(job.metadata).toEqual({ from: "worker" });
    expect(await drain(client.scheduler)).toEqual([]);
    expect((await client.scheduler.getJob(job.id)).acquiredBy).toBeNull();
    await drain(worker.scheduler);
    expect((await client.scheduler.getJobResult(job.id))?.returnValue).toBe("ran");
  });

  test("a schedule whose task nobody has a handler for makes jobs that wait, and disturbs nobody", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const old = setUp({ clock, dataStore });
    old.scheduler.task("gone", () => {});
    await old.scheduler.addSchedule("gone", everySecond());
    const { scheduler } = setUp({ clock, dataStore });
    const { id } = await scheduler.addJob(scheduler.task("here", () => {}));
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.outcome).toBe("success");
    expect((await scheduler.getJobs({ taskId: "gone" })).items).toHaveLength(1);
  });

  test("a handler that is registered after the start runs the jobs that waited for it", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const other = setUp({ clock, dataStore });
    other.scheduler.task("t", () => {});
    const { id } = await other.scheduler.addJob("t");
    const { scheduler } = setUp({ clock, dataStore });
    await scheduler.start();
    await clock.advance("PT1S");
    scheduler.task("t", () => "late handler");
    await clock.settle();
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("late handler");
  });

  test("registered again, the newer handler and settings count", async () => {
    const { scheduler } = setUp();
    const seen = recordEvents(scheduler);
    scheduler.task("t", () => "old");
    await scheduler.getTasks();
    const task = scheduler.task("t", { maxRunningJobs: 7 }, () => "new");
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("new");
    expect((await scheduler.getTasks())[0]?.maxRunningJobs).toBe(7);
    expect(seen.slice(0, 2)).toEqual(["taskAdded", "taskUpdated"]);
  });

  test("registered again while it is being saved, the newer settings are saved too", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const putTasks = dataStore.putTasks.bind(dataStore);
    const entered = gate();
    const opened = gate();
    dataStore.putTasks = async (tasks) => {
      entered.pass();
      await opened.passed;
      return putTasks(tasks);
    };
    const { scheduler } = setUp({ clock, dataStore });
    scheduler.task("t", { maxRunningJobs: 1 }, () => {});
    const saving = scheduler.getTasks();
    await entered.passed;
    scheduler.task("t", { maxRunningJobs: 2 }, () => {});
    opened.pass();
    await saving;
    expect((await scheduler.getTasks())[0]?.maxRunningJobs).toBe(2);
  });

  test("registered again unchanged, nothing is told", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.getTasks();
    const seen = recordEvents(scheduler);
    scheduler.task("t", () => {});
    await scheduler.getTasks();
    expect(seen).toEqual([]);
  });

  test("cannot be removed while schedules or unfinished jobs refer to them", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addSchedule(task, everySecond(), { id: "s", paused: true });
    await expect(scheduler.removeTask("t")).rejects.toMatchObject({ code: "conflictingId", id: "t" });
    await scheduler.removeSchedule("s");
    const { id } = await scheduler.addJob(task);
    await expect(scheduler.removeTask("t")).rejects.toMatchObject({ code: "conflictingId" });
    await scheduler.cancelJob(id);
    await scheduler.removeTask("t");
    await expect(scheduler.removeTask("t")).rejects.toMatchObject({ code: "taskLookup" });
  });

  test("once removed are unknown until they are registered again", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.removeTask("t");
    await expect(scheduler.addJob(task)).rejects.toMatchObject({ code: "taskLookup" });
    await expect(scheduler.addSchedule("t", everySecond())).rejects.toMatchObject({ code: "taskLookup" });
    scheduler.task("t", () => {});
    expect((await scheduler.addJob("t")).taskId).toBe("t");
  });

  test("a job on an executor that this scheduler lacks waits for one that has it", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addJob(task, { executor: "threads" });
    expect((await scheduler.tick()).jobsRun).toBe(0);
    await scheduler.addJob(task);
    expect((await scheduler.tick()).jobsRun).toBe(1);
  });
});
