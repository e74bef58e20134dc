import { describe, expect, test } from "vitest";
import { type BackfillOptions, CronTrigger, MemoryDataStore, OptionsError, Scheduler } from "../../src/mod.ts";
import type { OccurrenceRecord } from "../../src/records/ledger.ts";
import type { BackfillCommit } from "../../src/stores/data-store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

/** Midnight of a day, as ISO text. */
function day(number: number): string {
  return `2030-01-${String(number).padStart(2, "0")}T00:00:00Z`;
}

interface World {
  readonly clock: VirtualClock;
  readonly store: MemoryDataStore;
  readonly scheduler: Scheduler;
  /** The days of the fire times whose handlers were called. */
  readonly ran: number[];
}

/** A schedule that fires at midnight, since 1 January, of which nothing ran until the 11th at noon. */
async function missedTen(options: Parameters<Scheduler["addSchedule"]>[2] = {}): Promise<World> {
  const clock = new VirtualClock("2029-12-31T12:00:00Z");
  const store = new MemoryDataStore({ ledger: { maxAge: "365d" } });
  const scheduler = new Scheduler({ clock, dataStore: store, logLevel: "silent" });
  const ran: number[] = [];
  scheduler.task("daily", { maxRunningJobs: null }, (_: unknown, { job }) => {
    ran.push(Number(job.scheduledFireTime?.toString().slice(8, 10)));
  });
  await scheduler.addSchedule("daily", "0 0 * * *", { id: "daily", ...options });
  await scheduler.pauseSchedule("daily");
  await clock.advanceTo("2030-01-11T12:00:00Z");
  await scheduler.unpauseSchedule("daily", { resumeFrom: "now" });
  await scheduler.start();
  await clock.advance("PT1S");
  return { clock, store, scheduler, ran };
}

const ALL: BackfillOptions = { from: day(1), until: day(11) };

describe("a backfill", () => {
  test("adds a job for each fire time that has no run, and answers which", async () => {
    const { clock, scheduler, ran } = await missedTen();
    const dry = await scheduler.backfill("daily", { ...ALL, dryRun: true });
    expect({ ...dry, first: String(dry.first), last: String(dry.last) }).toEqual({
      ...{ count: 10, first: day(1), last: day(10), backfillId: null },
      ...{ ran: 0, coalesced: 0, coalescedInto: null },
    });
    expect((await scheduler.getJobs()).items).toEqual([]);
    const { backfillId, ...facts } = await scheduler.backfill("daily", ALL);
    const left = { ran: 0, coalesced: 0, coalescedInto: null };
    expect(JSON.parse(JSON.stringify(facts))).toEqual({ count: 10, first: day(1), last: day(10), ...left });
    const { items } = await scheduler.getJobs({ backfillId: backfillId ?? "" });
    expect(items.map((job) => [String(job.scheduledFireTime), job.backfillId])).toEqual(
      Array.from({ length: 10 }, (_, index) => [day(index + 1), backfillId]),
    );
    await clock.advance("PT1S");
    expect(ran).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const occurrences = await scheduler.getOccurrences("daily", { from: ALL.from, until: ALL.until });
    expect(occurrences.items.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 10 }, () => "success"));
    const { cause, text } = await scheduler.explain("daily", day(3));
    expect(cause).toEqual({ kind: "backfill", backfillId });
    expect(text).toContain(`Cause: backfill ${backfillId} made up for it.`);
  });

  test("adds nothing twice: the same call is the same backfill, done or not", async () => {
    const { clock, scheduler, ran } = await missedTen();
    const first = await scheduler.backfill("daily", ALL);
    expect(await scheduler.backfill("daily", ALL)).toEqual(first);
    await clock.advance("PT1S");
    expect(await scheduler.backfill("daily", ALL)).toEqual(first);
    expect((await scheduler.backfill("daily", { from: day(1), until: day(10) })).count).toBe(0);
    const again = { ...ALL, includeRan: true };
    const second = await scheduler.backfill("daily", again);
    expect(second.count).toBe(10);
    await clock.advance("PT1S");
    expect(await scheduler.backfill("daily", again)).toEqual(second);
    expect((await scheduler.backfill("daily", { ...again, idempotencyKey: "once more" })).count).toBe(10);
    await clock.advance("PT1S");
    expect(ran).toHaveLength(30);
  });

  test("says what it leaves out: what ran, and what was coalesced, into which run", async () => {
    const clock = new VirtualClock("2030-01-01T12:00:00Z");
    const store = new MemoryDataStore();
    const started = async (): Promise<Scheduler> => {
      const scheduler = new Scheduler({ clock, dataStore: store, logLevel: "silent" });
      await scheduler.schedule("daily", "0 0 * * *", () => {});
      await scheduler.start();
      return scheduler;
    };
    let scheduler = await started();
    await clock.advance({ days: 1 });
    for (const days of [3, 4]) {
      await scheduler.stop();
      await clock.advance({ days });
      scheduler = await started();
      await clock.advance({ hours: 1 });
    }
    const told = async (options: BackfillOptions): Promise<unknown> => {
      const { count, ran, coalesced, coalescedInto } = await scheduler.backfill("daily", { ...options, dryRun: true });
      return [count, ran, coalesced, coalescedInto?.toString() ?? null];
    };
    expect(await told({ from: day(3), until: day(5) })).toEqual([0, 0, 2, day(5)]);
    expect(await told({ from: day(2), until: day(6) })).toEqual([0, 2, 2, day(5)]);
    expect(await told({ from: day(3), until: day(9) })).toEqual([0, 1, 5, null]);
    expect(await told({ from: day(3), until: day(9), order: "newest" })).toEqual([0, 1, 5, null]);
    expect(await told({ from: day(3), until: day(5), includeCoalesced: true })).toEqual([2, 0, 0, null]);
    expect(await told({ from: day(2), until: day(6), includeCoalesced: true })).toEqual([2, 2, 0, null]);
    expect(await told({ from: day(2), until: day(6), includeRan: true })).toEqual([4, 0, 0, null]);
    expect(await told({ from: `${day(3).slice(0, 10)}T01:00:00Z`, until: day(4) })).toEqual([0, 0, 0, null]);
    expect((await scheduler.backfill("daily", { from: day(3), until: day(5), includeCoalesced: true })).count).toBe(2);
    await clock.advance({ minutes: 1 });
    const { items } = await scheduler.getOccurrences("daily", { from: day(3), until: day(5) });
    expect(items.map(({ verdict }) => verdict)).toEqual(["success", "success"]);
    await scheduler.stop();
  });

  test("refuses another request under the same key", async () => {
    const { scheduler } = await missedTen();
    await scheduler.backfill("daily", { ...ALL, idempotencyKey: "key" });
    const other = scheduler.backfill("daily", { ...ALL, limit: 3, idempotencyKey: "key" });
    await expect(other).rejects.toThrow("idempotencyKey stands for another request already");
  });

  test("by two programs at once adds each fire time once", async () => {
    const { clock, store, scheduler, ran } = await missedTen();
    const other = new Scheduler({ clock, dataStore: store, logLevel: "silent" });
    other.task("daily", { maxRunningJobs: null }, () => {});
    const overlapping: BackfillOptions = { from: day(4), until: day(9) };
    const calls = [
      scheduler.backfill("daily", { ...ALL, includeRan: true }),
      other.backfill("daily", { ...ALL, includeRan: true }),
      other.backfill("daily", overlapping),
      scheduler.backfill("daily", { ...overlapping, order: "newest" }),
    ] as const;
    await clock.advance("PT1S");
    const [a, b, ...others] = await Promise.all(calls);
    expect(a).toEqual(b);
    const counts = new Map([a, b, ...others].map((one) => [one.backfillId, one.count]));
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(10);
    await clock.advance("PT1S");
    expect(ran.toSorted((x, y) => x - y)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("goes on where it was interrupted, as it is told to", async () => {
    const { clock, store, scheduler } = await missedTen({ payload: "x".repeat(300_000) });
    const ended = new AbortController();
    const commit = store.commitBackfill.bind(store);
    let commits = 0;
    store.commitBackfill = async (request: BackfillCommit) => {
      if (++commits === 3) ended.abort(new Error("enough"));
      return commit(request);
    };
    await expect(scheduler.backfill("daily", { ...ALL, signal: ended.signal })).rejects.toThrow("enough");
    expect((await scheduler.getJobs()).items).toHaveLength(3);
    const { count } = await scheduler.backfill("daily", ALL);
    expect([count, commits]).toEqual([10, 11]);
    await clock.advance("PT1S");
  });

  test("that is cancelled adds nothing more, and the same call begins another one", async () => {
    const { store, scheduler } = await missedTen({ payload: "x".repeat(300_000) });
    await scheduler.pauseTask("daily");
    const commit = store.commitBackfill.bind(store);
    let commits = 0;
    store.commitBackfill = async (request: BackfillCommit) => {
      const answer = await commit(request);
      if (++commits === 3) await scheduler.cancelJobs({ backfillId: request.backfill.id });
      return answer;
    };
    const first = await scheduler.backfill("daily", { ...ALL, pace: "1h" });
    expect(first.count).toBe(3);
    expect((await scheduler.getJobs()).items).toEqual([]);
    const second = await scheduler.backfill("daily", { ...ALL, pace: "1h" });
    expect([second.count, second.backfillId === first.backfillId]).toEqual([10, false]);
    const { cancelled } = await scheduler.cancelJobs({ backfillId: second.backfillId ?? "" });
    expect(cancelled).toBe(10);
  });

  test("keeps to its order, its limit and its pace", async () => {
    const { clock, scheduler, ran } = await missedTen();
    const options: BackfillOptions = { ...ALL, order: "newest", limit: 3, pace: { minutes: 1 } };
    const { count, first, last, backfillId } = await scheduler.backfill("daily", options);
    expect([count, String(first), String(last)]).toEqual([3, day(8), day(10)]);
    const runAts = (await scheduler.getJobs({ backfillId: backfillId ?? "", order: "newest" })).items;
    const now = clock.now();
    expect(runAts.map(({ runAt }) => runAt.epochMilliseconds - now)).toEqual([0, 60_000, 120_000]);
    await clock.advance("PT1H");
    expect(ran).toEqual([10, 9, 8]);
    expect(await scheduler.backfill("daily", options)).toMatchObject({ count: 3, backfillId });
  });

  test("keeps to the limits of the task, and comes behind its other jobs", async () => {
    const { clock, scheduler } = await missedTen();
    const order: string[] = [];
    scheduler.task("limited", { maxRunningJobs: 1 }, async (_: unknown, { job }) => {
      order.push(job.backfillId === null ? "other" : String(job.scheduledFireTime).slice(8, 10));
      await clock.sleep(clock.now() + 1000);
    });
    const trigger = CronTrigger.fromCrontab("0 0 * * *");
    await scheduler.addSchedule("limited", trigger, { id: "limited" });
    await scheduler.backfill("limited", { from: day(1), until: day(4), includeUnrecorded: true });
    await scheduler.addJob("limited");
    await clock.advance("PT500S");
    expect(order).toEqual(["other", "01", "02", "03"]);
  });

  test("leaves out what runs or is coalesced into another's run, and not what never began", async () => {
    const clock = new VirtualClock("2029-12-31T12:00:00Z");
    const scheduler = new Scheduler({ clock, logLevel: "silent" });
    scheduler.task("daily", { misfireGraceTime: "1h" }, () => {});
    await scheduler.addSchedule("daily", "0 0 * * *", { id: "daily" });
    await clock.advanceTo("2030-01-05T00:30:00Z");
    await scheduler.start();
    await clock.advance("PT1S"); // 1 to 4 are coalesced into the 5th, which runs.
    await scheduler.stop();
    await clock.advanceTo("2030-01-09T12:00:00Z");
    await scheduler.start();
    await clock.advance("PT1S"); // 6 to 9 misfire: the 9th, and those that are coalesced into it.
    const verdicts = (await scheduler.getOccurrences("daily", { order: "oldest" })).items.map(({ verdict }) => verdict);
    const expected = ["coalesced", "coalesced", "coalesced", "coalesced", "success"];
    expect(verdicts).toEqual([...expected, "coalesced", "coalesced", "coalesced", "misfired"]);
    const { count, first, last } = await scheduler.backfill("daily", { from: day(1), until: "2030-01-09T12:00:00Z" });
    expect([count, String(first), String(last)]).toEqual([4, day(6), day(9)]);
    await clock.advance("PT1S");
    const page = await scheduler.getOccurrences("daily", { verdict: "success" });
    expect(page.items.map(({ fireTime }) => fireTime.day)).toEqual([9, 8, 7, 6, 5]);
    await scheduler.stop();
  });

  test("leaves out what was coalesced into a fire time that was coalesced later, into one that ran", async () => {
    const clock = new VirtualClock(day(11));
    const store = new MemoryDataStore();
    const scheduler = new Scheduler({ clock, dataStore: store, logLevel: "silent" });
    scheduler.task("daily", () => {});
    await scheduler.addSchedule("daily", "0 0 * * *", { id: "daily" });
    const [first, second, third] = [1, 2, 3].map((number) => Date.parse(day(number))) as [number, number, number];
    const coalesced = (from: number, into: number): OccurrenceRecord => {
      return { kind: "skip", verdict: "coalesced", from, until: from, count: 1, into };
    };
    const told = async (last: OccurrenceRecord): Promise<unknown> => {
      const entries = [coalesced(first, second), coalesced(second, third), last];
      await store.restore({ results: [], histories: [{ scheduleId: "daily", since: first, entries }] });
      const { count, ran, coalescedInto } = await scheduler.backfill("daily", {
        from: day(1),
        until: day(3),
        dryRun: true,
      });
      return [count, ran, coalescedInto?.toString()];
    };
    expect(await told(coalesced(third, first)), "a circle, which a damaged file may have").toEqual([2, 0, undefined]);
    const times = { fireTime: third, scheduledFireTime: third, createdAt: third, startedAt: third, finishedAt: third };
    const run = { kind: "run", ...times, jobId: "third", outcome: "success", attempts: 1, isKeyed: false } as const;
    expect(await told(run)).toEqual([0, 0, day(3)]);
  });

  test("refuses fire times of which nobody knows whether they ran, unless it is told to run them", async () => {
    const { clock, scheduler, ran } = await missedTen();
    const early: BackfillOptions = { from: "2029-12-25T00:00:00Z", until: day(3) };
    await expect(scheduler.backfill("daily", early)).rejects.toThrow(
      "takes in fire times of which nobody knows whether they ran, such as 2029-12-25T00:00:00Z, because " +
        'the ledger begins 2029-12-31T12:00:00Z; begin with from: "2029-12-31T12:00:00Z", or write { includeUnrecorded: true }',
    );
    const answer = await scheduler.backfill("daily", { ...early, includeUnrecorded: true });
    expect(answer.count).toBe(9);
    await clock.advance("PT1S");
    expect(ran).toEqual([25, 26, 27, 28, 29, 30, 31, 1, 2]);
    expect(await scheduler.backfill("daily", { ...early, includeUnrecorded: true })).toEqual(answer);
  });

  test("of a store without a ledger runs what is in the range, if it is told to", async () => {
    const clock = new VirtualClock("2030-01-11T12:00:00Z");
    const scheduler = new Scheduler({ clock, dataStore: new MemoryDataStore({ ledger: false }), logLevel: "silent" });
    scheduler.task("daily", () => {});
    await scheduler.addSchedule("daily", "0 0 * * *", { id: "daily" });
    await expect(scheduler.backfill("daily", ALL)).rejects.toThrow("the store has no ledger of the schedule");
    const answer = await scheduler.backfill("daily", { ...ALL, includeUnrecorded: true });
    expect(answer.count).toBe(10);
    expect(await scheduler.backfill("daily", { ...ALL, includeUnrecorded: true })).toEqual(answer);
  });

  test("leaves to the schedule what it has still to process, and refuses that of a paused one", async () => {
    const { clock, scheduler } = await missedTen();
    await expect(scheduler.backfill("daily", { from: day(5), until: day(13) })).rejects.toThrow(
      "until must not be in the future, as 2030-01-13T00:00:00Z is",
    );
    await scheduler.pauseSchedule("daily");
    await clock.advance("P3D");
    const late: BackfillOptions = { from: day(9), until: day(14) };
    await expect(scheduler.backfill("daily", late)).rejects.toThrow(
      'until must be 2030-01-12T00:00:00Z at most while schedule "daily" is paused',
    );
    expect((await scheduler.backfill("daily", { ...late, until: day(12) })).count).toBe(3);
    await scheduler.unpauseSchedule("daily", { resumeFrom: "now" });
    expect((await scheduler.backfill("daily", late)).count).toBe(2);
  });

  test("neither holds up its schedule nor is touched by it, whatever its overlap says", async () => {
    for (const overlap of ["skip", "replaceQueued", "cancelRunning"] as const) {
      const { clock, scheduler, ran } = await missedTen({ overlap });
      await scheduler.backfill("daily", { ...ALL, pace: "1d" });
      await clock.advance("P3D");
      expect(
        ran.toSorted((a, b) => a - b),
        overlap,
      ).toEqual([1, 2, 3, 4, 12, 13, 14]);
      await scheduler.stop({ drainTimeout: "PT0S" });
    }
  });

  test("by today's rule takes today's fire times, payload and settings", async () => {
    const { clock, scheduler } = await missedTen();
    const payloads: unknown[] = [];
    scheduler.task("other", (payload: unknown) => {
      payloads.push(payload);
    });
    const trigger = CronTrigger.fromCrontab("0 6,18 * * *");
    await scheduler.updateSchedule("daily", { trigger, payload: "today's" });
    const { count, first, backfillId } = await scheduler.backfill("daily", { from: day(2), until: day(4) });
    expect([count, String(first)]).toEqual([4, "2030-01-02T06:00:00Z"]);
    const { items } = await scheduler.getJobs({ backfillId: backfillId ?? "" });
    expect(items.map(({ payload }) => payload)).toEqual(Array.from({ length: 4 }, () => "today's"));
    await clock.advance("PT1S");
  });

  test("reads years page by page, and commits them in parts", async () => {
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    const store = new MemoryDataStore({ ledger: { maxAge: "3650d", maxCount: 10 } });
    const sizes: number[] = [];
    const commit = store.commitBackfill.bind(store);
    store.commitBackfill = async (request: BackfillCommit) => {
      sizes.push(request.jobs.length);
      return commit(request);
    };
    const scheduler = new Scheduler({ clock, dataStore: store, logLevel: "silent" });
    scheduler.task("hourly", () => {});
    await scheduler.addSchedule("hourly", "0 * * * *", { id: "hourly" });
    const year = { from: "2029-01-01T00:00:00Z", until: "2030-01-01T00:00:00Z", includeUnrecorded: true };
    const { count, backfillId } = await scheduler.backfill("hourly", year);
    expect([count, Math.max(...sizes)]).toEqual([8760, 500]);
    expect((await scheduler.cancelJobs({ backfillId: backfillId ?? "" })).cancelled).toBe(8760);
  });

  test.each([
    [{ until: day(2) }, "from"],
    [{ from: day(1) }, "until"],
    [{ from: day(2), until: day(2) }, "from must be earlier than until"],
    [{ ...ALL, limit: 0 }, "limit"],
    [{ ...ALL, pace: 0 }, "pace"],
    [{ ...ALL, order: "random" }, "order"],
    [{ ...ALL, from: "2030-01-01" }, "from"],
    [{ ...ALL, idempotencyKey: "" }, "idempotencyKey"],
    [{ ...ALL, force: true }, "includeRan"],
    [null, "backfill()"],
  ])("refuses %j", async (options, message) => {
    const { scheduler } = await missedTen();
    const call = scheduler.backfill("daily", options as unknown as BackfillOptions);
    await expect(call).rejects.toThrow(OptionsError);
    await expect(call).rejects.toThrow(message);
    await expect(scheduler.backfill("missing", ALL)).rejects.toThrow('there is no schedule "missing"');
  });
});
