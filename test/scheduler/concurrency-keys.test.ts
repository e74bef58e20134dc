import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTasks, OptionsError, Scheduler, SerializationError } from "../../src/mod.ts";
import { everySecond, rejectionOf, setUp } from "./support.ts";

interface Sync {
  readonly tenant?: string;
}

const byTenant = { concurrencyKey: ({ tenant }: Sync) => tenant, maxRunningPerKey: 2 };

describe("the concurrency key of a job", () => {
  test("is what the function of the task tells from the payload", async () => {
    const { scheduler } = setUp();
    const sync = scheduler.task("sync", byTenant, (_payload: Sync) => {});
    const one = await scheduler.addJob(sync, { payload: { tenant: "a" } });
    const many = await scheduler.addJobs([
      { task: sync, payload: { tenant: "b" } },
      { task: sync, payload: {} },
    ]);
    expect([one, ...many].map(({ concurrencyKey }) => concurrencyKey)).toEqual(["a", "b", null]);
    expect((await scheduler.getJob(one.id)).toJSON()).toMatchObject({ concurrencyKey: "a" });
  });

  test("comes from the payload that the handler will get", async () => {
    const { scheduler } = setUp();
    const schema = v.object({ tenant: v.pipe(v.number(), v.transform(String)) });
    const sync = scheduler.task("sync", { schema, concurrencyKey: ({ tenant }) => `t${tenant}` }, () => {});
    const { concurrencyKey, payload } = await scheduler.addJob(sync, { payload: { tenant: 7 } });
    expect([concurrencyKey, payload]).toEqual(["t7", { tenant: 7 }]);
  });

  test("may be given with the job, or be none", async () => {
    const { scheduler } = setUp();
    const sync = scheduler.task("sync", byTenant, (_payload: Sync) => {});
    const payload = { tenant: "a" };
    const given = await scheduler.addJob(sync, { payload, concurrencyKey: "z" });
    const none = await scheduler.addJob(sync, { payload, concurrencyKey: null });
    scheduler.task("plain", () => {});
    const plain = await scheduler.addJob("plain", { concurrencyKey: "z" });
    expect([given, none, plain].map((job) => job.concurrencyKey)).toEqual(["z", null, "z"]);
  });

  test("is told by a definition of the task, with and without a handler", async () => {
    const schema = v.object({ tenant: v.string() });
    const tasks = defineTasks({
      there: { schema, settings: byTenant },
      here: { schema, settings: byTenant, handler: () => {} },
    });
    const { scheduler } = setUp();
    scheduler.use(tasks);
    const payload = { tenant: "a" };
    const jobs = [await scheduler.addJob(tasks.there, { payload }), await scheduler.addJob("here", { payload })];
    expect(jobs.map(({ concurrencyKey }) => concurrencyKey)).toEqual(["a", "a"]);
  });

  test("is asked for where the task limits each key, and the program does not know the function", async () => {
    const { scheduler: worker, clock, store } = setUp();
    worker.task("sync", byTenant, (_payload: Sync) => {});
    worker.task("rated", { concurrencyKey: () => "a", rateLimit: { limit: 1, per: "1s" } }, () => {});
    await worker.getTasks();
    const { scheduler } = setUp({ clock, dataStore: store });
    const errors = [
      await rejectionOf(scheduler.addJob("sync", { payload: { tenant: "a" } })),
      await rejectionOf(scheduler.addJobs([{ task: "rated" }, { task: "sync", payload: { tenant: "a" } }])),
      await rejectionOf(scheduler.addSchedule("sync", everySecond(), { payload: { tenant: "a" } })),
      await rejectionOf(scheduler.runJob("sync", { payload: { tenant: "a" } })),
    ];
    expect(errors.map((error) => String(error).replace(/ has maxRunningPerKey.*/, ""))).toEqual([
      'OptionsError: addJob(): concurrencyKey is missing: task "sync"',
      'OptionsError: addJobs()[1]: concurrencyKey is missing: task "sync"',
      'OptionsError: addSchedule(): concurrencyKey is missing: task "sync"',
      'OptionsError: runJob(): concurrencyKey is missing: task "sync"',
    ]);
    const job = await scheduler.addJob("sync", { payload: { tenant: "a" }, concurrencyKey: "a" });
    const schedule = await scheduler.addSchedule("sync", everySecond(), { concurrencyKey: null });
    expect([job.concurrencyKey, schedule.concurrencyKey]).toEqual(["a", null]);
  });

  test("is refused unless it is text that a store can keep", async () => {
    const { scheduler } = setUp();
    let key: unknown;
    scheduler.task("sync", { concurrencyKey: () => key as string }, () => {});
    const refusals: string[] = [];
    for (key of [7, "", "x".repeat(257), Promise.resolve("a"), "\u0000"]) {
      const error = await rejectionOf(scheduler.addJob("sync"));
      expect(error).toBeInstanceOf(OptionsError);
      refusals.push((error as Error).message);
    }
    const text = 'task "sync": concurrencyKey must return text of 1 to 256 characters, or null for none; got';
    expect(refusals.slice(0, 2)).toEqual([`${text} 7: write String(7)`, `${text} ""`]);
    expect(refusals[2]).toContain(`${text} "xxx`);
    expect(refusals[3]).toBe(`${text} a Promise: it must not be async`);
    expect(refusals[4]).toMatch(/^task "sync": concurrencyKey must return /);
    key = "x".repeat(256);
    expect((await scheduler.addJob("sync")).concurrencyKey).toBe(key);
  });

  test("that cannot be told is the caller's error, with the task and the cause", async () => {
    const { scheduler } = setUp();
    const sync = scheduler.task(
      "sync",
      { concurrencyKey: (it) => it.tenant.id },
      (_: { tenant: { id: string } }) => {},
    );
    const payload = {} as { tenant: { id: string } };
    const one = (await rejectionOf(scheduler.addJob(sync, { payload }))) as OptionsError;
    expect(one).toBeInstanceOf(OptionsError);
    expect(one.message).toMatch(/^task "sync": concurrencyKey failed on the payload: .+; let it return null for a/);
    expect(one.issues.map(({ path }) => path)).toEqual(["concurrencyKey"]);
    expect(one.cause).toBeInstanceOf(TypeError);
    const many = (await rejectionOf(scheduler.addJobs([{ task: sync, payload }]))) as OptionsError;
    expect(many.message).toBe(`addJobs()[0]: ${one.message}`);
    expect(many.cause).toBeInstanceOf(TypeError);
    expect(await rejectionOf(scheduler.addJob(sync, { payload: (() => {}) as never }))).toBeInstanceOf(
      SerializationError,
    );
  });

  // A rejection that nobody heeds would end the process. Vitest reports such rejections.
  test("is refused from an async function, even if that function fails", async () => {
    const { scheduler } = setUp();
    const concurrencyKey = (async () => Promise.reject(new Error("no tenant"))) as unknown as () => string;
    const sync = scheduler.task("sync", { concurrencyKey }, () => {});
    expect(String(await rejectionOf(scheduler.addJob(sync)))).toContain("got a Promise: it must not be async");
  });

  test("does not see what its function changes in the payload", async () => {
    const { scheduler } = setUp();
    const concurrencyKey = (payload: { tenant: string }): string => {
      payload.tenant = "changed";
      return "a";
    };
    const sync = scheduler.task("sync", { concurrencyKey }, (_payload: { tenant: string }) => {});
    const { payload } = await scheduler.addJob(sync, { payload: { tenant: "a" } });
    expect(payload).toEqual({ tenant: "a" });
  });
});

describe("the concurrency key of a schedule", () => {
  test("is stored with the schedule, and its extra jobs have it", async () => {
    const { scheduler } = setUp();
    const sync = scheduler.task("sync", byTenant, (_payload: Sync) => {});
    const schedule = await scheduler.addSchedule(sync, everySecond(), { payload: { tenant: "a" } });
    const job = await schedule.runNow();
    expect([schedule.concurrencyKey, job.concurrencyKey, schedule.toJSON().concurrencyKey]).toEqual(["a", "a", "a"]);
  });

  test("is that of the task in schedule(), too", async () => {
    const { scheduler } = setUp();
    const options = { concurrencyKey: ({ tenant }: Sync) => tenant, payload: { tenant: "a" } };
    const schedule = await scheduler.schedule("sync", everySecond(), options, (_payload: Sync) => {});
    expect(schedule.concurrencyKey).toBe("a");
  });

  test("changes with the payload, unless it is given", async () => {
    const { scheduler, clock, store } = setUp();
    const sync = scheduler.task("sync", byTenant, (_payload: Sync) => {});
    const { id } = await scheduler.addSchedule(sync, everySecond(), { payload: { tenant: "a" } });
    const { scheduler: other } = setUp({ clock, dataStore: store });
    const keys = [
      await scheduler.updateSchedule(id, { payload: { tenant: "b" } }),
      await scheduler.updateSchedule(id, { priority: 1 }),
      await scheduler.updateSchedule(id, { payload: { tenant: "c" }, concurrencyKey: "z" }),
      await other.updateSchedule(id, { payload: { tenant: "d" } }),
      await other.updateSchedule(id, { concurrencyKey: "y" }),
      await scheduler.updateSchedule(id, { payload: {} }),
    ].map(({ concurrencyKey }) => concurrencyKey);
    expect(keys).toEqual(["b", "b", "z", "z", "y", null]);
    expect((await scheduler.getSchedule(id)).concurrencyKey).toBe(null);
  });

  test("is part of what a program declares", async () => {
    const { scheduler } = setUp();
    scheduler.task("sync", () => {});
    const keys: (string | null)[] = [];
    for (const concurrencyKey of ["a", "b", undefined]) {
      keys.push((await scheduler.addSchedule("sync", everySecond(), { id: "s", concurrencyKey })).concurrencyKey);
    }
    await scheduler.updateSchedule("s", { concurrencyKey: "edited" });
    keys.push((await scheduler.addSchedule("sync", everySecond(), { id: "s" })).concurrencyKey);
    expect(keys).toEqual(["a", "b", null, "edited"]);
  });
});

describe("a job that is retried", () => {
  const failing = { concurrencyKey: ({ tenant }: Sync) => tenant };
  const fail = (_payload: Sync): never => {
    throw new Error("no");
  };

  test("keeps its concurrency key", async () => {
    const { scheduler } = setUp({ logLevel: "silent" });
    const sync = scheduler.task("sync", failing, fail);
    const own = await scheduler.addJob(sync, { payload: { tenant: "a" } });
    const given = await scheduler.addJob(sync, { payload: { tenant: "a" }, concurrencyKey: "z" });
    await scheduler.tick();
    const result = await given.result();
    const again = [await scheduler.retryJob(own.id), await scheduler.retryJob(given.id)];
    expect([result?.concurrencyKey, ...again.map((job) => job.concurrencyKey)]).toEqual(["z", "a", "z"]);
  });

  test("gets the one that its task tells from the payload, if it had none", async () => {
    const { scheduler } = setUp({ logLevel: "silent" });
    const old = scheduler.task("sync", fail);
    const job = await scheduler.addJob(old as never, { payload: { tenant: "a" } } as never);
    const odd = await scheduler.addJob(old as never, { payload: null } as never);
    await scheduler.tick();
    scheduler.task("sync", failing, fail);
    expect((await scheduler.retryJob(job.id)).concurrencyKey).toBe("a");
    expect(await rejectionOf(scheduler.retryJob(odd.id))).toBeInstanceOf(OptionsError);
    expect(await scheduler.retryJobs({ taskId: "sync" })).toMatchObject({ retried: 0, skipped: 2 });
  });
});

describe("a task with limits", () => {
  test("has no limit in all unless one is given, because one job would leave nothing to that of the keys", async () => {
    const { scheduler } = setUp();
    scheduler.task("a plain", {}, () => {});
    scheduler.task("b per key", { maxRunningPerKey: 2 }, () => {});
    scheduler.task("c both", { maxRunningPerKey: 2, maxRunningJobs: 1 }, () => {});
    scheduler.task("d rated", { rateLimit: { limit: 1, per: "1s" }, fair: true }, () => {});
    const limits = (await scheduler.getTasks()).map(({ maxRunningJobs, maxRunningPerKey }) => [
      maxRunningJobs,
      maxRunningPerKey,
    ]);
    expect(limits).toEqual([
      [1, null],
      [null, 2],
      [1, 2],
      [1, null],
    ]);
  });

  test("takes each from the task, else from the defaults", async () => {
    const rateLimit = { limit: 5, per: { minutes: 1 }, burst: 3 };
    const { scheduler } = setUp({ taskDefaults: { maxRunningJobs: 7, maxRunningPerKey: 2, rateLimit, fair: true } });
    scheduler.task("all", () => {});
    scheduler.task("none", { maxRunningPerKey: null, rateLimit: null, fair: false }, () => {});
    const views = (await scheduler.getTasks()).map((task) => task.toJSON());
    expect(views).toMatchObject([
      {
        id: "all",
        maxRunningJobs: 7,
        maxRunningPerKey: 2,
        rateLimit: { limit: 5, per: "PT1M", burst: 3 },
        fair: true,
        isPaused: false,
      },
      { id: "none", maxRunningJobs: 7, maxRunningPerKey: null, rateLimit: null, fair: false },
    ]);
  });

  test("is declared anew by its limits, and not by its function", async () => {
    const declare = async (settings: object): Promise<unknown> => {
      const { scheduler, store } = setUp();
      scheduler.task("t", settings, () => {});
      await scheduler.getTasks();
      return (await store.getTask("t"))?.declaration;
    };
    const plain = await declare({});
    const declarations = [
      await declare({ concurrencyKey: () => "a" }),
      await declare({ maxRunningPerKey: null, rateLimit: null, fair: false }),
      await declare({ maxRunningPerKey: 2, maxRunningJobs: 1 }),
      await declare({ rateLimit: { limit: 1, per: "1s" } }),
      await declare({ fair: true }),
    ];
    // A default that is given is declared too, because it may go back to it.
    expect(declarations.map((declaration) => declaration === plain)).toEqual([true, false, false, false, false]);
    expect(new Set(declarations).size).toBe(5);
  });
});

test("a scheduler takes settings for all tasks without a function for keys", () => {
  expect(() => new Scheduler({ taskDefaults: { maxRunningPerKey: 2 } })).not.toThrow();
});
