import { describe, expect, test } from "vitest";
import {
  CronTrigger,
  IntervalTrigger,
  JobSkippedError,
  type LastRun,
  MemoryDataStore,
  NonRetryableError,
  type SchedulerEvent,
  SkipRun,
  StoreUnavailableError,
} from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, recordingLogger, rejectionOf, secondsOf, setUp } from "./support.ts";

describe("a handler that throws a SkipRun", () => {
  test("ends its job at once as skipped, with the reason, and without a failure", async () => {
    const { scheduler } = setUp();
    const events: SchedulerEvent[] = [];
    scheduler.subscribe("jobReleased", (event) => void events.push(event));
    let calls = 0;
    const sync = scheduler.task("sync", { retry: { maxAttempts: 5 } }, () => {
      calls++;
      throw new SkipRun("nothing to do");
    });
    const job = await scheduler.addJob(sync);
    const { outcomes } = await scheduler.tick();
    expect([calls, outcomes.skipped, outcomes.error]).toEqual([1, 1, 0]);
    const result = await job.result();
    expect([result?.outcome, result?.attempts, result?.attemptHistory.length]).toEqual(["skipped", 1, 1]);
    expect(result?.attemptHistory[0]?.error).toBe(null);
    expect(result?.error).toBeInstanceOf(JobSkippedError);
    expect(result?.error?.message).toBe(`job ${job.id} of task "sync" was skipped by its handler: nothing to do`);
    expect(result?.error?.cause).toMatchObject({ name: "SkipRun", message: "nothing to do", code: "skipRun" });
    expect(result?.toJSON().error).toEqual({ name: "SkipRun", message: "nothing to do", code: "skipRun" });
    expect(result?.toRow().error).toBe("SkipRun: nothing to do");
    expect(events).toMatchObject([{ outcome: "skipped", error: { message: "nothing to do" } }]);
    expect((await scheduler.getJobResults({ outcome: "skipped" })).items).toHaveLength(1);
    expect((await scheduler.getJobResults({ outcome: "error" })).items).toHaveLength(0);
    expect((await scheduler.getJob(job.id)).state).toBe("ended");
  });

  test("is told by runJob as a job without a value, which skips no job that waits for it", async () => {
    const { scheduler, clock } = setUp();
    const inner = scheduler.task("inner", () => {
      throw new SkipRun("nothing here");
    });
    const outer = scheduler.task("outer", (_: undefined, context) => context.scheduler.runJob(inner));
    await scheduler.start();
    const error = rejectionOf(scheduler.runJob(inner));
    await clock.advance("PT1S");
    expect(await error).toMatchObject({ code: "jobSkipped", cause: { message: "nothing here" } });
    const job = await scheduler.addJob(outer);
    await clock.advance("PT1S");
    expect(await job.result()).toMatchObject({ outcome: "error", error: { code: "jobSkipped" } });
  });

  test("may be of another copy of this library; a stranger's code ends nothing", async () => {
    const { scheduler } = setUp();
    const echo = scheduler.task("echo", (thrown: unknown) => {
      throw thrown === "proxy"
        ? new Proxy(
            {},
            {
              has: () => {
                throw new Error("no");
              },
            },
          )
        : Object.assign(new Error("said"), thrown);
    });
    const outcomeOf = async (payload: unknown): Promise<string | undefined> => {
      const job = await scheduler.addJob(echo, { payload });
      await scheduler.tick();
      return (await job.result())?.outcome;
    };
    expect(await outcomeOf({ code: "skipRun" })).toBe("skipped");
    expect(await outcomeOf({ code: "nonRetryable" })).toBe("error");
    expect(await outcomeOf({ code: 5 })).toBe("error");
    expect(await outcomeOf("proxy")).toBe("error");
    expect(new SkipRun("x")).not.toBeInstanceOf(NonRetryableError);
  });

  test("is no line above debug in the log", async () => {
    const { logger, entries } = recordingLogger();
    const { scheduler } = setUp({ logger, logLevel: "debug" });
    scheduler.task("sync", () => {
      throw new SkipRun("nothing to do");
    });
    await scheduler.addJob("sync");
    await scheduler.tick();
    const ofSkip = entries.filter(({ message }) => message.includes("was skipped by its handler: nothing to do"));
    expect(ofSkip.map(({ level }) => level)).toEqual(["debug"]);
  });

  test("is declined in the ledger, which keeps the reason longer than the result", async () => {
    const { scheduler, clock } = setUp();
    const skip = scheduler.task("sync", { resultExpirationTime: "1s" }, () => {
      throw new SkipRun("no new orders");
    });
    await scheduler.addSchedule(skip, new IntervalTrigger({ hours: 1 }), { id: "s" });
    await scheduler.tick();
    await clock.advance("PT10M");
    await scheduler.cleanup();
    expect((await scheduler.getJobResults()).items).toEqual([]);
    const { items } = await scheduler.getOccurrences("s", { verdict: "declined" });
    expect(items.map(({ verdict }) => verdict)).toEqual(["declined"]);
    expect((await scheduler.getOccurrences("s", { verdict: ["success", "error"] })).items).toEqual([]);
    const explanation = await scheduler.explain("s", items[0]?.fireTime ?? at(0));
    expect(explanation.cause).toEqual({ kind: "declined", reason: "no new orders" });
    expect(explanation.text).toContain("Verdict: declined: its handler had nothing to do. Job ");
    expect(explanation.text).toContain("Cause: no new orders");
    expect(explanation.advice).toBe(null);
  });

  test("lets the jobs run that come after it, which learn of it", async () => {
    const { scheduler } = setUp();
    const parent = scheduler.task("parent", () => {
      throw new SkipRun("nothing to load");
    });
    const child = scheduler.task("child", async (_: undefined, { getParentResults }) => {
      const [result] = await getParentResults();
      return [result?.outcome, result?.returnValue ?? null];
    });
    // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
    const { then } = await scheduler.addBatch([{ task: parent }], { then: { task: child } });
    await drain(scheduler);
    expect((await then.result())?.returnValue).toEqual(["skipped", null]);
    const later = await scheduler.addJob(child, {
      after: [(await scheduler.getJobResults({ taskId: "parent" })).items[0] ?? ""],
    });
    await drain(scheduler);
    expect((await later.result())?.outcome).toBe("success");
  });

  test("is repeated by retryJob alone, and not with those that failed", async () => {
    const { scheduler } = setUp();
    let isEmpty = true;
    const sync = scheduler.task("sync", () => {
      if (isEmpty) throw new SkipRun("empty");
    });
    const job = await scheduler.addJob(sync);
    await scheduler.tick();
    isEmpty = false;
    expect(await scheduler.retryJobs({ all: true })).toMatchObject({ retried: 0 });
    const again = await scheduler.retryJob(job.id);
    await scheduler.tick();
    expect((await again.result())?.outcome).toBe("success");
    isEmpty = true;
    await scheduler.addJob(sync);
    await scheduler.tick();
    // The first one was repeated before.
    expect(await scheduler.retryJobs({ outcome: "skipped" })).toMatchObject({ retried: 1, skipped: 1 });
  });
});

describe("context.getLastRun", () => {
  test("tells how the last run of the schedule ended", async () => {
    const { scheduler, clock } = setUp();
    const seen: (LastRun | null)[] = [];
    const ends = [
      () => undefined,
      () => {
        throw new SkipRun("x");
      },
      () => {
        throw new Error("y");
      },
      () => undefined,
    ];
    scheduler.task("t", async (_: undefined, { getLastRun }) => {
      seen.push(await getLastRun());
      ends[seen.length - 1]?.();
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    for (let second = 0; second < 4; second++) {
      await drain(scheduler);
      await clock.advance("PT1S");
    }
    expect(seen.map((last) => last && [last.outcome, secondsOf(last.finishedAt)])).toEqual([
      null,
      ["success", 0],
      ["skipped", 1],
      ["error", 2],
    ]);
  });

  test("tells of the result where there is no ledger, and null for a job without a schedule", async () => {
    const { scheduler, clock } = setUp({ dataStore: new MemoryDataStore({ ledger: false }) });
    const seen: (string | null)[] = [];
    scheduler.task("t", async (_: undefined, { getLastRun }) => {
      seen.push((await getLastRun())?.outcome ?? null);
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await drain(scheduler);
    await clock.advance("PT1S");
    await drain(scheduler);
    await scheduler.addJob("t");
    await drain(scheduler);
    expect(seen).toEqual([null, "success", null]);
  });
});

describe("context.previousFireTime", () => {
  test("is the fire time before all those that the job stands for, in the zone of the rule", async () => {
    const { scheduler, clock } = setUp();
    const seen: (string | undefined)[] = [];
    scheduler.task("t", async (_: undefined, context) => {
      seen.push((await context.previousFireTime)?.toString());
    });
    const hourly = CronTrigger.fromCrontab("0 * * * *", { timeZone: "Europe/Berlin" });
    for (const [id, coalesce] of [
      ["a", "latest"],
      ["b", "earliest"],
    ] as const) {
      await scheduler.addSchedule("t", hourly, { id, coalesce });
    }
    await clock.advance("PT3H30M");
    await drain(scheduler);
    expect(seen).toEqual(Array(2).fill("2030-01-01T00:00:00+01:00[Europe/Berlin]"));
    await scheduler.runScheduleNow("a");
    await scheduler.addJob("t");
    await drain(scheduler);
    expect(seen.slice(2)).toEqual(["2030-01-01T04:00:00+01:00[Europe/Berlin]", undefined]);
  });

  test("is null for the first fire time of a rule, and where the schedule was removed", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    scheduler.task("t", async (_: undefined, context) => {
      seen.push(await context.previousFireTime);
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await drain(scheduler);
    await scheduler.runScheduleNow("s");
    await scheduler.removeSchedule("s");
    await drain(scheduler);
    expect(seen).toEqual([null, null]);
  });

  test("rejects when the store is away, which ends no process when nobody waits for it", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ dataStore });
    const codes: unknown[] = [];
    scheduler.task("t", async (_: undefined, context) => {
      dataStore.getSchedule = () => Promise.reject(new StoreUnavailableError("away"));
      void context.previousFireTime;
      codes.push(await context.previousFireTime.catch(({ code }) => code));
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await drain(scheduler);
    expect(codes).toEqual(["storeUnavailable"]);
  });

  test("costs who does not ask nothing: neither a request nor a byte", async () => {
    const dataStore = new MemoryDataStore();
    const asked: string[] = [];
    for (const name of ["getSchedule", "getJobResults"] as const) {
      const own = dataStore[name].bind(dataStore) as (...args: never[]) => never;
      dataStore[name] = ((...args: never[]) => {
        asked.push(name);
        return own(...args);
      }) as never;
    }
    const { scheduler } = setUp({ dataStore });
    scheduler.task("t", (_: undefined, { job }) => job.id);
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    asked.length = 0;
    await drain(scheduler);
    expect(asked).toEqual([]);
  });
});
