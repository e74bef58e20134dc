import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { Scheduler, TaskLookupError } from "../../src/mod.ts";
import { at, everySecond, heldHandler, recordEvents, rejectionOf, secondsOf, setUp } from "./support.ts";

const byKey = { concurrencyKey: (key: string) => key };
const perKey = { ...byKey, maxRunningPerKey: 1 };

/** The ids of jobs by their states, as the store has them. */
async function statesOf(scheduler: Scheduler, ids: readonly string[]): Promise<string[]> {
  return Promise.all(ids.map(async (id) => (await scheduler.getJob(id)).state));
}

describe("a limit per key", () => {
  test("holds the jobs beyond it, and lets the next one start when one ends", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const sync = scheduler.task("sync", perKey, (key: string, context) => handler(key, context));
    await scheduler.start();
    const jobs = await scheduler.addJobs(["a", "a", "b"].map((payload) => ({ task: sync, payload })));
    const ids = jobs.map(({ id }) => id);
    await clock.advance("PT1S");
    expect(await statesOf(scheduler, ids)).toEqual(["running", "blocked", "running"]);
    const waiting = await scheduler.getJob(ids[1] ?? "");
    expect([waiting.blockedBy, waiting.concurrencyKey, waiting.toJSON().state]).toEqual(["limit", "a", "blocked"]);
    held[0]?.finish("done");
    await clock.advance("PT1S");
    expect(held.map(({ context }) => context.job.id)).toEqual([ids[0], ids[2], ids[1]]);
  });

  test("is told of by events, after the job's addition and before its start", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const sync = scheduler.task("sync", perKey, (key: string, context) => handler(key, context));
    await scheduler.start();
    await scheduler.addJob(sync, { payload: "a" });
    await clock.advance("PT1S");
    const told: unknown[] = [];
    scheduler.subscribe("jobBlocked", ({ jobId, taskId, scheduleId, reason, concurrencyKey }) => {
      told.push(["blocked", jobId, taskId, scheduleId, reason, concurrencyKey]);
    });
    scheduler.subscribe("jobAdmitted", ({ jobId, taskId, scheduleId, concurrencyKey, isLeased, schedulerId }) => {
      told.push(["admitted", jobId, taskId, scheduleId, concurrencyKey, isLeased, schedulerId === scheduler.identity]);
    });
    const types = recordEvents(scheduler);
    const { id } = await scheduler.addJob(sync, { payload: "a" });
    await clock.advance("PT1S");
    held[0]?.finish("done");
    await clock.advance("PT1S");
    expect(told).toEqual([
      ["blocked", id, "sync", null, "limit", "a"],
      ["admitted", id, "sync", null, "a", true, true],
    ]);
    expect(types).toEqual(["jobAdded", "jobBlocked", "jobReleased success", "jobAdmitted", "jobAcquired 1"]);
  });

  test("lets another scheduler start at once what the one that admitted it has no room for", async () => {
    const { scheduler, clock, store } = setUp({ identity: "one", maxConcurrentJobs: 1 });
    const { scheduler: other } = setUp({ clock, dataStore: store, identity: "other" });
    const { handler, held } = heldHandler();
    for (const each of [scheduler, other]) each.task("sync", { maxRunningPerKey: 1 }, handler);
    scheduler.task("first", handler);
    await scheduler.start();
    await scheduler.addJob("sync", { concurrencyKey: "a" });
    await clock.advance("PT1S");
    await other.start();
    await scheduler.addJobs([
      { task: "sync", concurrencyKey: "a" },
      { task: "first", priority: 1 },
    ]);
    await clock.advance("PT1S");
    held[0]?.finish("done");
    await clock.advance({ milliseconds: 1 });
    expect(held.map(({ context: { job } }) => [job.taskId, job.acquiredBy])).toEqual([
      ["sync", "one"],
      ["first", "one"],
      ["sync", "other"],
    ]);
  });

  test("counts at once when it is raised", async () => {
    const { scheduler, clock, store } = setUp();
    const { scheduler: next } = setUp({ clock, dataStore: store, role: "scheduler" });
    const { handler, held } = heldHandler();
    scheduler.task("sync", { maxRunningPerKey: 1 }, handler);
    await scheduler.start();
    await scheduler.addJobs(["a", "a", "a"].map((concurrencyKey) => ({ task: "sync", concurrencyKey })));
    await clock.advance("PT1S");
    const before = held.length;
    next.task("sync", { maxRunningPerKey: 2 }, handler);
    await next.getTasks();
    await clock.advance({ milliseconds: 1 });
    expect([before, held.length]).toEqual([1, 2]);
  });

  test("holds a job that is retried until it is its turn again", async () => {
    const { scheduler, clock } = setUp({ logLevel: "silent" });
    const order: string[] = [];
    const retry = { maxAttempts: 2, backoff: { initial: { seconds: 5 }, jitter: "none" as const } };
    const sync = scheduler.task("sync", { ...byKey, maxRunningPerKey: 1, retry }, (_key: string, { job, attempt }) => {
      order.push(`${job.priority} ${attempt}`);
      if (attempt === 1 && job.priority === 1) throw new Error("once");
    });
    await scheduler.start();
    await scheduler.addJobs([1, 0].map((priority) => ({ task: sync, payload: "a", priority })));
    await clock.advance("PT10S");
    expect(order).toEqual(["1 1", "0 1", "1 2"]);
  });

  test("counts for the jobs of schedules", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const sync = scheduler.task("sync", perKey, (key: string, context) => handler(key, context));
    await scheduler.start();
    await scheduler.addSchedule(sync, everySecond(), { payload: "a", coalesce: "all" });
    await clock.advance("PT3S");
    expect(held.map(({ context }) => context.job.concurrencyKey)).toEqual(["a"]);
    const { backlog } = await scheduler.health();
    expect(backlog).toEqual([
      { taskId: "sync", waiting: { count: 3, isCapped: false }, blocked: { count: 3, isCapped: false }, running: 1 },
    ]);
  });
});

describe("a rate", () => {
  test("spreads the starts, which the loop knows before", async () => {
    const { scheduler, clock } = setUp();
    const starts: (number | null)[] = [];
    const mail = scheduler.task("mail", { rateLimit: { limit: 2, per: "1s" } }, () => {
      starts.push((clock.now() - at(0).epochMilliseconds) / 1000);
    });
    await scheduler.start();
    await scheduler.addJobs([{ task: mail }, { task: mail }, { task: mail }, { task: mail }]);
    await clock.advance("PT3S");
    expect(starts).toEqual([0, 0.5, 1, 1.5]);
  });

  test("lets a burst start at once", async () => {
    const { scheduler, clock } = setUp();
    const starts: (number | null)[] = [];
    const rateLimit = { limit: 2, per: "1s", burst: 3 };
    const mail = scheduler.task("mail", { rateLimit, maxRunningJobs: null }, () => {
      starts.push((clock.now() - at(0).epochMilliseconds) / 1000);
    });
    await scheduler.start();
    await scheduler.addJobs([{ task: mail }, { task: mail }, { task: mail }, { task: mail }]);
    await clock.advance("PT3S");
    expect(starts).toEqual([0, 0, 0, 0.5]);
  });

  test("is known to ticks: they say when the next token comes", async () => {
    const { scheduler, clock } = setUp();
    const mail = scheduler.task("mail", { rateLimit: { limit: 1, per: "10s" } }, () => {});
    await scheduler.addJobs([{ task: mail }, { task: mail }]);
    const first = await scheduler.tick();
    expect([first.jobsRun, first.exhausted, secondsOf(first.nextWakeAt)]).toEqual([1, false, 10]);
    await clock.advance("PT10S");
    const second = await scheduler.tick();
    expect([second.jobsRun, second.exhausted, second.nextWakeAt]).toEqual([1, false, null]);
  });

  test("holds for each key", async () => {
    const { scheduler } = setUp();
    const ran: string[] = [];
    const settings = { ...byKey, rateLimit: { limit: 1, per: "10s" }, maxRunningJobs: null };
    const mail = scheduler.task("mail", settings, (key: string) => void ran.push(key));
    await scheduler.addJobs(["a", "a", "b"].map((payload) => ({ task: mail, payload })));
    await scheduler.tick();
    expect(ran.sort()).toEqual(["a", "b"]);
  });
});

test("the keys of a fair task take turns", async () => {
  const { scheduler } = setUp();
  const order: string[] = [];
  const settings = { ...byKey, fair: true, maxRunningJobs: 1 };
  const sync = scheduler.task("sync", settings, (key: string) => void order.push(key));
  await scheduler.addJobs(["a", "a", "a", "b", "c"].map((payload) => ({ task: sync, payload })));
  await scheduler.tick();
  expect(order).toEqual(["a", "b", "c", "a", "a"]);
});

test("a fair task whose jobs nobody gives a key is warned of, once, unless the call says there is none", async () => {
  const { scheduler, log } = setUp();
  const warnings = (): string[] => log.filter(({ level }) => level === "warn").map(({ message }) => message);
  for (const id of ["fair", "other"]) scheduler.task(id, { fair: true }, () => {});
  scheduler.task("keyed", { ...byKey, fair: true }, () => {});
  await scheduler.addJob("fair", { concurrencyKey: null });
  await scheduler.addJob("fair", { concurrencyKey: "a" });
  await scheduler.addJob("keyed", { payload: "a" });
  expect(warnings()).toEqual([]);
  await scheduler.addJob("fair");
  await scheduler.addSchedule("fair", everySecond());
  await scheduler.addSchedule("other", everySecond());
  const warning = (where: string, id: string): string =>
    `escapement: ${where}: task "${id}" is fair, so that its concurrency keys take turns, and nothing here tells the ` +
    "key; give the task { concurrencyKey: (payload) => ... }, pass a task of defineTasks() instead of its id, or pass" +
    ' { concurrencyKey: "..." } (null for a job that shares the turn of those without a key)';
  expect(warnings()).toEqual([warning("addJob()", "fair"), warning("addSchedule()", "other")]);
});

describe("a task that is paused", () => {
  test("starts no jobs until it goes on, which is at once", async () => {
    const { scheduler, clock, log } = setUp({ logLevel: "info" });
    const { handler, held } = heldHandler();
    scheduler.task("sync", { maxRunningJobs: null }, handler);
    const started: string[] = [];
    scheduler.task("other", () => void started.push("other"));
    await scheduler.start();
    await scheduler.addJob("sync");
    await clock.advance("PT1S");
    const told: unknown[] = [];
    scheduler.subscribe(["taskPaused", "taskUnpaused"], ({ type, taskId, concurrencyKey }) => {
      told.push([type, taskId, concurrencyKey]);
    });
    await scheduler.pauseTask("sync");
    await scheduler.pauseTask("sync");
    await scheduler.addJob("sync");
    await scheduler.addJob("other");
    await clock.advance("PT2H");
    held[0]?.finish("done");
    await clock.advance("PT1S");
    const [other, sync] = await scheduler.getTasks();
    const { pausedTasks } = await scheduler.health();
    expect([held.length, started, other?.isPaused, sync?.isPaused]).toEqual([1, ["other"], false, true]);
    expect(pausedTasks).toMatchObject([{ taskId: "sync", key: null }]);
    await scheduler.unpauseTask("sync");
    await clock.advance({ milliseconds: 1 });
    expect([held.length, (await scheduler.health()).pausedTasks]).toEqual([2, []]);
    expect(told).toEqual([
      ["taskPaused", "sync", null],
      ["taskPaused", "sync", null],
      ["taskUnpaused", "sync", null],
    ]);
    const lines = log.map(({ level, message }) => `${level} ${message}`).filter((line) => line.includes('sync" '));
    expect(lines).toEqual([
      'info escapement: task "sync" is paused',
      'info escapement: task "sync" is paused',
      expect.stringMatching(/^warn .* has run for 10 min .* and may hang/),
      'info escapement: task "sync" goes on',
    ]);
  });

  test("may be paused for one key alone", async () => {
    const { scheduler, clock } = setUp();
    const ran: string[] = [];
    const sync = scheduler.task("sync", { ...byKey, maxRunningJobs: null }, (key: string) => void ran.push(key));
    await scheduler.start();
    await scheduler.pauseTask("sync", { key: "a" });
    const [a] = await scheduler.addJobs(["a", "b"].map((payload) => ({ task: sync, payload })));
    await clock.advance("PT1S");
    expect([ran, (await a?.refresh())?.blockedBy]).toEqual([["b"], "limit"]);
    expect((await scheduler.health()).pausedTasks).toMatchObject([{ taskId: "sync", key: "a" }]);
    await scheduler.pauseTask("sync");
    await scheduler.unpauseTask("sync");
    await clock.advance("PT1S");
    expect(ran).toEqual(["b"]);
    await scheduler.unpauseTask("sync", { key: "a" });
    await clock.advance({ milliseconds: 1 });
    expect(ran).toEqual(["b", "a"]);
  });

  test("goes on at once where another scheduler paused it", async () => {
    const { scheduler, clock, store } = setUp();
    const { scheduler: other } = setUp({ clock, dataStore: store });
    const ran: string[] = [];
    scheduler.task("sync", () => void ran.push("sync"));
    await scheduler.start();
    await other.pauseTask("sync");
    await scheduler.addJob("sync");
    await clock.advance("PT1H");
    expect(ran).toEqual([]);
    await other.unpauseTask("sync");
    await clock.advance({ milliseconds: 1 });
    expect(ran).toEqual(["sync"]);
  });

  test("stays paused when a program declares it anew", async () => {
    const { scheduler, clock, store } = setUp();
    scheduler.task("sync", () => {});
    await scheduler.pauseTask("sync");
    const { scheduler: next } = setUp({ clock, dataStore: store });
    next.task("sync", { timeout: "5m" }, () => {});
    const [sync] = await next.getTasks();
    expect([sync?.isPaused, sync?.timeout?.toString()]).toEqual([true, "PT5M"]);
  });

  test("has to be one", async () => {
    const { scheduler } = setUp();
    const errors = [await rejectionOf(scheduler.pauseTask("sync")), await rejectionOf(scheduler.unpauseTask("sync"))];
    expect(errors.map((error) => [error instanceof TaskLookupError, (error as Error).message])).toEqual([
      [true, 'there is no task "sync"'],
      [true, 'there is no task "sync"'],
    ]);
  });

  test("gives a tick nothing to do", async () => {
    const { scheduler } = setUp();
    const sync = scheduler.task("sync", () => {});
    await scheduler.pauseTask("sync");
    await scheduler.addJob(sync);
    const { jobsRun, exhausted, nextWakeAt } = await scheduler.tick();
    expect([jobsRun, exhausted, nextWakeAt]).toEqual([0, false, null]);
  });
});

describe("jobs that wait for their turn", () => {
  test("are told of once, after a minute, with what holds them", async () => {
    const { scheduler, clock, store, log } = setUp({ role: "scheduler" });
    const { scheduler: worker } = setUp({ clock, dataStore: store, role: "worker" });
    const { handler } = heldHandler();
    const sync = worker.task("sync", perKey, (key: string, context) => handler(key, context));
    worker.task("paused", () => {});
    await worker.start();
    await worker.addJob(sync, { payload: "a" });
    await clock.advance("PT1S");
    await scheduler.start();
    await scheduler.pauseTask("paused");
    await scheduler.addJob("sync", { payload: "a", concurrencyKey: "a" });
    await scheduler.addJob("paused");
    const unclaimed: unknown[] = [];
    scheduler.subscribe("jobUnclaimed", ({ taskId, executor, missing, schedulerId }) => {
      if (schedulerId === scheduler.identity) unclaimed.push([taskId, executor, missing]);
    });
    await clock.advance("PT59S");
    expect(log).toEqual([]);
    await clock.advance("PT10M");
    await scheduler.addJob("sync", { payload: "a", concurrencyKey: "a" });
    await scheduler.unpauseTask("paused");
    await clock.advance("PT10M");
    expect(log.map(({ message }) => message.replace(/job \S+ of/, "job of"))).toEqual([
      expect.stringContaining('job of task "sync" waits since 2030-01-01T00:00:01Z, blocked by the limit of its'),
    ]);
    expect(unclaimed).toEqual([["sync", "inline", "room"]]);
  });

  test("are not told of where they run within a minute, and told of where a rate or a pause holds them", async () => {
    const { scheduler, clock, log } = setUp();
    const slow = scheduler.task("slow", { rateLimit: { limit: 1, per: "30s" }, maxRunningJobs: null }, () => {});
    const slower = scheduler.task("slower", { rateLimit: { limit: 1, per: "1h" }, maxRunningJobs: null }, () => {});
    const paused = scheduler.task("paused", perKey, (_key: string) => {});
    await scheduler.start();
    await scheduler.pauseTask("paused");
    await scheduler.addJobs([slow, slow, slower, slower].map((task) => ({ task })));
    await scheduler.addJob(paused, { payload: "a" });
    await clock.advance("PT5M");
    expect(
      log.map(({ message }) => message.replace(/.*(task .*) waits.*, blocked by (.*);.*/, "$1: $2")).sort(),
    ).toEqual(['task "paused": a pause', 'task "slower": the rate of the task']);
  });

  test("are told of after a minute, too, where the clock that added them is a day ahead", async () => {
    const { scheduler, clock, store, log } = setUp();
    const sync = scheduler.task("sync", perKey, (_key: string) => {});
    await scheduler.start();
    await scheduler.pauseTask("sync");
    const dayMs = 86_400_000;
    const ahead: Clock = {
      now: () => clock.now() + dayMs,
      sleep: (until, signal) => clock.sleep(until - dayMs, signal),
      yield: () => clock.yield(),
    };
    await using client = new Scheduler({ clock: ahead, dataStore: store });
    await client.addJob(sync.id, { payload: "a", concurrencyKey: "a" });
    await clock.advance("PT3M");
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining("blocked by a pause")]);
  });

  test("are told of as unclaimed where nobody alive runs such jobs", async () => {
    const { scheduler: worker, clock, store } = setUp();
    const sync = worker.task("sync", perKey, (_key: string) => {});
    await worker.pauseTask("sync", { key: "a" });
    const { scheduler, log } = setUp({ clock, dataStore: store });
    await scheduler.start();
    await worker.addJob(sync, { payload: "a" });
    await clock.advance("PT10M");
    await scheduler.unpauseTask("sync", { key: "a" });
    await clock.advance("PT10M");
    expect(log.map(({ message }) => message.replace(/job \S+ of/, "job of"))).toEqual([
      expect.stringContaining('job of task "sync" waits since 2030-01-01T00:00:00Z, blocked by a pause'),
      expect.stringContaining('job of task "sync" waits for executor "inline"'),
    ]);
  });

  test("make no backlog of a schedule while they are paused", async () => {
    const { scheduler, clock, log } = setUp();
    const sync = scheduler.task("sync", perKey, (_key: string) => {});
    scheduler.task("paused", () => {});
    await scheduler.start();
    await scheduler.pauseTask("sync", { key: "a" });
    await scheduler.pauseTask("paused");
    await scheduler.addSchedule(sync, everySecond(), { payload: "a" });
    await scheduler.addSchedule("paused", everySecond());
    await clock.advance("PT3M");
    expect([log, (await scheduler.health()).backloggedSchedules]).toEqual([[], []]);
  });

  test("make a backlog of a schedule that adds more than a limit lets run", async () => {
    const { scheduler, clock, log } = setUp();
    const { handler } = heldHandler();
    const sync = scheduler.task("sync", perKey, (key: string, context) => handler(key, context));
    await scheduler.start();
    await scheduler.addSchedule(sync, everySecond(), { payload: "a", id: "s" });
    await clock.advance("PT3M");
    expect(log.map(({ message }) => message)).toEqual([
      expect.stringContaining("raise the task's limits, or"),
      expect.stringContaining('behind it jobs of the key "a" are blocked'),
    ]);
  });
});
