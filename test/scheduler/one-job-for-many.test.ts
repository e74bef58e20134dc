import { describe, expect, test } from "vitest";
import { JobLookupError, MemoryDataStore, OptionsError, Scheduler } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, heldHandler, recordEvents, rejectionOf, secondsOf, setUp } from "./support.ts";

const debounce = { key: "k", wait: "5s" };
const throttle = { key: "k", per: "1m" };

describe("debounce", () => {
  test("runs one job for a burst, with the last payload, after the pause", async () => {
    const { scheduler, clock } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", (payload: number) => void seen.push([payload, secondsOf(clock.instant)]));
    await scheduler.start();
    const events = recordEvents(scheduler);
    const jobs = [];
    for (const payload of [1, 2, 3]) {
      jobs.push(await scheduler.addJob(task, { payload, debounce }));
      await clock.advance("PT2S");
    }
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
    expect(jobs.map(({ payload, runAt }) => [payload, secondsOf(runAt)])).toEqual([
      [1, 5],
      [2, 7],
      [3, 9],
    ]);
    await clock.advance("PT10S");
    expect(seen).toEqual([[3, 9]]);
    expect(events).toEqual(["jobAdded", "jobUpdated", "jobUpdated", "jobAcquired 1", "jobReleased success"]);
    expect(await jobs[0]?.wait()).toBe(undefined);
  });

  test("puts a burst that does not end off until its longest wait", async () => {
    const { scheduler, clock } = setUp();
    const seen: unknown[] = [];
    const task = scheduler.task("t", (payload: number) => void seen.push([payload, secondsOf(clock.instant)]));
    await scheduler.start();
    for (let second = 0; second < 25; second++) {
      await scheduler.addJob(task, { payload: second, debounce: { ...debounce, maxWait: "12s" } });
      await clock.advance("PT1S");
    }
    expect(seen).toEqual([
      [11, 12],
      [23, 24],
    ]);
  });

  test("wakes other schedulers for a shorter pause", async () => {
    const { scheduler, clock, store } = setUp();
    const { scheduler: client } = setUp({ clock, dataStore: store });
    const seen: unknown[] = [];
    const task = scheduler.task("t", (payload: number) => void seen.push([payload, secondsOf(clock.instant)]));
    await scheduler.start();
    await client.addJob(task, { payload: 1, debounce: { key: "k", wait: "1h" } });
    await clock.advance("PT1S");
    await client.addJob(task, { payload: 2, debounce });
    await clock.advance("PT5S");
    expect(seen).toEqual([[2, 6]]);
  });

  test("wakes the loop for a shorter pause, whoever writes the addition", async () => {
    for (const size of [1, 300]) {
      const { scheduler, clock } = setUp();
      const seen: unknown[] = [];
      const task = scheduler.task("t", (payload: number) => void seen.push([payload, secondsOf(clock.instant)]));
      await scheduler.start();
      await scheduler.addJob(task, { payload: 1, debounce: { key: "k", wait: "1h" } });
      await clock.settle();
      const many = Array.from({ length: size }, (_, index) => ({ task, payload: index, debounce }));
      await scheduler.addJobs(many);
      await clock.advance("PT5S");
      expect(seen).toEqual([[size - 1, 5]]);
    }
  });

  test("ends with the first attempt: a job that waits for its retry is no part of the next burst", async () => {
    const { scheduler, clock } = setUp();
    const seen: number[] = [];
    const retry = { maxAttempts: 2, backoff: { initial: "1m", jitter: "none" as const } };
    const task = scheduler.task("t", { retry }, (payload: number) => {
      seen.push(payload);
      if (seen.length === 1) throw new Error("no");
    });
    await scheduler.start();
    const first = await scheduler.addJob(task, { payload: 1, debounce });
    await clock.advance("PT5S");
    const second = await scheduler.addJob(task, { payload: 2, debounce });
    expect(second.id).not.toBe(first.id);
    expect((await scheduler.addJob(task, { payload: 3, debounce })).id).toBe(second.id);
    await clock.advance("PT2M");
    expect(seen).toEqual([1, 3, 1]);
  });

  test("takes several additions in one call, and the last one counts", async () => {
    const { scheduler, clock } = setUp();
    const seen: number[] = [];
    const task = scheduler.task("t", (payload: number) => void seen.push(payload));
    const events = recordEvents(scheduler);
    const jobs = await scheduler.addJobs([1, 2, 3].map((payload) => ({ task, payload, debounce })));
    expect(jobs.map(({ id, payload }) => [id, payload])).toEqual(jobs.map(() => [jobs[0]?.id, 3]));
    expect((await scheduler.getJobs()).items).toHaveLength(1);
    await clock.advance("PT5S");
    await drain(scheduler);
    expect([seen, events.filter((event) => event.startsWith("job"))]).toEqual([
      [3],
      ["jobAdded", "jobUpdated", "jobUpdated", "jobAcquired 1", "jobReleased success"],
    ]);
  });

  test("lets runJob wait for the end of the burst", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", (payload: number) => payload * 2);
    await scheduler.start();
    const first = scheduler.runJob(task, { payload: 1, debounce });
    await clock.settle();
    const second = scheduler.runJob(task, { payload: 2, debounce });
    await clock.advance("PT10S");
    expect(await Promise.all([first, second])).toEqual([4, 4]);
  });

  test("is a matter of the store: another scheduler's additions count too", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock } = setUp({ dataStore });
    const seen: string[] = [];
    scheduler.task("t", (payload: string) => void seen.push(payload));
    await scheduler.start();
    const other = new Scheduler({ dataStore, clock, role: "scheduler", identity: "other" });
    await scheduler.addJob("t", { payload: "here", debounce });
    await clock.advance("PT4S");
    await other.addJob("t", { payload: "there", debounce });
    await clock.advance("PT5S");
    expect(seen).toEqual(["there"]);
    await other.stop();
  });
});

describe("throttle", () => {
  test("adds one job in its time, and returns it in any state", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    const events = recordEvents(scheduler);
    await scheduler.start();
    const first = await scheduler.addJob(task, { payload: 1, throttle });
    await clock.settle();
    const second = await scheduler.addJob(task, { payload: 2, throttle });
    held[0]?.finish("a value");
    await clock.settle();
    const third = await scheduler.addJob(task, { payload: 3, throttle });
    expect([second, third].map(({ id, state }) => [id, state])).toEqual([
      [first.id, "running"],
      [first.id, "ended"],
    ]);
    expect(await third.wait()).toBe("a value");
    expect((await third.result())?.payload).toBe(1);
    expect(await third.refresh()).toMatchObject({ id: first.id, state: "ended", payload: 1 });
    expect(await third.cancel()).toBe("tooLate");
    expect(events.filter((event) => event.startsWith("job"))).toEqual([
      "jobAdded",
      "jobAcquired 1",
      "jobReleased success",
    ]);
    await clock.advance("PT1M");
    expect((await scheduler.addJob(task, { payload: 4, throttle })).id).not.toBe(first.id);
  });

  test("lets runJob return the value of the job that stands for its own", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    const task = scheduler.task("t", () => ++runs);
    await scheduler.start();
    const values = [];
    for (const pause of ["PT0S", "PT30S", "PT30S"]) {
      await clock.advance(pause);
      const value = scheduler.runJob(task, { throttle });
      await clock.settle();
      values.push(await value);
    }
    expect(values).toEqual([1, 1, 2]);
  });

  test("tells of a job whose result is not kept that it has ended", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", { resultExpirationTime: "0s" }, () => 1);
    await scheduler.addJob(task, { throttle });
    await drain(scheduler);
    const job = await scheduler.addJob(task, { throttle });
    expect([job.state, await job.result()]).toEqual(["ended", null]);
    expect(await rejectionOf(job.wait())).toBeInstanceOf(JobLookupError);
    expect(await rejectionOf(scheduler.runJob(task, { throttle }))).toBeInstanceOf(JobLookupError);
  });

  test("takes the first of one call, and goes together with the time of its run", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: number) => {});
    const jobs = await scheduler.addJobs([1, 2].map((payload) => ({ task, payload, throttle, runAt: at(payload) })));
    expect(jobs.map(({ id, payload, runAt }) => [id, payload, secondsOf(runAt)])).toEqual([
      [jobs[0]?.id, 1, 1],
      [jobs[0]?.id, 1, 1],
    ]);
  });
});

describe("uniqueFor", () => {
  test("keeps an idempotency key taken for so long after the addition", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", (payload: number) => payload);
    const options = { idempotencyKey: "k", uniqueFor: "1m" };
    const first = await scheduler.addJob(task, { payload: 1, ...options });
    await drain(scheduler);
    await clock.advance("PT59S");
    const second = await scheduler.addJob(task, { payload: 2, ...options });
    expect([second.id, second.state, await second.wait()]).toEqual([first.id, "ended", 1]);
    await clock.advance("PT1S");
    const third = await scheduler.addJob(task, { payload: 3, ...options });
    expect([third.id === first.id, third.state]).toEqual([false, "queued"]);
  });

  test("does not keep out an addition that has the key alone", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const first = await scheduler.addJob(task, { idempotencyKey: "k", uniqueFor: "1m" });
    await drain(scheduler);
    expect((await scheduler.addJob(task, { idempotencyKey: "k" })).id).not.toBe(first.id);
  });
});

test("a retried job is added whatever window its job opened", async () => {
  const { scheduler } = setUp();
  let runs = 0;
  const task = scheduler.task("t", () => {
    if (++runs === 1) throw new Error("no");
  });
  const { id } = await scheduler.addJob(task, { idempotencyKey: "k", uniqueFor: "1m" });
  await drain(scheduler);
  await scheduler.retryJob(id);
  await drain(scheduler);
  expect(runs).toBe(2);
});

/** A program without types: whatever is passed arrives. */
type Untyped = (...given: unknown[]) => Promise<unknown>;

const MISTAKES: readonly (readonly [options: object, message: string])[] = [
  [
    { uniqueFor: "1m" },
    "uniqueFor needs an idempotencyKey: that key stays taken so long; write { idempotencyKey: ..., uniqueFor }",
  ],
  [
    { uniqueFor: "1m", idempotencyKey: "k", throttle },
    "uniqueFor cannot go together with throttle: each keeps later additions out for a time; choose one",
  ],
  [
    { uniqueFor: "1m", debounce },
    "uniqueFor cannot go together with debounce: debounce keeps the last of a burst, uniqueFor the first",
  ],
  [
    { debounce, throttle },
    "throttle cannot go together with debounce: debounce keeps the last of a burst, throttle the first",
  ],
  [
    { debounce, runAt: at(1) },
    "runAt cannot go together with debounce: the job runs debounce.wait after the last addition",
  ],
  [
    { debounce, delay: "5s" },
    "delay cannot go together with debounce: the job runs debounce.wait after the last addition",
  ],
  [
    { debounce, idempotencyKey: "k" },
    "idempotencyKey cannot go together with debounce: debounce.key tells which additions make one job",
  ],
  [
    { debounce, after: ["a job"] },
    "debounce cannot go together with after: a burst waits for time, not for other jobs",
  ],
  [
    { debounce: { ...debounce, maxWait: "1s" } },
    "debounce.maxWait must be at least as long as wait, 5000 ms; got 1000 ms",
  ],
  [{ debounce: "10s" }, 'debounce must be an object; got "10s": write { key: ..., wait: "10s" }'],
  [{ throttle: 500 }, "throttle must be an object; got 500: write { key: ..., per: { milliseconds: 500 } }"],
  [{ debounce: { key: "k" } }, 'debounce.wait is missing; it must be a duration such as "5m" or { minutes: 5 }'],
  [{ debounce: { wait: "1s" } }, "debounce.key is missing; it must be text of 1 to 256 characters"],
  [{ debounce: { key: 7, wait: "1s" } }, 'debounce.key must be text of 1 to 256 characters; got 7: write "7"'],
  [{ throttle: { key: "", per: "1s" } }, 'throttle.key must be text of 1 to 256 characters; got ""'],
  [
    { throttle: { key: "k", per: 500 } },
    'throttle.per must be a duration such as "5m" or { minutes: 5 }; got 500: a bare number has no unit; write ' +
      "{ seconds: 500 } or { milliseconds: 500 }",
  ],
  [{ throttle: { key: "k", per: "0s" } }, 'throttle.per must be a duration longer than zero; got "0s"'],
  [
    { idempotencyKey: "k", uniqueFor: { hours: 1e8 } },
    "uniqueFor must be a duration of at most 1,000 years; got { hours: 100000000 }",
  ],
  [
    { debounce: { key: "k", wait: "1s", per: "1s" } },
    "debounce.per is no option here; wait is the pause after the last addition; throttle: { key, per } keeps the " +
      "first of a time",
  ],
  [
    { throttle: { key: "k", limit: 3, per: "1s" } },
    "throttle.limit is no option here; the time is per, and one job is added in it; rateLimit of the task is how " +
      "many start in a time",
  ],
  [{ singletonKey: "k" }, 'singletonKey is no option; did you mean "idempotencyKey"?'],
];

test.each(MISTAKES)("%j is refused", async (options, message) => {
  const { scheduler } = setUp();
  const task = scheduler.task("t", () => {});
  for (const verb of ["addJob", "runJob", "prepareJob"] as const) {
    const refusal = await rejectionOf((scheduler[verb] as unknown as Untyped).call(scheduler, task, options));
    expect([refusal instanceof OptionsError, (refusal as Error).message]).toEqual([true, `${verb}(): ${message}`]);
  }
  const refusal = await rejectionOf((scheduler.addJobs as unknown as Untyped).call(scheduler, [{ task, ...options }]));
  expect((refusal as Error).message).toBe(`addJobs()[0]: ${message}`);
});
