import { describe, expect, test } from "vitest";
import type { JobAddition, JobRecord } from "../../src/contracts.ts";
import { ConflictingIdError, JobLookupError, MemoryDataStore, OptionsError, TaskLookupError } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, heldHandler, rejectionOf, START, setUp } from "./support.ts";

/** A task whose handler throws while `isBroken`. */
function setUpBroken(
  options: Parameters<typeof setUp>[0] = {},
): ReturnType<typeof setUp> & { mend(): void; runs: unknown[] } {
  const setup = setUp(options);
  let isBroken = true;
  const runs: unknown[] = [];
  setup.scheduler.task("t", { maxRunningJobs: null, metadata: { team: "blue" } }, (payload: unknown, context) => {
    runs.push([payload, context.idempotencyKey]);
    if (isBroken) throw new Error("broken");
    return "mended";
  });
  return {
    ...setup,
    runs,
    mend: () => {
      isBroken = false;
    },
  };
}

describe("retryJob()", () => {
  test("adds a job that is the same again, and leaves the old result as it is", async () => {
    const { scheduler, mend, clock } = setUpBroken();
    const options = { payload: { n: 1 }, priority: 7, metadata: { a: 1 }, resultExpirationTime: "PT2H" };
    const { id } = await scheduler.addJob("t", { ...options, startDeadline: at(5) });
    await drain(scheduler);
    await clock.advance("PT1M");
    const job = await scheduler.retryJob(id);
    expect(job.toJSON()).toMatchObject({
      ...{ id: `${id}~1`, retryOf: id, taskId: "t", payload: { n: 1 }, priority: 7, executor: "inline" },
      ...{ metadata: { a: 1, team: "blue" }, startDeadline: null, failedAttempts: 0, runAt: at(60).toString() },
    });
    mend();
    await drain(scheduler);
    const result = await scheduler.getJobResult(job.id);
    expect([result?.outcome, result?.retryOf, result?.payload]).toEqual(["success", id, { n: 1 }]);
    expect(result?.expiresAt.toString()).toBe(at(60 + 7200).toString());
    const old = await scheduler.getJobResult(id);
    expect([old?.outcome, old?.retryOf]).toEqual(["error", null]);
  });

  test("adds nothing when the result goes in the meantime, and says so", async () => {
    class Forgetful extends MemoryDataStore {
      /** The last thing that is asked before the addition. */
      override async getJob(id: string): Promise<JobRecord | null> {
        const job = await super.getJob(id);
        await this.removeJobResults({}, 100);
        return job;
      }
    }
    const { scheduler } = setUpBroken({ dataStore: new Forgetful() });
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    const error = await rejectionOf(scheduler.retryJob(id));
    expect(error).toBeInstanceOf(JobLookupError);
    expect((error as JobLookupError).message).toContain(`the result of job "${id}"`);
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("passes on the idempotency key, or the first job's id as one", async () => {
    const { scheduler, runs } = setUpBroken();
    const { id } = await scheduler.addJob("t");
    const keyed = await scheduler.addJob("t", { idempotencyKey: "key" });
    await drain(scheduler);
    await scheduler.retryJob(id);
    await scheduler.retryJob(keyed.id);
    await drain(scheduler);
    await scheduler.retryJob(`${id}~1`);
    await drain(scheduler);
    expect(runs.map((run) => (run as unknown[])[1])).toEqual([id, "key", id, "key", id]);
  });

  test("keeps the schedule and the fire time", async () => {
    const { scheduler } = setUpBroken();
    await scheduler.addSchedule("t", everySecond(), { id: "s", payload: "p" });
    await scheduler.tick();
    const [failed] = (await scheduler.getJobResults({ scheduleId: "s" })).items;
    const job = await scheduler.retryJob(failed?.jobId ?? "");
    expect([job.scheduleId, job.fireTime?.toString(), job.scheduledFireTime?.toString(), job.payload]).toEqual([
      ...["s", START, START, "p"],
    ]);
  });

  test("retries a job once: it answers with the unfinished job, or names the one to retry once that has ended", async () => {
    const { scheduler } = setUpBroken();
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    const [first, second] = await Promise.all([scheduler.retryJob(id), scheduler.retryJob(id)]);
    expect([first.id, second.id, (await scheduler.retryJob(id)).id]).toEqual([`${id}~1`, `${id}~1`, `${id}~1`]);
    expect((await scheduler.getJobs()).items).toHaveLength(1);
    await drain(scheduler);
    const error = await rejectionOf(scheduler.retryJob(id));
    expect(error).toBeInstanceOf(ConflictingIdError);
    expect(error).toMatchObject({ id: `${id}~1` });
    expect((await scheduler.retryJob(`${id}~1`)).id).toBe(`${id}~2`);
  });

  test("rejects for a job without a result, one that has not ended, and one whose task is gone", async () => {
    const { scheduler, clock } = setUpBroken();
    expect(await rejectionOf(scheduler.retryJob("nobody"))).toMatchObject({ code: "jobLookup", id: "nobody" });
    const { id } = await scheduler.addJob("t", { failureExpirationTime: "PT1M" });
    expect(await rejectionOf(scheduler.retryJob(id))).toBeInstanceOf(ConflictingIdError);
    await drain(scheduler);
    await clock.advance("PT30S");
    await scheduler.removeTask("t");
    expect(await rejectionOf(scheduler.retryJob(id))).toBeInstanceOf(TaskLookupError);
    await clock.advance("PT30S");
    expect(await rejectionOf(scheduler.retryJob(id))).toBeInstanceOf(JobLookupError);
    expect(await rejectionOf(scheduler.retryJob(""))).toBeInstanceOf(OptionsError);
  });

  test("rejects for a result without its job", async () => {
    const { scheduler, store, clock } = setUp();
    scheduler.task("t", () => 1);
    const { id } = await scheduler.addJob("t");
    await drain(scheduler);
    const record = await store.getJobResult(id, clock.now());
    const { job: _kept, ...earlier } = record ?? { job: null };
    class EarlierStore extends MemoryDataStore {
      override async getJobResult(): ReturnType<MemoryDataStore["getJobResult"]> {
        return earlier as Awaited<ReturnType<MemoryDataStore["getJobResult"]>>;
      }
    }
    const { scheduler: later } = setUp({ dataStore: new EarlierStore() });
    expect(await rejectionOf(later.retryJob(id))).toMatchObject({ code: "jobLookup", id });
  });
});

describe("retryJobs()", () => {
  test("retries what failed, and neither what succeeded nor what was cancelled", async () => {
    const { scheduler, mend } = setUpBroken();
    scheduler.task("good", () => {});
    const failed = await scheduler.addJobs(Array.from({ length: 250 }, (_, n) => ({ task: "t", payload: n })));
    await scheduler.addJob("good");
    const late = await scheduler.addJob("t", { startDeadline: at(-1) });
    await scheduler.cancelJob((await scheduler.addJob("t", { runAt: at(99) })).id);
    await drain(scheduler);
    expect(await scheduler.retryJobs({ all: true })).toEqual({ retried: 251, skipped: 0, refusals: [] });
    mend();
    await drain(scheduler);
    expect(await scheduler.retryJobs({ all: true })).toMatchObject({ retried: 0, skipped: 251 });
    const { items } = await scheduler.getJobResults({ taskId: "t", outcome: "success", limit: 1000 });
    expect(items.map(({ retryOf }) => retryOf).sort()).toEqual([...failed, late].map(({ id }) => id).sort());
  });

  test("ends although the jobs fail again while it runs, and the next call retries those", async () => {
    const { scheduler, clock } = setUpBroken();
    await scheduler.addJobs(Array.from({ length: 150 }, () => ({ task: "t" })));
    await scheduler.start();
    await clock.advance("PT1S");
    expect(await scheduler.retryJobs({ outcome: "error" })).toEqual({ retried: 150, skipped: 0, refusals: [] });
    await clock.advance("PT1S");
    expect(await scheduler.retryJobs({ outcome: "error" })).toMatchObject({ retried: 150, skipped: 150 });
  });

  test("takes filters by task, schedule, outcome and time", async () => {
    const { scheduler, clock } = setUpBroken();
    await scheduler.addJob("t");
    await drain(scheduler);
    await clock.advance("PT1M");
    await scheduler.addJob("t");
    await drain(scheduler);
    expect(await scheduler.retryJobs({ taskId: "other" })).toEqual({ retried: 0, skipped: 0, refusals: [] });
    expect(await scheduler.retryJobs({ scheduleId: "s" })).toEqual({ retried: 0, skipped: 0, refusals: [] });
    expect(await scheduler.retryJobs({ outcome: "cancelled" })).toEqual({ retried: 0, skipped: 0, refusals: [] });
    expect(await scheduler.retryJobs({ from: at(60) })).toEqual({ retried: 1, skipped: 0, refusals: [] });
    expect(await scheduler.retryJobs({ until: at(60) })).toEqual({ retried: 1, skipped: 0, refusals: [] });
  });

  test("takes ids, and says of the first hundred that it skips why", async () => {
    const { scheduler } = setUpBroken();
    const failed = await scheduler.addJobs(Array.from({ length: 3 }, () => ({ task: "t" })));
    await drain(scheduler);
    const waiting = await scheduler.addJob("t", { runAt: at(60) });
    const [first, second, third] = failed.map(({ id }) => id);
    await scheduler.retryJob(second ?? "");
    const ids = [first, second, "none", waiting.id, third, first].map((id) => id ?? "");
    expect(await scheduler.retryJobs({ ids })).toEqual({
      retried: 2,
      skipped: 3,
      refusals: [
        { id: "none", code: "jobLookup", detail: expect.stringContaining('no result of job "none"') },
        { id: waiting.id, code: "conflictingId", detail: expect.stringContaining("has not ended") },
        { id: second, code: "conflictingId", detail: `job "${second}" was retried before, as job "${second}~1"` },
      ],
    });
    const many = Array.from({ length: 150 }, (_, index) => `none ${index}`);
    const { skipped, refusals } = await scheduler.retryJobs({ ids: many });
    expect([skipped, refusals.length, refusals[99]?.id]).toEqual([150, 100, "none 99"]);
    expect(await rejectionOf(scheduler.retryJobs({ ids, taskId: "t" }))).toBeInstanceOf(OptionsError);
    expect(await rejectionOf(scheduler.retryJobs({ ids, all: true }))).toBeInstanceOf(OptionsError);
  });

  test("stops between two commits when its signal is aborted", async () => {
    const stop = new AbortController();
    class AbortingStore extends MemoryDataStore {
      override async addJobs(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
        if (jobs[0]?.retryOf !== undefined) stop.abort(new Error("enough"));
        return super.addJobs(jobs);
      }
    }
    const { scheduler } = setUpBroken({ dataStore: new AbortingStore() });
    await scheduler.addJobs(Array.from({ length: 1001 }, () => ({ task: "t" })));
    await drain(scheduler);
    await expect(scheduler.retryJobs({ taskId: "t", signal: stop.signal })).rejects.toThrow("enough");
    expect((await scheduler.getJobs({ limit: 1000 })).cursor).toBeNull();
    expect((await scheduler.getJobs({ limit: 1000 })).items).toHaveLength(1000);
  });
});

describe("cancelJobs()", () => {
  test("cancels the jobs that fit, those that wait and those that run", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    scheduler.task("t", { maxRunningJobs: 1 }, handler);
    scheduler.task("other", { maxRunningJobs: 1 }, handler);
    await scheduler.addJobs([...Array.from({ length: 250 }, () => ({ task: "t" })), { task: "other" }]);
    await scheduler.start();
    await clock.advance("PT1S");
    expect(await scheduler.cancelJobs({ taskId: "t" })).toEqual({ cancelled: 250, skipped: 0, refusals: [] });
    expect(held.map(({ context }) => [context.job.taskId, context.signal.aborted])).toEqual([
      ["t", true],
      ["other", false],
    ]);
    for (const { finish } of held) finish("");
    await clock.advance("PT1S");
    expect((await scheduler.getJobResults({ outcome: "cancelled", limit: 1000 })).items).toHaveLength(250);
    expect(await scheduler.cancelJobs({ all: true })).toEqual({ cancelled: 0, skipped: 0, refusals: [] });
  });

  test("takes ids, and says which are no unfinished jobs", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const [first, second] = await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    const ids = [first?.id ?? "", "none", second?.id ?? "", first?.id ?? ""];
    const detail = 'there is no unfinished job "none"';
    const refusals = [{ id: "none", code: "jobLookup", detail }];
    expect(await scheduler.cancelJobs({ ids })).toEqual({ cancelled: 2, skipped: 1, refusals });
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("ends although others go on adding jobs", async () => {
    const clock = setUp().clock;
    class BusyStore extends MemoryDataStore {
      override async getJobs(
        filter: Parameters<MemoryDataStore["getJobs"]>[0],
      ): ReturnType<MemoryDataStore["getJobs"]> {
        await clock.advance("PT0.001S");
        await scheduler.addJobs(Array.from({ length: 100 }, () => ({ task: "t" })));
        return super.getJobs(filter);
      }
    }
    const { scheduler } = setUp({ clock, dataStore: new BusyStore() });
    scheduler.task("t", () => {});
    await scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    expect(await scheduler.cancelJobs({ taskId: "t" })).toEqual({ cancelled: 2, skipped: 0, refusals: [] });
  });
});

describe("removeJobResults()", () => {
  test("removes the results that fit, and says how many", async () => {
    const { scheduler, clock } = setUpBroken();
    scheduler.task("good", { maxRunningJobs: null }, () => {});
    await scheduler.addJobs(Array.from({ length: 1200 }, () => ({ task: "good" })));
    await scheduler.addJob("t");
    await drain(scheduler);
    await clock.advance("PT1M");
    await scheduler.addJob("good");
    await drain(scheduler);
    const old = { taskId: "good", until: at(60) };
    expect(await scheduler.removeJobResults(old)).toEqual({ removed: 1200 });
    expect(await scheduler.removeJobResults(old)).toEqual({ removed: 0 });
    expect((await scheduler.getJobResults()).items.map(({ taskId }) => taskId)).toEqual(["good", "t"]);
    expect(await scheduler.removeJobResults({ outcome: "error" })).toEqual({ removed: 1 });
    expect(await scheduler.removeJobResults({ all: true })).toEqual({ removed: 1 });
  });

  test("takes the filters of runs and ids, page by page, and counts without removing", async () => {
    const { scheduler } = setUpBroken();
    scheduler.task("good", { maxRunningJobs: null }, () => {});
    const jobs = await scheduler.addJobs(
      Array.from({ length: 1200 }, (_, n) => ({ task: "good", idempotencyKey: n < 1100 ? `old-${n}` : `new-${n}` })),
    );
    await scheduler.addJob("t");
    await drain(scheduler);
    const old = { search: "OLD-", outcome: ["success", "error"] } as const;
    expect(await scheduler.removeJobResults({ ...old, dryRun: true })).toEqual({ removed: 1100 });
    expect(await scheduler.removeJobResults({ all: true, dryRun: true })).toEqual({ removed: 1201 });
    expect(await scheduler.removeJobResults(old)).toEqual({ removed: 1100 });
    expect(await scheduler.removeJobResults(old)).toEqual({ removed: 0 });
    const ids = jobs.slice(1090).map(({ id }) => id);
    expect(await scheduler.removeJobResults({ ids, dryRun: true })).toEqual({ removed: 100 });
    expect(await scheduler.removeJobResults({ ids: [...ids, ids[50] ?? ""] })).toEqual({ removed: 100 });
    expect(await scheduler.removeJobResults({ minAttempts: 2 })).toEqual({ removed: 0 });
    expect(await scheduler.removeJobResults({ error: "broken" })).toEqual({ removed: 1 });
    expect((await scheduler.getJobResults()).items).toEqual([]);
  });
});

describe("a call about many jobs", () => {
  test.each(["retryJobs", "cancelJobs", "removeJobResults"] as const)(
    "%s() refuses a filter that names nothing",
    async (name) => {
      const { scheduler } = setUp();
      for (const filter of [{}, { all: false }, { signal: new AbortController().signal }]) {
        const error = await rejectionOf(scheduler[name](filter));
        expect(error).toBeInstanceOf(OptionsError);
        expect(String(error)).toContain(`${name}() takes a filter that names something`);
      }
      const unset: unknown = { taskId: undefined };
      expect(await rejectionOf(scheduler[name](unset as { taskId: string }))).toBeInstanceOf(OptionsError);
      expect(await rejectionOf(scheduler[name](undefined as never))).toBeInstanceOf(OptionsError);
      await expect(scheduler[name]({ all: true })).resolves.toBeDefined();
    },
  );

  test.each(["retryJobs", "cancelJobs", "removeJobResults"] as const)(
    "%s() does nothing once its signal is aborted",
    async (name) => {
      const { scheduler } = setUpBroken();
      await scheduler.addJob("t");
      await drain(scheduler);
      await scheduler.addJob("t", { runAt: at(60) });
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(scheduler[name]({ all: true, signal })).rejects.toThrow("enough");
      expect((await scheduler.getJobs()).items).toHaveLength(1);
      expect((await scheduler.getJobResults()).items).toHaveLength(1);
    },
  );
});
