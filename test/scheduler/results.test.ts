import { describe, expect, test } from "vitest";
import { DeserializationError, MemoryDataStore, SkipRun } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, leaseAndDie, secondsOf, setUp } from "./support.ts";

describe("results", () => {
  test("live 24 hours by default", async () => {
    const { scheduler, clock } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", () => 1));
    await drain(scheduler);
    expect(secondsOf((await scheduler.getJobResult(id))?.expiresAt ?? null)).toBe(86_400);
    await clock.advance("PT23H59M59.999S");
    expect((await scheduler.getJobResult(id))?.returnValue).toBe(1);
    await clock.advance("PT0.001S");
    expect(await scheduler.getJobResult(id)).toBeNull();
    expect((await scheduler.getJobResults()).items).toEqual([]);
  });

  test("are not kept with an expiration time of zero", async () => {
    const { scheduler } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", { resultExpirationTime: "PT0S" }, () => 1));
    expect((await scheduler.tick()).outcomes.success).toBe(1);
    expect(await scheduler.getJobResult(id)).toBeNull();
  });

  test("take their expiration from the call before the task, and the task before the defaults", async () => {
    const { scheduler } = setUp({ taskDefaults: { resultExpirationTime: { hours: 1 } } });
    scheduler.task("default", () => {});
    scheduler.task("own", { resultExpirationTime: { hours: 2 } }, () => {});
    const jobs = await scheduler.addJobs([
      { task: "default" },
      { task: "own" },
      { task: "own", resultExpirationTime: { hours: 3 } },
    ]);
    await drain(scheduler);
    const ends = await Promise.all(jobs.map(async ({ id }) => (await scheduler.getJobResult(id))?.expiresAt ?? null));
    expect(ends.map(secondsOf)).toEqual([3600, 7200, 10_800]);
  });

  test("stay when they are read", async () => {
    const { scheduler } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", () => ({ a: [1, null] })));
    await drain(scheduler);
    const twice = [await scheduler.getJobResult(id), await scheduler.getJobResult(id)];
    expect(twice.map((result) => result?.returnValue)).toEqual([{ a: [1, null] }, { a: [1, null] }]);
  });

  test("are removed by the clean-up once they have expired, not before", async () => {
    const { scheduler, clock, store } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", { resultExpirationTime: "PT1M" }, () => 1));
    await drain(scheduler);
    await scheduler.cleanup();
    expect(await store.getJobResult(id, 0)).not.toBeNull();
    await clock.advance("PT1M");
    await scheduler.cleanup();
    expect(await store.getJobResult(id, 0)).toBeNull();
  });

  test("are cleaned up by a scheduler that runs, at its interval", async () => {
    const { scheduler, clock, store } = setUp({ cleanupInterval: "PT10M" });
    const task = scheduler.task("t", { resultExpirationTime: "PT1M" }, () => 1);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT9M59S");
    expect(await store.getJobResult(id, 0)).not.toBeNull();
    await clock.advance("PT1S");
    expect(await store.getJobResult(id, 0)).toBeNull();
  });

  test("tell when, how and after how many attempts the job ended", async () => {
    const { scheduler, clock } = setUp();
    const { id } = await scheduler.addJob(
      scheduler.task("t", () => {
        throw new Error("no");
      }),
    );
    await clock.advance("PT3S");
    await drain(scheduler);
    const result = await scheduler.getJobResult(id);
    expect(result?.toJSON()).toMatchObject({
      jobId: id,
      taskId: "t",
      scheduleId: null,
      outcome: "error",
      startedAt: "2030-01-01T00:00:03Z",
      finishedAt: "2030-01-01T00:00:03Z",
      attempts: 1,
      error: { name: "Error", message: "no" },
    });
  });

  test("have one of seven outcomes, each of which can be listed", async () => {
    const serializer = {
      serialize: (value: unknown) => JSON.stringify(value),
      deserialize: (): unknown => {
        throw new DeserializationError("not readable");
      },
    };
    const { scheduler, clock, store } = setUp({ dataStore: new MemoryDataStore({ serializer }) });
    scheduler.task("t", { maxRunningJobs: null }, () => {});
    scheduler.task("bad", () => {
      throw new Error("no");
    });
    scheduler.task("lost", { maxRecoveries: 0 }, () => {});
    scheduler.task("idle", () => {
      throw new SkipRun("nothing to do");
    });
    await scheduler.addJobs([
      { task: "t" },
      { task: "bad" },
      { task: "idle" },
      { task: "t", startDeadline: at(1) },
      { task: "t", payload: "unreadable" },
      { task: "lost" },
    ]);
    await scheduler.cancelJob((await scheduler.addJob("t")).id);
    await leaseAndDie(store, clock.now(), { taskId: "lost" });
    await clock.advance("PT1M");
    const reports = await drain(scheduler);
    const outcomes = [
      "success",
      "error",
      "missedStartDeadline",
      "deserializationFailed",
      "cancelled",
      "abandoned",
      "skipped",
    ] as const;
    for (const outcome of outcomes) expect((await scheduler.getJobResults({ outcome })).items).toHaveLength(1);
    expect(Object.keys(reports[0]?.outcomes ?? {}).sort()).toEqual([...outcomes].sort());
  });

  test("come in pages, the newest first, filtered by task, schedule, outcome and time", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("good", { maxRunningJobs: null }, () => {});
    scheduler.task("bad", { maxRunningJobs: null }, () => {
      throw new Error("no");
    });
    const good: string[] = [];
    for (let minute = 0; minute < 5; minute++) {
      good.push((await scheduler.addJob("good")).id);
      await drain(scheduler);
      await clock.advance("PT1M");
    }
    await scheduler.addJobs([{ task: "bad" }, { task: "bad" }]);
    await drain(scheduler);
    const ids: string[] = [];
    let cursor: string | null = null;
    const sizes: number[] = [];
    do {
      const page = await scheduler.getJobResults({ taskId: "good", limit: 2, cursor });
      ids.push(...page.items.map(({ jobId }) => jobId));
      sizes.push(page.items.length);
      ({ cursor } = page);
    } while (cursor !== null);
    expect([ids, sizes]).toEqual([good.toReversed(), [2, 2, 1]]);
    const oldest = await scheduler.getJobResults({ taskId: "good", order: "oldest" });
    expect(oldest.items.map(({ jobId }) => jobId)).toEqual(good);
    const within = await scheduler.getJobResults({ from: at(60), until: "2030-01-01T00:03:00Z" });
    expect(within.items.map(({ jobId }) => jobId)).toEqual([good[2], good[1]]);
    expect((await scheduler.getJobResults({ outcome: "error" })).items.map(({ taskId }) => taskId)).toEqual([
      "bad",
      "bad",
    ]);
    expect((await scheduler.getJobResults({ scheduleId: "none" })).items).toEqual([]);
  });

  test("of another list's cursor are refused", async () => {
    const { scheduler } = setUp();
    for (const cursor of ["", "019-a", "1", "1 2 3", "1.5 2"]) {
      await expect(scheduler.getJobResults({ cursor })).rejects.toMatchObject({ code: "options" });
    }
  });

  test("can be waited for, and the wait ends with the signal while the job goes on", async () => {
    const { scheduler, clock } = setUp();
    const { id } = await scheduler.addJob(
      scheduler.task("t", () => 7),
      { runAt: new Date(clock.now() + 60_000) },
    );
    const waiting = scheduler.getJobResult(id, { wait: true });
    const ended = new AbortController();
    const given = scheduler.getJobResult(id, { wait: true, signal: ended.signal });
    await clock.settle();
    ended.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await scheduler.start();
    await clock.advance("PT1M");
    expect((await waiting)?.returnValue).toBe(7);
  });

  test("cannot be waited for when there is neither a job nor a result", async () => {
    const { scheduler } = setUp();
    await expect(scheduler.getJobResult("nobody", { wait: true })).rejects.toMatchObject({
      code: "jobLookup",
      id: "nobody",
    });
    expect(await scheduler.getJobResult("nobody")).toBeNull();
  });

  test("too large to be kept end the job with an error that says so", async () => {
    const { scheduler } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", () => "x".repeat(1_000_001)));
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.error?.message).toContain("too large");
  });
});
