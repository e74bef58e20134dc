import { describe, expect, test } from "vitest";
import {
  JobCancelledError,
  MemoryDataStore,
  OptionsError,
  StoreRefusedError,
  StoreUnavailableError,
  type Task,
} from "../../src/mod.ts";
import { at, everySecond, heldHandler, recordEvents, rejectionOf, secondsOf, setUp } from "./support.ts";

async function idOf(job: Promise<{ readonly id: string }>): Promise<string> {
  return (await job).id;
}

describe("a job after another", () => {
  test("is blocked until the other has ended, and reads its result", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const load = scheduler.task("load", handler);
    const report = scheduler.task("report", async (_payload, { getParentResults }) => {
      const [result] = await getParentResults();
      return `report of ${result?.returnValue}`;
    });
    await scheduler.start();
    const parent = await scheduler.addJob(load);
    const child = await scheduler.addJob(report, { after: [parent] });
    expect([child.state, child.blockedBy, child.after, child.onParentFailure]).toEqual([
      "blocked",
      "parents",
      [parent.id],
      "cancel",
    ]);
    expect(child.toJSON()).toMatchObject({ after: [parent.id], onParentFailure: "cancel", blockedBy: "parents" });
    expect([parent.after, parent.onParentFailure]).toEqual([[], null]);
    await clock.advance("PT1M");
    expect((await child.refresh()).state).toBe("blocked");
    held[0]?.finish("numbers");
    await clock.advance("PT1S");
    expect(await child.wait()).toBe("report of numbers");
  });

  test("takes jobs, results and ids, and reads the results in their order", async () => {
    const { scheduler, clock } = setUp({ taskDefaults: { maxRunningJobs: null } });
    const echo = scheduler.task("echo", (value: number) => value);
    const brief = scheduler.task("brief", { resultExpirationTime: "1s" }, () => "soon gone");
    const read: unknown[] = [];
    const sum = scheduler.task("sum", async (_payload, context) => {
      for (const result of await context.getParentResults()) read.push(result?.returnValue ?? null);
    });
    await scheduler.start();
    const first = await scheduler.addJob(echo, { payload: 1 });
    await first.wait();
    const result = await first.result();
    const second = await scheduler.addJob(echo, { payload: 2, runAt: at(1) });
    const third = await scheduler.addJob(echo, { payload: 3, runAt: at(5) });
    const gone = await scheduler.addJob(brief);
    const after = [third, gone, ...(result === null ? [] : [result]), second.id, third];
    const job = await scheduler.addJob(sum, { after, runAt: at(10) });
    expect(job.after).toEqual([third.id, gone.id, first.id, second.id]);
    await clock.advance("PT20S");
    expect(read).toEqual([3, null, 1, 2]);
  });

  test("of a job without parents has none to read", async () => {
    const { scheduler } = setUp();
    const alone = scheduler.task("alone", (_payload, { getParentResults }) => getParentResults());
    await scheduler.start();
    expect(await scheduler.runJob(alone)).toEqual([]);
  });

  test("is told of by events: blocked, and then no longer", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const load = scheduler.task("load", handler);
    const report = scheduler.task("report", () => "done");
    await scheduler.start();
    const parent = await scheduler.addJob(load);
    await clock.advance("PT1S");
    const told: unknown[] = [];
    scheduler.subscribe("jobBlocked", ({ jobId, reason }) => told.push(["blocked", jobId, reason]));
    scheduler.subscribe("jobAdmitted", ({ jobId, isLeased }) => told.push(["admitted", jobId, isLeased]));
    const types = recordEvents(scheduler);
    const child = await scheduler.addJob(report, { after: [parent] });
    held[0]?.finish("done");
    await clock.advance("PT1S");
    expect(told).toEqual([
      ["blocked", child.id, "parents"],
      ["admitted", child.id, true],
    ]);
    expect(types).toEqual([
      ...["jobAdded", "jobBlocked", "jobReleased success", "jobAdmitted", "jobAcquired 1"],
      "jobReleased success",
    ]);
  });

  test("waits for a retry of the other, and for its own time", async () => {
    const { scheduler, clock } = setUp();
    let calls = 0;
    const retry = { maxAttempts: 2, backoff: { initial: { seconds: 5 }, jitter: "none" } } as const;
    const load = scheduler.task("load", { retry }, () => {
      if (++calls === 1) throw new Error("not yet");
    });
    const starts: (number | null)[] = [];
    const report = scheduler.task("report", () => starts.push(secondsOf(clock.instant)));
    await scheduler.start();
    const parent = await scheduler.addJob(load);
    await scheduler.addJob(report, { after: [parent] });
    await scheduler.addJob(report, { after: [parent], runAt: at(60) });
    await clock.advance("PT2M");
    expect(starts).toEqual([5, 60]);
  });
});

describe("a failure", () => {
  test("cancels what comes after, and is logged once; onParentFailure runs it all the same", async () => {
    const { scheduler, clock, log } = setUp();
    const fail = scheduler.task("fail", () => {
      throw new Error("out of paper");
    });
    const next = scheduler.task("next", async (_payload, { getParentResults }) => {
      return (await getParentResults()).map((result) => result?.outcome);
    });
    await scheduler.start();
    scheduler.pause();
    const parent = await scheduler.addJob(fail);
    const child = await scheduler.addJob(next, { after: [parent] });
    const grandchild = await scheduler.addJob(next, { after: [child] });
    const runs = await scheduler.addJob(next, { after: [parent, child], onParentFailure: "run" });
    const waiting = grandchild.wait();
    const error = rejectionOf(waiting);
    scheduler.resume();
    await clock.advance("PT1S");
    expect(await error).toBeInstanceOf(JobCancelledError);
    expect((await child.result())?.outcome).toBe("cancelled");
    expect(await runs.wait()).toEqual(["error", "cancelled"]);
    const warnings = log.filter(({ message }) => message.includes("a job before it"));
    expect(warnings.map(({ level, message }) => [level, message])).toEqual([
      [
        "warn",
        `escapement: job ${child.id} of task "next" and 1 more were cancelled, because a job before it did not ` +
          "succeed (see onParentFailure)",
      ],
    ]);
  });

  test("of a job that is cancelled tells those who wait for what comes after it", async () => {
    const { scheduler, clock, log } = setUp();
    const task = scheduler.task("task", () => "done");
    await scheduler.start();
    const parent = await scheduler.addJob(task, { runAt: at(60) });
    const child = await scheduler.addJob(task, { after: [parent] });
    const types = recordEvents(scheduler);
    const error = rejectionOf(child.wait());
    await clock.advance("PT1S");
    expect(await parent.cancel()).toBe("delivered");
    await clock.advance("PT0S");
    expect(await error).toBeInstanceOf(JobCancelledError);
    expect(types).toEqual(["jobReleased cancelled", "jobReleased cancelled"]);
    expect(log.filter(({ level }) => level === "warn").map(({ message }) => message)).toEqual([
      `escapement: job ${child.id} of task "task" was cancelled, because a job before it did not succeed (see onParentFailure)`,
    ]);
  });

  test("is no reason that the log names for a job that somebody cancels before it runs", async () => {
    const { scheduler, log } = setUp();
    const limited = scheduler.task("limited", { concurrencyKey: () => "a", maxRunningPerKey: 1 }, () => {});
    const plain = scheduler.task("plain", () => {});
    await scheduler.addJobs([limited, plain].map((task) => ({ task, payload: undefined })));
    await scheduler.addJob(plain, { after: [await scheduler.addJob(plain, { runAt: at(60) })] });
    const held = (await scheduler.getJobs()).items.filter(({ blockedBy }) => blockedBy === "parents");
    expect(await held[0]?.cancel()).toBe("delivered");
    expect(await scheduler.cancelJobs({ all: true })).toMatchObject({ cancelled: 3 });
    expect(log.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("of a job that is cancelled lets others run at once that are to run all the same", async () => {
    const { scheduler, clock } = setUp();
    const starts: (number | null)[] = [];
    const task = scheduler.task("task", () => starts.push(secondsOf(clock.instant)));
    await scheduler.start();
    const parent = await scheduler.addJob(task, { runAt: at(3600) });
    await scheduler.addJob(task, { after: [parent], onParentFailure: "run" });
    await clock.advance("PT1M");
    await parent.cancel();
    await clock.advance("PT0S");
    expect(starts).toEqual([60]);
  });

  test("that lies in the past cancels a job as soon as it is added", async () => {
    const { scheduler, clock } = setUp();
    const fail = scheduler.task("fail", () => Promise.reject(new Error("no")));
    const next = scheduler.task("next", { resultExpirationTime: { seconds: 0 } }, () => "done");
    await scheduler.start();
    const parent = await scheduler.addJob(fail);
    await clock.advance("PT1S");
    const types = recordEvents(scheduler);
    expect(await rejectionOf(scheduler.runJob(next, { after: [parent] }))).toBeInstanceOf(JobCancelledError);
    expect(types).toEqual(["jobAdded", "jobReleased cancelled"]);
    expect(await scheduler.runJob(next, { after: [parent], onParentFailure: "run" })).toBe("done");
  });

  test("that lies in the past tells of all jobs of the call, even if the store then fails", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock, log } = setUp({ dataStore });
    const fail = scheduler.task("fail", () => Promise.reject(new Error("no")));
    const next = scheduler.task("next", () => "done");
    await scheduler.start();
    const parent = await scheduler.addJob(fail);
    await clock.advance("PT1S");
    const types = recordEvents(scheduler);
    const down = () => Promise.reject(new StoreUnavailableError("the store is down"));
    Object.defineProperty(dataStore, "getJobResult", { value: down, configurable: true });
    const [first, second] = await scheduler.addJobs([
      { task: next, after: [parent] },
      { task: next, after: [parent], onParentFailure: "run" },
    ]);
    expect(types.slice(0, 3)).toEqual(["jobAdded", "jobAdded", "jobReleased cancelled"]);
    Reflect.deleteProperty(dataStore, "getJobResult");
    await clock.advance("PT1S");
    const results = await Promise.all([first, second].map((job) => job?.result()));
    expect(results.map((result) => result?.outcome)).toEqual(["cancelled", "success"]);
    expect(log.filter(({ message }) => message.includes("could not be read")).length).toBe(1);
  });

  test("is repaired by retryJob: the job that is repeated reads the results of the same parents", async () => {
    const { scheduler, clock } = setUp();
    let isBroken = true;
    const load = scheduler.task("load", () => "numbers");
    const report = scheduler.task("report", async (_payload, { getParentResults }) => {
      if (isBroken) throw new Error("broken");
      return (await getParentResults()).map((result) => result?.returnValue ?? null);
    });
    await scheduler.start();
    const parent = await scheduler.addJob(load);
    const child = await scheduler.addJob(report, { after: [parent] });
    await clock.advance("PT1S");
    isBroken = false;
    const again = await scheduler.retryJob(child.id);
    expect(await again.wait()).toEqual(["numbers"]);
    await scheduler.removeJobResults({ taskId: "load" });
    isBroken = true;
    const other = await scheduler.addJob(report, { after: [again] });
    await rejectionOf(other.wait());
    isBroken = false;
    await scheduler.removeJobResults({ outcome: "success" });
    expect(await (await scheduler.retryJob(other.id)).wait()).toEqual([null]);
  });
});

describe("a batch", () => {
  test("runs its jobs, and then the one after them", async () => {
    const { scheduler, clock } = setUp({ taskDefaults: { maxRunningJobs: null } });
    const count = scheduler.task("count", (region: string) => region.length);
    const total = scheduler.task("total", async (title: string, { getParentResults }) => {
      const counts = (await getParentResults()).map((result) => Number(result?.returnValue));
      return `${title}: ${counts.reduce((sum, each) => sum + each, 0)}`;
    });
    await scheduler.start();
    const parts = ["north", "south", "east"].map((payload) => ({ task: count, payload }));
    const { jobs, then } = await scheduler.addBatch(parts, { then: { task: total, payload: "letters" } });
    expect([jobs.length, then.after]).toEqual([3, jobs.map(({ id }) => id)]);
    await clock.advance("PT1S");
    const text: string = await then.wait();
    expect(text).toBe("letters: 14");
  });

  test("of a thousand jobs, with a failure among them", async () => {
    const { scheduler, clock } = setUp({ taskDefaults: { maxRunningJobs: null } });
    const work = scheduler.task("work", (index: number) => {
      if (index === 500) throw new Error("the one");
      return index;
    });
    const total = scheduler.task("total", async (_payload, { getParentResults }) => {
      return (await getParentResults()).filter((result) => result?.outcome === "success").length;
    });
    await scheduler.start();
    const parts = Array.from({ length: 1000 }, (_, payload) => ({ task: work, payload }));
    const { then } = await scheduler.addBatch(parts, { then: { task: total, onParentFailure: "run" } });
    await clock.advance("PT1M");
    expect(await then.wait()).toBe(999);
  });

  test("may have more parents, and takes other jobs for those that have a key", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const slow = scheduler.task("slow", handler);
    const quick = scheduler.task("quick", () => "quick");
    const last = scheduler.task("last", async (_payload, { getParentResults }) => {
      return (await getParentResults()).map((result) => result?.returnValue);
    });
    await scheduler.start();
    const running = await scheduler.addJob(slow, { idempotencyKey: "one" });
    const before = await scheduler.addJob(quick);
    await clock.advance("PT1S");
    const parts = [{ task: slow, idempotencyKey: "one" }, { task: quick }] as const;
    const { jobs, then } = await scheduler.addBatch(parts, { then: { task: last, after: [before] } });
    expect(jobs[0].id).toBe(running.id);
    expect(then.after).toEqual([before.id, running.id, jobs[1].id]);
    held[0]?.finish("slow");
    await clock.advance("PT1S");
    expect(await then.wait()).toEqual(["quick", "slow", "quick"]);
  });
});

describe("parents that cannot be", () => {
  test("are refused: unknown ones, and nothing is added", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("task", { resultExpirationTime: { seconds: 0 } }, () => "done");
    await scheduler.start();
    const ended = await scheduler.addJob(task);
    await ended.wait();
    for (const after of [["nobody"], [ended]]) {
      const error = await rejectionOf(scheduler.addJob(task, { after }));
      expect(error).toBeInstanceOf(StoreRefusedError);
      expect(String(error)).toContain("`after` names jobs that the store does not know");
    }
    const batch = scheduler.addBatch([{ task }], { then: { task, after: ["nobody"] } });
    expect(await rejectionOf(batch)).toBeInstanceOf(StoreRefusedError);
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("are explained", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("task", () => "done");
    const job = await scheduler.addJob(task);
    const schedule = await scheduler.addSchedule(task, everySecond());
    const many = Array.from({ length: 1001 }, (_, index) => `job ${index}`);
    const untyped = scheduler as unknown as {
      addJob(task: Task, options: unknown): Promise<unknown>;
      addJobs(jobs: unknown): Promise<unknown>;
      addBatch(jobs: unknown, options?: unknown): Promise<unknown>;
    };
    const noThen =
      "write { then: { task } } for the job that comes after all others; addJobs(jobs) adds jobs without such a job";
    const takes = "addBatch() takes an object with then, the job that comes after all others";
    const noOptions = `${takes}; got undefined: ${noThen}`;
    const mistakes: [call: () => Promise<unknown>, message: string][] = [
      [() => untyped.addJob(task, { after: job }), "write a list: { after: [job] }"],
      [() => untyped.addJob(task, { after: job.id }), "write a list: { after: [job] }"],
      [() => untyped.addJob(task, { after: idOf(scheduler.addJob(task)) }), "await the job first"],
      [() => untyped.addJob(task, { after: [] }), "must name a job at least; leave it out for none"],
      [() => untyped.addJob(task, { after: [scheduler.addJob(task)] }), "await it first"],
      [() => untyped.addJob(task, { after: [[job]] }), "write one list: { after: [...jobs] }"],
      [() => untyped.addJob(task, { after: [job, task] }), "at 1 must be a job or the id of one"],
      [() => untyped.addJob(task, { after: [task] }), "and not after a task"],
      [() => untyped.addJob(task, { after: [schedule] }), "and not after a schedule"],
      [() => untyped.addJob(task, { after: [""] }), "must be a job or the id of one"],
      [() => untyped.addJob(task, { after: many }), "must name at most 1000 jobs; got 1001"],
      [() => untyped.addJob(task, { onParentFailure: "run" }), "goes with `after`"],
      [() => untyped.addJob(task, { after: [job], onParentFailure: "retry" }), 'must be "cancel" or "run"'],
      [() => untyped.addJob(task, { dependsOn: [job] }), "after"],
      [() => untyped.addJobs([{ task, onParentFailure: "run" }]), "addJobs()[0]"],
      [() => untyped.addBatch([], { then: { task } }), "a list of 1 to 1000 jobs"],
      [() => untyped.addBatch([{ task }]), noOptions],
      [() => untyped.addBatch([{ task }], {}), `addBatch(): then is missing: ${noThen}`],
      [() => untyped.addBatch([{ task }], { then: undefined }), `addBatch(): then is missing: ${noThen}`],
      [() => untyped.addBatch([{ task }], { task }), "write { then: { task, ... } }"],
      [() => untyped.addBatch([{ task }], { then: task }), "write { then: { task } }"],
      [() => untyped.addBatch([{ task }], { then: { task, after: many.slice(1) } }), "at most 999 jobs besides"],
      [() => untyped.addBatch([{ task, onParentFailure: "run" }], { then: { task } }), "addBatch()[0]"],
    ];
    for (const [call, message] of mistakes) {
      const error = await rejectionOf(call());
      expect(error).toBeInstanceOf(OptionsError);
      expect(String(error)).toContain(message);
    }
  });
});
