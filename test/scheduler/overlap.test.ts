import { describe, expect, test } from "vitest";
import { IntervalTrigger, type RunOverlapPolicy, type SchedulerEvent } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { everySecond, heldHandler, START, secondsOf, setUp } from "./support.ts";

/** A schedule that fires every second, and whose runs take until they are told to end. */
async function overlapping(overlap: RunOverlapPolicy | undefined, settings: { overlap?: RunOverlapPolicy } = {}) {
  const { scheduler, clock, store } = setUp();
  const { handler, held } = heldHandler();
  const skips: unknown[] = [];
  const finished: string[] = [];
  scheduler.subscribe("occurrenceSkipped", ({ scheduleId, taskId, fireTime, count, reason, jobId }) => {
    skips.push([scheduleId, taskId, secondsOf(fireTime), count, reason, jobId === null ? null : "a job"]);
  });
  scheduler.subscribe("jobReleased", (event) => finished.push(describeEnd(event)));
  scheduler.task("t", settings, handler);
  await scheduler.start();
  await scheduler.addSchedule("t", everySecond(), { id: "s", ...(overlap === undefined ? {} : { overlap }) });
  await clock.advance({ milliseconds: 1 });
  const waiting = async (): Promise<(number | null)[]> => {
    const { items } = await scheduler.getJobs({ scheduleId: "s" });
    return items.filter((job) => job.acquiredBy === null).map((job) => secondsOf(job.fireTime));
  };
  return { scheduler, clock, store, held, skips, finished, waiting };
}

function describeEnd({ outcome, scheduledFireTime }: SchedulerEvent<"jobReleased">): string {
  return `${secondsOf(scheduledFireTime)} ${outcome}`;
}

describe("overlap", () => {
  test("queue, the default, makes every job, and counts nothing", async () => {
    const { clock, scheduler, skips, waiting } = await overlapping(undefined);
    await clock.advance("PT3S");
    expect(await waiting()).toEqual([1, 2, 3]);
    const schedule = await scheduler.getSchedule("s");
    expect([schedule.overlap, schedule.skippedCount, skips]).toEqual(["queue", 0, []]);
  });

  test.each(["skip", "replaceQueued", "cancelRunning"] as const)(
    "%s neither heeds nor replaces retried jobs",
    async (overlap) => {
      const { scheduler: worker, clock, store } = setUp();
      worker.task("t", () => {
        throw new Error("broken");
      });
      await worker.addSchedule("t", everySecond(), { id: "s", overlap });
      await worker.tick();
      const { items } = await worker.getJobResults({ scheduleId: "s" });
      const retried = await worker.retryJob(items[0]?.jobId ?? "");
      const { scheduler: firing } = setUp({ clock, dataStore: store, role: "scheduler" });
      await clock.advance("PT1S");
      await firing.tick();
      const jobs = await firing.getJobs({ scheduleId: "s" });
      const { skippedCount } = await firing.getSchedule("s");
      expect([jobs.items.map(({ retryOf }) => retryOf), skippedCount]).toEqual([[retried.retryOf, null], 0]);
    },
  );

  test("skip makes no job while one is unfinished, tells of each fire time, and counts it", async () => {
    const { clock, scheduler, held, skips, finished, waiting } = await overlapping("skip");
    await clock.advance("PT2S");
    held[0]?.finish("done");
    await clock.advance("PT1S");
    expect([held.length, finished, await waiting()]).toEqual([2, ["0 success"], []]);
    expect(skips).toEqual([
      ["s", "t", 1, 1, "overlap", null],
      ["s", "t", 2, 1, "overlap", null],
    ]);
    const schedule = await scheduler.getSchedule("s");
    expect([schedule.overlap, schedule.skippedCount, secondsOf(schedule.lastFireTime)]).toEqual(["skip", 2, 3]);
    expect(schedule.toJSON()).toMatchObject({ overlap: "skip", skippedCount: 2 });
  });

  test("replaceQueued lets one job wait at most, the newest, and the run go on", async () => {
    const { clock, scheduler, held, skips, finished, waiting } = await overlapping("replaceQueued");
    await clock.advance("PT3S");
    expect([held.length, await waiting()]).toEqual([1, [3]]);
    expect(skips).toEqual([
      ["s", "t", 1, 1, "replaced", "a job"],
      ["s", "t", 2, 1, "replaced", "a job"],
    ]);
    held[0]?.finish("done");
    await clock.advance({ milliseconds: 10 });
    expect([held.length, secondsOf(held[1]?.context.job.fireTime ?? null)]).toEqual([2, 3]);
    expect([finished, (await scheduler.getSchedule("s")).skippedCount]).toEqual([["0 success"], 2]);
  });

  test("cancelRunning aborts the run that is under way at once, and starts the newest", async () => {
    const { clock, scheduler, held, skips, finished } = await overlapping("cancelRunning");
    const [first] = held;
    first?.context.signal.addEventListener("abort", () => first.fail(first.context.signal.reason));
    await clock.advance("PT1S");
    await clock.advance({ milliseconds: 10 });
    expect(finished).toEqual(["0 cancelled"]);
    expect(first?.context.signal.reason).toMatchObject({ code: "jobCancelled" });
    expect([held.length, secondsOf(held[1]?.context.job.fireTime ?? null)]).toEqual([2, 1]);
    expect([skips, (await scheduler.getSchedule("s")).skippedCount]).toEqual([[], 0]);
  });

  test("cancelRunning aborts a run in another scheduler as soon as that hears of it", async () => {
    const { clock, store, scheduler: worker } = setUp({ role: "worker" });
    const { scheduler: planner } = setUp({ clock, dataStore: store, role: "scheduler" });
    const { handler, held } = heldHandler();
    worker.task("t", { overlap: "cancelRunning" }, handler);
    await worker.start();
    await planner.start();
    const hasAsked = planner.nextEvent("jobCancelRequested");
    await planner.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance({ milliseconds: 900 });
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance({ milliseconds: 600 });
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "jobCancelled" });
    expect((await hasAsked).jobId).toBe(held[0]?.context.job.id);
  });

  test("is taken from the task where the schedule has none, and a schedule's own comes first", async () => {
    const { scheduler } = await overlapping(undefined, { overlap: "skip" });
    expect((await scheduler.getSchedule("s")).overlap).toBe("skip");
    expect((await scheduler.getTasks())[0]?.overlap).toBe("skip");
    const own = await scheduler.addSchedule("t", everySecond(), { overlap: "queue" });
    expect(own.overlap).toBe("queue");
  });

  test("can be changed: what waits then is replaced by the next fire", async () => {
    const { clock, scheduler, waiting, skips } = await overlapping("queue");
    await clock.advance("PT3S");
    await scheduler.updateSchedule("s", { overlap: "replaceQueued" });
    await clock.advance("PT1S");
    expect([await waiting(), skips.length, (await scheduler.getSchedule("s")).skippedCount]).toEqual([[4], 3, 3]);
  });

  test("of jobs that were added by hand nothing counts, and they are not touched", async () => {
    const { clock, scheduler, held, waiting } = await overlapping("replaceQueued");
    const byHand = await scheduler.runScheduleNow("s");
    const added = await scheduler.addJob("t");
    await clock.advance("PT2S");
    expect(await waiting()).toEqual([null, 2]);
    expect((await scheduler.getJob(byHand.id)).acquiredBy).toBeNull();
    expect((await scheduler.getJob(added.id)).acquiredBy).toBeNull();
    expect(held.length).toBe(1);
  });

  test("a job that waits for a retry is unfinished", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    const retry = { maxAttempts: 2, backoff: { initial: "PT10S", jitter: "none" as const } };
    scheduler.task("t", { retry, overlap: "skip" }, () => {
      if (runs++ === 0) throw new Error("this time");
    });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT9S");
    expect([runs, (await scheduler.getSchedule("s")).skippedCount]).toEqual([1, 9]);
    await clock.advance("PT2S");
    expect([runs, (await scheduler.getSchedule("s")).skippedCount]).toEqual([3, 10]);
  });

  test("skip with coalesce all makes one job of thousands of missed fire times, and counts all others", async () => {
    const { scheduler, clock, store } = setUp();
    let runs = 0;
    scheduler.task("t", { overlap: "skip" }, () => void runs++);
    let skipped = 0;
    scheduler.subscribe("occurrenceSkipped", ({ count }) => {
      skipped += count;
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all" });
    await clock.advance({ seconds: 900 });
    await drain(scheduler);
    expect([runs, skipped, (await store.getSchedule("s"))?.skippedCount]).toEqual([1, 900, 900]);
    await clock.advance({ seconds: 5000 });
    await drain(scheduler);
    // A commit passes over a thousand fire times, so that a few more find that the run before has ended.
    expect([runs + skipped, (await store.getSchedule("s"))?.skippedCount]).toEqual([5901, skipped]);
    expect(runs).toBeLessThanOrEqual(10);
  });

  test.each(["replaceQueued", "cancelRunning"] as const)(
    "%s with coalesce all makes the job of the newest missed fire time",
    async (overlap) => {
      const { scheduler, clock } = setUp();
      const fired: (number | null)[] = [];
      scheduler.task("t", { overlap }, (_, { job }) => void fired.push(secondsOf(job.fireTime)));
      await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all" });
      await clock.advance({ seconds: 60 });
      await drain(scheduler);
      expect([fired, (await scheduler.getSchedule("s")).skippedCount]).toEqual([[60], 60]);
    },
  );

  test("is one of four words", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const trigger = new IntervalTrigger({ seconds: 1, startTime: START });
    const adding = scheduler.addSchedule("t", trigger, { overlap: "drop" as "skip" });
    await expect(adding).rejects.toMatchObject({ issues: [{ path: "overlap" }] });
    expect(() => scheduler.task("u", { overlap: "skp" as "skip" }, () => {})).toThrow(/overlap.*skip/s);
  });
});
