import { describe, expect, test } from "vitest";
import type { EventBroker } from "../../src/contracts.ts";
import { yieldToEventLoop } from "../../src/core/clock.ts";
import { LocalEventBroker, type SchedulerEvent, Temporal } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { everySecond, recordEvents, rejectionOf, setUp } from "./support.ts";

describe("events", () => {
  test("of a job come in the order of its life, once each", async () => {
    const { scheduler } = setUp();
    const seen = recordEvents(scheduler);
    const task = scheduler.task("t", (_, { progress }) => {
      progress(0.5);
      progress(1, "nearly");
    });
    await scheduler.addJob(task);
    await drain(scheduler);
    expect(seen).toEqual([
      "taskAdded",
      "jobAdded",
      "jobAcquired 1",
      "jobProgressed",
      "jobProgressed",
      "jobReleased success",
    ]);
  });

  test("carry the ids they are about and instants as Temporal objects and milliseconds", async () => {
    const { scheduler } = setUp();
    const events: SchedulerEvent[] = [];
    scheduler.subscribe(null, (event) => events.push(event));
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.tick();
    const { jobId } = events.find((event) => event.type === "jobReleased") ?? { jobId: "" };
    expect(events.map((event) => ({ ...event }))).toEqual([
      { type: "taskAdded", taskId: "t", timestampMs: 1893456000000 },
      {
        type: "scheduleAdded",
        scheduleId: "s",
        taskId: "t",
        timestampMs: 1893456000000,
        nextFireTimeMs: 1893456000000,
      },
      {
        type: "jobAdded",
        jobId,
        executor: "inline",
        taskId: "t",
        scheduleId: "s",
        timestampMs: 1893456000000,
        runAtMs: 1893456000000,
        isLeased: true,
      },
      {
        type: "scheduleUpdated",
        scheduleId: "s",
        taskId: "t",
        timestampMs: 1893456000000,
        nextFireTimeMs: 1893456001000,
      },
      {
        type: "jobAcquired",
        jobId,
        taskId: "t",
        scheduleId: "s",
        schedulerId: scheduler.identity,
        attempt: 1,
        scheduledFireTimeMs: 1893456000000,
        timestampMs: 1893456000000,
      },
      {
        type: "jobReleased",
        jobId,
        taskId: "t",
        scheduleId: "s",
        schedulerId: scheduler.identity,
        outcome: "success",
        error: null,
        scheduledFireTimeMs: 1893456000000,
        startedAtMs: 1893456000000,
        timestampMs: 1893456000000,
      },
    ]);
    const added = events[1] as SchedulerEvent<"scheduleAdded">;
    expect(added.timestamp).toBeInstanceOf(Temporal.Instant);
    expect(added.nextFireTime?.toString()).toBe("2030-01-01T00:00:00Z");
  });

  test("reach a listener of one type, of several, and of all", async () => {
    const { scheduler } = setUp();
    const seen: Record<string, string[]> = { one: [], several: [], all: [] };
    scheduler.subscribe("jobAdded", ({ type }) => seen.one?.push(type));
    scheduler.subscribe(["taskAdded", "jobAdded"], ({ type }) => seen.several?.push(type));
    scheduler.subscribe(null, ({ type }) => seen.all?.push(type));
    await scheduler.addJob(scheduler.task("t", () => {}));
    expect(seen).toEqual({ one: ["jobAdded"], several: ["taskAdded", "jobAdded"], all: ["taskAdded", "jobAdded"] });
  });

  test("reach a once-only listener once, and an unsubscribed one never", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    let once = 0;
    let gone = 0;
    let scoped = 0;
    scheduler.subscribe("jobAdded", () => once++, { once: true });
    const subscription = scheduler.subscribe("jobAdded", () => gone++);
    subscription.unsubscribe();
    subscription.unsubscribe();
    {
      using _ = scheduler.subscribe("jobAdded", () => scoped++);
    }
    await scheduler.addJobs([{ task }, { task }]);
    expect([once, gone, scoped]).toEqual([1, 0, 0]);
  });

  test("a listener that subscribes or unsubscribes others while it is called disturbs nobody", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const seen: string[] = [];
    scheduler.subscribe(
      "jobAdded",
      () => {
        seen.push("first");
        scheduler.subscribe("jobAdded", () => seen.push("inner"), { once: true });
      },
      { once: true },
    );
    scheduler.subscribe("jobAdded", () => seen.push("second"));
    await scheduler.addJobs([{ task }, { task }]);
    expect(seen.sort()).toEqual(["first", "inner", "second", "second"]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("listener");
      },
    ],
    ["rejects", () => Promise.reject(new Error("listener"))],
    [
      "rejects with a thenable of its own",
      // biome-ignore lint/suspicious/noThenProperty: a promise of another make is what is tested
      () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error("listener")) }),
    ],
  ])("a listener that %s is logged and stops nothing", async (_, listener) => {
    const { scheduler, log } = setUp();
    scheduler.subscribe("jobAcquired", listener);
    const { id } = await scheduler.addJob(scheduler.task("t", () => "ran"));
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("ran");
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ["error", "escapement: a listener of jobAcquired failed"],
    ]);
  });

  test("an unknown type is refused with the known ones", () => {
    const { scheduler } = setUp();
    expect(() => scheduler.subscribe("jobDone" as "jobAdded", () => {})).toThrow(/jobDone.*jobReleased/);
    expect(() => scheduler.subscribe("jobAdded", 1 as unknown as () => void)).toThrow(
      expect.objectContaining({ code: "options" }),
    );
  });

  test.each([
    ["rejects", async () => Promise.reject(new Error("broker"))],
    [
      "throws",
      () => {
        throw new Error("broker");
      },
    ],
  ])("a broker that %s costs a warning, not the call", async (_, publish: EventBroker["publish"]) => {
    const eventBroker = new LocalEventBroker();
    eventBroker.publish = publish;
    const { scheduler, log } = setUp({ eventBroker });
    const { id } = await scheduler.addJob(scheduler.task("t", () => "ran"));
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("ran");
    expect(new Set(log.map(({ level }) => level))).toEqual(new Set(["warn"]));
  });

  test("a broker that is out for long costs ever fewer warnings, and the first one again after a success", async () => {
    const eventBroker = new LocalEventBroker();
    const publish = eventBroker.publish.bind(eventBroker);
    const outage: EventBroker["publish"] = () => Promise.reject(new Error("broker"));
    const { scheduler, log } = setUp({ eventBroker });
    const task = scheduler.task("t", { maxRunningJobs: null }, () => {});
    await scheduler.addJob(task);
    eventBroker.publish = outage;
    for (let count = 0; count < 100; count++) await scheduler.addJob(task);
    const told = log.map(({ message }) => /publish(?: (\d+) times in a row)?;/.exec(message)?.[1] ?? "1");
    expect(told).toEqual(["1", "2", "4", "8", "16", "32", "64"]);
    eventBroker.publish = publish;
    await scheduler.addJob(task);
    eventBroker.publish = outage;
    await scheduler.addJob(task);
    // An addition does not wait for the broker.
    await yieldToEventLoop();
    expect(log.length).toBe(told.length + 1);
  });

  test("a broker that fails to unsubscribe ends no stop, and whoever waits for events hears of the stop", async () => {
    const eventBroker = new LocalEventBroker();
    eventBroker.subscribe = () => () => {
      throw new Error("broker");
    };
    const { scheduler, log } = setUp({ eventBroker });
    await scheduler.start();
    const waiting = rejectionOf(scheduler.nextEvent("jobAdded"));
    await scheduler.stop();
    expect(await waiting).toMatchObject({ name: "AbortError" });
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
  });

  test("loggers that throw or reject are never fatal", async () => {
    for (const fail of [
      () => {
        throw new Error("logger");
      },
      () => Promise.reject(new Error("logger")),
    ]) {
      const { scheduler } = setUp({ logger: { debug: fail, info: fail, warn: fail, error: fail } });
      scheduler.subscribe("jobAdded", () => {
        throw new Error("listener");
      });
      const { id } = await scheduler.addJob(scheduler.task("t", (_, { logger }) => logger.info("hello")));
      await drain(scheduler);
      expect((await scheduler.getJobResult(id))?.outcome).toBe("success");
    }
  });
});

describe("progress", () => {
  test("carries the fraction and the note", async () => {
    const { scheduler } = setUp();
    const seen: unknown[] = [];
    scheduler.subscribe("jobProgressed", ({ fraction, note, taskId }) => seen.push([taskId, fraction, note]));
    await scheduler.addJob(
      scheduler.task("t", (_, { progress }) => {
        progress(0);
        progress(0.5, "half");
      }),
    );
    await drain(scheduler);
    expect(seen).toEqual([
      ["t", 0, null],
      ["t", 0.5, "half"],
    ]);
  });

  test("is what getJob and getJobs say at once in the process that runs the job", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", async (_, { progress, signal }) => {
      progress(0.25);
      await clock.sleep(clock.now() + 1000, signal);
      progress(0.5, "half");
      await clock.sleep(clock.now() + 1000, signal);
    });
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT0.5S");
    expect((await scheduler.getJob(id)).progress).toBe(0.25);
    await clock.advance("PT1S");
    const [listed] = (await scheduler.getJobs()).items;
    expect([listed?.progress, listed?.progressNote]).toEqual([0.5, "half"]);
  });

  test("reaches the store within a second, by one write for all jobs, and by none while it does not change", async () => {
    const { scheduler, clock, store } = setUp();
    const writes: number[] = [];
    const extend = store.extendLeases.bind(store);
    store.extendLeases = (extension) => {
      if (extension.jobs.length > 0) writes.push(extension.jobs.length);
      return extend(extension);
    };
    const define = (taskId: string, parts: number) =>
      scheduler.task(taskId, async (_, { progress, signal }) => {
        for (let part = 1; part <= parts; part++) {
          progress(part / 4);
          await clock.sleep(clock.now() + 100, signal);
        }
        await clock.sleep(clock.now() + 10_000, signal);
        progress(1);
      });
    await scheduler.start();
    const tasks = [define("t", 3), define("u", 3), define("silent", 0)];
    const [first, second] = await Promise.all(tasks.map((task) => scheduler.addJob(task)));
    await clock.advance("PT1.5S");
    const saved = await Promise.all([first, second].map((job) => store.getJob(job?.id ?? "")));
    expect([writes, saved.map((job) => job?.progress?.fraction)]).toEqual([[2], [0.75, 0.75]]);
    await clock.advance("PT5S");
    expect(writes).toEqual([2]);
    // What ended meanwhile has its last progress in its result.
    await clock.advance("PT5S");
    expect([writes, (await first?.result())?.progress]).toEqual([[2], 1]);
  });

  test("outside of 0 to 1 is refused", async () => {
    const { scheduler } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", (_, { progress }) => progress(50)));
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.error).toMatchObject({ code: "options" });
  });

  test("with a note that is no text is refused, because it would go with the leases of all jobs", async () => {
    const { scheduler } = setUp();
    const note: unknown = 5n;
    const task = scheduler.task("t", (_, { progress }) => progress(0.5, note as string));
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    const result = await scheduler.getJobResult(id);
    expect(result?.error?.message).toBe("progress(): note must be text; got 5n");
    expect([result?.progress, result?.progressNote]).toEqual([null, null]);
  });

  test("after the end of the job tells nobody anything", async () => {
    const { scheduler } = setUp();
    let later: (() => void) | undefined;
    const task = scheduler.task("t", (_, context) => {
      later = () => context.progress(1);
    });
    await scheduler.addJob(task);
    await drain(scheduler);
    const seen = recordEvents(scheduler);
    later?.();
    expect(seen).toEqual([]);
  });
});

describe("nextEvent", () => {
  test("resolves with the next event of its types only", async () => {
    const { scheduler } = setUp();
    const next = scheduler.nextEvent(["jobReleased", "jobRetried"]);
    await scheduler.addJob(scheduler.task("t", () => {}));
    await drain(scheduler);
    expect(await next).toMatchObject({ type: "jobReleased", outcome: "success" });
  });

  test("rejects with the reason of its signal", async () => {
    const { scheduler } = setUp();
    const given = new AbortController();
    const next = scheduler.nextEvent("jobAdded", { signal: given.signal });
    given.abort(new Error("enough"));
    await expect(next).rejects.toThrow("enough");
    await expect(scheduler.nextEvent(null, { signal: given.signal })).rejects.toThrow("enough");
  });

  test("rejects with an AbortError when the scheduler stops", async () => {
    const { scheduler } = setUp();
    await scheduler.start();
    const next = scheduler.nextEvent("jobAdded");
    const stopped = scheduler.nextEvent("schedulerStopped");
    const rejected = expect(next).rejects.toMatchObject({ name: "AbortError" });
    await scheduler.stop();
    expect((await stopped).schedulerId).toBe(scheduler.identity);
    await rejected;
  });
});

describe("events()", () => {
  test("yields events from the call on, in order, until the loop is left", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", { maxRunningJobs: null }, () => {});
    await scheduler.addJob(task);
    const events = scheduler.events("jobAdded");
    const jobs = await scheduler.addJobs([{ task }, { task }, { task }]);
    const seen: string[] = [];
    for await (const { jobId } of events) {
      seen.push(jobId);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(jobs.slice(0, 2).map(({ id }) => id));
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  test("ends when its signal is aborted or the scheduler stops, after what it has", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const given = new AbortController();
    const aborted = scheduler.events("jobAdded", { signal: given.signal });
    const stopped = scheduler.events(["jobAdded", "schedulerStopped"]);
    await scheduler.addJob(task);
    given.abort();
    await scheduler.start({ paused: true });
    await scheduler.stop();
    const types = async (events: AsyncIterable<SchedulerEvent>) => {
      const seen: string[] = [];
      for await (const { type } of events) seen.push(type);
      return seen;
    };
    expect(await types(aborted)).toEqual(["jobAdded"]);
    expect(await types(stopped)).toEqual(["jobAdded", "schedulerStopped"]);
  });

  test("keeps the newest 10,000 events for a slow reader and reports how many it dropped", async () => {
    const { scheduler, log } = setUp();
    const task = scheduler.task("t", () => {});
    const dropped: number[] = [];
    const reported = scheduler.events("jobAdded", { onDropped: (count) => dropped.push(count) });
    const logged = scheduler.events("jobAdded");
    const failing = scheduler.events("jobAdded", {
      onDropped: () => {
        throw new Error("onDropped");
      },
    });
    const jobs = await scheduler.addJobs(Array.from({ length: 10_000 }, () => ({ task })));
    await scheduler.addJobs([{ task }, { task }, { task }]);
    const first = await reported.next();
    expect([first.value?.jobId, dropped]).toEqual([jobs[3]?.id, [3]]);
    await reported.next();
    expect(dropped).toEqual([3]);
    await logged.next();
    expect(log.at(-1)).toMatchObject({ level: "warn", message: expect.stringContaining("missed 3 events") });
    expect((await failing.next()).done).toBe(false);
  });
});
