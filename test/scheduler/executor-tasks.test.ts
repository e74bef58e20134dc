import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTasks, InlineExecutor, MemoryDataStore, type Scheduler } from "../../src/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { OwnHandlers } from "./own-handlers.ts";
import { rejectionOf, setUp } from "./support.ts";

/** Runs `thumb` and `mail`, and says so. */
function threads(): OwnHandlers {
  return new OwnHandlers({
    thumb: ({ payload }) => `thumb of ${JSON.stringify(payload)}`,
    mail: ({ payload }) => `mail to ${JSON.stringify(payload)}`,
  });
}

const file = v.object({ file: v.pipe(v.string(), v.toUpperCase()) });

async function resultOf(scheduler: Scheduler, taskId: string, payload: unknown): Promise<unknown> {
  const { id } = await scheduler.addJob(taskId, { payload });
  await drain(scheduler);
  const result = await scheduler.getJobResult(id);
  return result?.outcome === "success" ? result.returnValue : result?.error?.message;
}

describe("a task without a handler here", () => {
  test("runs in the executor that has its handler, with the payload that its schema returned here", async () => {
    const { scheduler } = setUp({ executors: { threads: threads() } });
    const thumb = scheduler.task("thumb", { executor: "threads", schema: file });
    const job = await scheduler.addJob(thumb, { payload: { file: "a.png" } });
    expect(await rejectionOf(scheduler.addJob("thumb", { payload: { file: 5 } }))).toMatchObject({ code: "payload" });
    await drain(scheduler);
    expect((await job.result())?.returnValue).toBe('thumb of {"file":"A.PNG"}');
  });

  test("may come from use(), beside tasks that have one", async () => {
    const { scheduler } = setUp({ executors: { threads: threads() } });
    const tasks = defineTasks({ thumb: { schema: file }, mail: { handler: (_to: string) => "never called" } });
    scheduler.use(tasks, { executor: "threads" });
    expect(await resultOf(scheduler, "thumb", { file: "b.png" })).toBe('thumb of {"file":"B.PNG"}');
    expect(await resultOf(scheduler, "mail", "Ada")).toBe('mail to "Ada"');
  });

  test("comes from use() too when its own settings, or the defaults, name the executor", async () => {
    const tasks = defineTasks({ thumb: { settings: { executor: "threads" } }, mail: {}, other: {} });
    const { scheduler } = setUp({ executors: { threads: threads() } });
    scheduler.use(tasks);
    expect((await scheduler.getTasks()).map(({ id }) => id)).toEqual(["thumb"]);
    const defaults = setUp({ executors: { threads: threads() }, taskDefaults: { executor: "threads" } });
    defaults.scheduler.use({ thumb: tasks.thumb, mail: tasks.mail });
    expect((await defaults.scheduler.getTasks()).map(({ id }) => id)).toEqual(["mail", "thumb"]);
  });

  test("is left to other programs by use() when the scheduler's own executor is measured", async () => {
    const { scheduler } = setUp(new Metrics().watch({ dataStore: new MemoryDataStore() }));
    scheduler.use(defineTasks({ mail: {}, tidy: { handler: () => "tidied" } }));
    expect(await resultOf(scheduler, "tidy", undefined)).toBe("tidied");
  });

  test("is left to other programs by use() when its executor is theirs", async () => {
    const tasks = defineTasks({ thumb: { settings: { executor: "theirs" } }, tidy: { handler: () => "tidied" } });
    const { scheduler } = setUp();
    scheduler.use(tasks);
    expect(await resultOf(scheduler, "tidy", undefined)).toBe("tidied");
    expect((await scheduler.getTasks()).map(({ id }) => id)).toEqual(["tidy"]);
  });

  test("counts among the tasks that a scheduler runs", async () => {
    const { scheduler } = setUp({ executors: { threads: threads() } });
    scheduler.task("thumb", { executor: "threads" });
    await scheduler.start();
    expect((await scheduler.health()).schedulers.map(({ tasks }) => tasks)).toEqual([["thumb"]]);
  });

  test("has jobs that are due before the executors were ever opened", async () => {
    const { scheduler, clock } = setUp({ executors: { threads: threads() } });
    await scheduler.addJob(scheduler.task("thumb", { executor: "threads" }), { payload: 1 });
    expect((await scheduler.nextWakeAt())?.epochMilliseconds).toBe(clock.now());
  });

  test("is run again after a restart", async () => {
    const { scheduler } = setUp({ executors: { threads: threads() } });
    scheduler.task("thumb", { executor: "threads" });
    await scheduler.start();
    await scheduler.stop();
    await scheduler.start();
    expect(await scheduler.runJob("thumb", { payload: 2 })).toBe("thumb of 2");
  });
});

describe("a job", () => {
  test("is left alone by an executor that has no handler for its task", async () => {
    const { scheduler } = setUp({ executors: { threads: threads(), mail: new InlineExecutor() } });
    const tidy = scheduler.task("tidy", () => "tidied");
    const thumb = scheduler.task("thumb", { executor: "threads" });
    const jobs = await scheduler.addJobs([
      { task: tidy, executor: "threads" },
      { task: tidy, executor: "mail" },
      { task: thumb, payload: 1, executor: "mail" },
      { task: thumb, payload: 2 },
    ]);
    await drain(scheduler);
    const values = await Promise.all(jobs.map(async (job) => (await job.result())?.returnValue));
    expect(values).toEqual([undefined, "tidied", undefined, "thumb of 2"]);
  });
});

describe("a scheduler does not start", () => {
  const executors = () => ({ threads: threads(), none: new OwnHandlers({}), mail: new InlineExecutor() });

  test.each<[executor: string, id: string, message: string]>([
    [
      "threads",
      "thump",
      'executor "threads" has no handler for task "thump" (it has "thumb", "mail"); did you mean "thumb"?',
    ],
    [
      "threads",
      "resize",
      'executor "threads" has no handler for task "resize" (it has "thumb", "mail"); register one, or give the task ' +
        "another executor",
    ],
    [
      "none",
      "thumb",
      'executor "none" has no handler for task "thumb"; register one, or give the task another executor',
    ],
    [
      "mail",
      "thumb",
      'executor "mail" has no handler for task "thumb"; register one, or give the task another executor',
    ],
  ])("when executor %j has no handler for task %j, nor does it tick", async (executor, id, message) => {
    const { scheduler } = setUp({ executors: { ...executors(), mail: new Bare() } });
    scheduler.task(id, { executor });
    const failure = { code: "handlerLookup", id, message };
    expect(await rejectionOf(scheduler.start())).toMatchObject(failure);
    expect(await rejectionOf(scheduler.tick())).toMatchObject(failure);
    expect(scheduler.state).toBe("stopped");
  });

  test("when the handler is here, and its executor would never call it", async () => {
    const { scheduler } = setUp({ executors: executors() });
    scheduler.task("resize", { executor: "threads" }, () => {});
    expect(await rejectionOf(scheduler.start())).toMatchObject({ code: "handlerLookup", id: "resize" });
  });

  test("but one that only fires schedules does, and one that has started refuses such a task", async () => {
    const { scheduler } = setUp({ executors: executors(), role: "scheduler" });
    scheduler.task("resize", { executor: "threads" });
    await scheduler.start();
    const started = setUp({ executors: executors() }).scheduler;
    await started.start();
    expect(() => started.task("resize", { executor: "threads" })).toThrow(
      expect.objectContaining({ code: "handlerLookup", id: "resize" }),
    );
  });

  test("and an executor that runs handlers of the scheduler's own thread refuses such a task at once", () => {
    const { scheduler } = setUp({ executors: executors() });
    for (const executor of ["inline", "mail"]) {
      expect(() => scheduler.task("thumb", { executor })).toThrow('task "thumb" needs a handler: task(id, handler)');
    }
  });
});

/** An executor of a user's that runs handlers of this thread. */
class Bare extends OwnHandlers {
  constructor() {
    super({});
  }
  override async open(): Promise<void> {}
}
