import { describe, expect, test } from "vitest";
import { InlineExecutor, Scheduler } from "../../src/mod.ts";
import { SORTED_JOBS_MAX } from "../../src/stores/shared/limits.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, rejectionOf, setUp } from "./support.ts";

describe("a job whose task or executor no scheduler has", () => {
  test("is told of once, a minute after it was due, with what is missing", async () => {
    const { scheduler, clock, log } = setUp();
    scheduler.task("t", () => {});
    const unclaimed: unknown[] = [];
    scheduler.subscribe("jobUnclaimed", ({ taskId, executor, missing, schedulerId }) => {
      unclaimed.push([taskId, executor, missing, schedulerId === scheduler.identity]);
    });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s", executor: "gpu" });
    await scheduler.addJob("t", { executor: "disk", runAt: at(3600) });
    await clock.advance("PT59S");
    expect([unclaimed, log]).toEqual([[], []]);
    await clock.advance("PT10M");
    expect(unclaimed).toEqual([["t", "gpu", "executor", true]]);
    await clock.advance("PT2H");
    expect(unclaimed).toEqual([
      ["t", "gpu", "executor", true],
      ["t", "disk", "executor", true],
    ]);
    const told = log.filter(({ message }) => message.includes("waits for executor"));
    expect(told.map(({ level }) => level)).toEqual(["warn", "warn"]);
    expect(told[0]?.message).toContain('of task "t" waits for executor "gpu" since 2030-01-01T00:00:00Z');
  });

  test("is told of where a handler is missing, and where no scheduler runs jobs", async () => {
    const { scheduler: client, clock, store } = setUp();
    client.task("gone", () => {});
    await client.addSchedule("gone", everySecond(), { id: "s" });
    const { scheduler, log } = setUp({ clock, dataStore: store, role: "scheduler", identity: "fires" });
    const { scheduler: worker, log: workerLog } = setUp({
      clock,
      dataStore: store,
      role: "worker",
      identity: "works",
    });
    const unclaimed: string[] = [];
    client.subscribe("jobUnclaimed", ({ missing }) => unclaimed.push(missing));
    await scheduler.start();
    await worker.start();
    await clock.advance("PT3M");
    // The schedule piles up, too.
    const told = log.filter(({ message }) => message.includes("waits for executor"));
    expect([unclaimed.sort(), told.length, workerLog.length]).toEqual([["task", "worker"], 1, 1]);
  });

  test("is told of at the start where it was stored before, and again a minute later", async () => {
    const { scheduler: client, clock, store } = setUp();
    for (const task of ["mail", "later", "ok", "paused", "elsewhere"]) client.task(task, () => {});
    const { id } = await client.addJob("mail");
    await client.addJob("mail");
    await client.addJob("later", { runAt: at(600) });
    for (const task of ["ok", "paused", "elsewhere"]) await client.addJob(task);
    await client.pauseTask("paused");
    const { scheduler: other } = setUp({ clock, dataStore: store, identity: "other", maxConcurrentJobs: 1 });
    other.task("elsewhere", () => {});
    await other.start();
    await clock.advance("PT1S");
    const { scheduler, log } = setUp({ clock, dataStore: store, identity: "works" });
    scheduler.task("ok", () => {});
    const unclaimed: string[] = [];
    scheduler.subscribe("jobUnclaimed", ({ taskId, schedulerId }) => {
      if (schedulerId === "works") unclaimed.push(taskId);
    });
    await scheduler.start();
    await clock.advance("PT1S");
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      [
        "warn",
        `escapement: job ${id} of task "mail" waits for executor "inline" since 2030-01-01T00:00:00Z, and no scheduler has ` +
          'taken it; this one has no handler for it; register one where it is to run: scheduler.task("mail", handler)',
      ],
    ]);
    await clock.advance("PT2M");
    expect(unclaimed).toEqual(["mail"]);
    await clock.advance("PT15M");
    expect(unclaimed).toEqual(["mail", "later"]);
  });

  test("is told of at the start where more jobs are due than a list sorts", async () => {
    const { scheduler: client, clock, store } = setUp();
    for (const task of ["burst", "gone"]) client.task(task, () => {});
    await client.addJobs(Array.from({ length: SORTED_JOBS_MAX }, () => ({ task: "burst" })));
    await client.addJob("gone");
    const { scheduler, log } = setUp({ clock, dataStore: store, identity: "other" });
    scheduler.task("burst", () => {});
    await scheduler.start();
    await clock.advance("PT1S");
    expect(log.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      expect.stringMatching(/of task "gone" waits for executor "inline" since .*, and no scheduler has taken it/),
    ]);
  });

  test("is told of at the start where a job has an executor of its own that nobody has", async () => {
    const { scheduler: client, clock, store } = setUp({ executors: { gpu: new InlineExecutor() } });
    for (const task of ["mail", "ok"]) client.task(task, () => {});
    await client.addJob("mail");
    const { id } = await client.addJob("mail", { executor: "gpu", runAt: at(1) });
    await client.addJob("mail", { executor: "gpu", runAt: at(2) });
    await client.addJob("ok", { executor: "gpu", runAt: at(600) });
    await clock.advance("PT1M");
    const { scheduler, log } = setUp({ clock, dataStore: store, identity: "works" });
    for (const task of ["mail", "ok"]) scheduler.task(task, () => {});
    const unclaimed: unknown[] = [];
    scheduler.subscribe("jobUnclaimed", ({ taskId, missing }) => void unclaimed.push([taskId, missing]));
    await scheduler.start();
    await clock.advance("PT1S");
    expect(log.map(({ message }) => message)).toEqual([
      `escapement: job ${id} of task "mail" waits for executor "gpu" since 2030-01-01T00:00:01Z, and no scheduler has ` +
        'taken it; this one has "inline"; pass the executor where it is to run: new Scheduler({ executors })',
    ]);
    await clock.advance("PT2M");
    expect(unclaimed).toEqual([["mail", "executor"]]);
  });

  test("is told of by ticks, too", async () => {
    const { scheduler, clock, log } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", executor: "gpu" });
    await scheduler.tick();
    await clock.advance("PT2M");
    expect(log).toEqual([]);
    await scheduler.tick();
    await scheduler.tick();
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
  });

  test("is not told of while another scheduler takes such jobs", async () => {
    const { scheduler, clock, store, log } = setUp();
    scheduler.task("t", () => {});
    const executors = { gpu: new InlineExecutor() };
    const { scheduler: other } = setUp({ clock, dataStore: store, executors, identity: "other" });
    let ran = 0;
    other.task("t", { executor: "gpu" }, () => {
      ran++;
    });
    await scheduler.start();
    await other.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s", executor: "gpu" });
    await clock.advance("PT5M");
    expect([ran, log]).toEqual([301, []]);
  });
});

describe("a task whose executor is missing", () => {
  const message =
    'task "t": executor must be the name of an executor that this scheduler has ("inline"); got "gpu": ' +
    "pass it: new Scheduler({ executors: { name: executor } })";

  test("is refused by a worker at once, and by others when they begin to run jobs", async () => {
    const { scheduler: worker } = setUp({ role: "worker" });
    expect(() => worker.task("t", { executor: "gpu" }, () => {})).toThrow(message);
    const { scheduler } = setUp();
    scheduler.task("t", { executor: "gpu" }, () => {});
    expect([await rejectionOf(scheduler.start()), await rejectionOf(scheduler.tick())]).toMatchObject([
      { code: "options", message },
      { code: "options", message },
    ]);
    const { scheduler: started } = setUp();
    await started.start();
    expect(() => started.task("t", { executor: "inlin" }, () => {})).toThrow('did you mean "inline"?');
    started.task("t", () => {});
  });

  test("is refused neither by a client, nor by a scheduler that runs no jobs", async () => {
    const { scheduler: client, clock, store } = setUp();
    const task = client.task("t", { executor: "gpu" }, () => "done");
    const { id } = await client.addJob(task);
    const { scheduler } = setUp({ clock, dataStore: store, role: "scheduler" });
    scheduler.task("t", { executor: "gpu" }, () => {});
    await scheduler.start();
    const { scheduler: worker } = setUp({ clock, dataStore: store, executors: { gpu: new InlineExecutor() } });
    worker.task("t", { executor: "gpu" }, () => "done");
    await drain(worker);
    expect(await client.getJobResult(id)).toMatchObject({ returnValue: "done" });
  });
});

describe("options that slipped through", () => {
  test("executors in a list are refused", () => {
    expect(() => new Scheduler({ executors: [] as never })).toThrow(
      "executors must be an object of executors by name; got a list of 0: " +
        "give each a name, by which tasks choose it: { executors: { name: executor } }",
    );
  });

  test("unknown options of subscribe(), nextEvent() and events() are refused", async () => {
    const { scheduler } = setUp();
    expect(() => scheduler.subscribe(null, () => {}, { onec: true } as never)).toThrow(
      'subscribe(): onec is no option; did you mean "once"?',
    );
    expect(() => scheduler.subscribe(null, () => {}, true as never)).toThrow("write { once: true }");
    expect(() => scheduler.events(null, new AbortController().signal as never)).toThrow("pass it as { signal }");
    const error = await rejectionOf(scheduler.nextEvent(null, { sginal: 1 } as never));
    expect(error).toMatchObject({ code: "options", issues: [{ path: "sginal", suggestion: "signal" }] });
  });

  test("addSchedule() with its arguments in the wrong order says so", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    for (const given of [task, "t", () => {}]) {
      const error = await rejectionOf(scheduler.addSchedule(everySecond() as never, given as never));
      expect((error as Error).message).toContain("the task comes first, then the trigger");
    }
  });
});
