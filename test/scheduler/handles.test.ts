import { describe, expect, test } from "vitest";
import { IntervalTrigger, type Job, JobLookupError, ScheduleLookupError, Temporal } from "../../src/mod.ts";
import { at, everySecond, gate, rejectionOf, secondsOf, setUp } from "./support.ts";

describe("a schedule", () => {
  test("is paused, unpaused, changed and read again by its own verbs, which return it as it then is", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const paused = await schedule.pause();
    const unpaused = await paused.unpause({ resumeFrom: at(5) });
    const changed = await unpaused.update({ priority: 3 });
    expect([schedule.paused, paused.paused, unpaused.paused]).toEqual([false, true, false]);
    expect(secondsOf(unpaused.nextFireTime)).toBe(5);
    expect([unpaused.priority, changed.priority]).toEqual([0, 3]);
    expect((await schedule.refresh()).toJSON()).toEqual(changed.toJSON());
  });

  test("runs once more, and shows its fire times, by its own verbs", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s", paused: true });
    const job = await schedule.runNow();
    expect((await job.refresh()).toJSON()).toEqual(job.toJSON());
    expect(job.scheduleId).toBe("s");
    const preview = await schedule.preview({ limit: 2, from: at(3) });
    expect(preview.map(({ fireTime }) => secondsOf(fireTime.toInstant()))).toEqual([3, 4]);
  });

  test("that was removed is missed by its verbs", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await schedule.remove();
    for (const verb of [() => schedule.remove(), () => schedule.pause(), () => schedule.refresh()]) {
      expect(await rejectionOf(verb())).toBeInstanceOf(ScheduleLookupError);
    }
  });
});

describe("a job", () => {
  test("is waited for, and gives what its handler returned", async () => {
    const { scheduler } = setUp();
    const double = scheduler.task("double", (value: number) => value * 2);
    const job = await scheduler.addJob(double, { payload: 21 });
    expect(await job.result()).toBe(null);
    const [value] = await Promise.all([job.wait(), scheduler.tick()]);
    expect(value).toBe(42);
    expect((await job.result())?.unwrap()).toBe(42);
    expect(await job.wait()).toBe(42);
    expect(await job.refresh()).toMatchObject({ id: job.id, state: "ended", payload: 21, failedAttempts: 0 });
  });

  test("that fails throws in who waits what its handler threw", async () => {
    const { scheduler } = setUp();
    const job = await scheduler.addJob(
      scheduler.task("fail", () => {
        throw new RangeError("too far");
      }),
    );
    const [failure] = await Promise.all([rejectionOf(job.wait()), scheduler.tick()]);
    expect(failure).toMatchObject({ name: "RangeError", message: "too far" });
  });

  test("that keeps no result ends the wait with undefined", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => "value");
    const job = await scheduler.addJob("t", { resultExpirationTime: { seconds: 0 } });
    const waiting = job.wait();
    // The wait has asked the store once, and hears of the end.
    expect(await job.result()).toBe(null);
    const [value] = await Promise.all([waiting, scheduler.tick()]);
    expect(value).toBe(undefined);
    expect(await rejectionOf(job.wait())).toBeInstanceOf(JobLookupError);
  });

  test("is no longer waited for once the signal is aborted, and goes on", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => 1);
    const job = await scheduler.addJob("t");
    const reason = new Error("enough");
    expect(await rejectionOf(job.wait({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    await scheduler.tick();
    expect(await job.wait()).toBe(1);
  });

  test("is cancelled by its own verb", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const job = await scheduler.addJob("t");
    expect([await job.cancel(), await job.cancel()]).toEqual(["delivered", "tooLate"]);
    expect(await rejectionOf(job.wait())).toMatchObject({ name: "JobCancelledError" });
  });

  test("has its verbs in its own handler too", async () => {
    const { scheduler } = setUp();
    const { passed, pass } = gate();
    let seen: Job | null = null;
    scheduler.task("t", async (_, { job, signal }) => {
      seen = await job.refresh();
      signal.addEventListener("abort", pass);
      await job.cancel();
      await passed;
    });
    const job = await scheduler.addJob("t");
    await scheduler.tick();
    expect(seen).toMatchObject({ id: job.id, acquiredBy: scheduler.identity });
    expect((await job.result())?.outcome).toBe("cancelled");
  });
});

describe("a table", () => {
  test("of schedules shows the rule and the next fire time in its zone", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const trigger = new IntervalTrigger({ minutes: 5 });
    const schedule = await scheduler.addSchedule("t", trigger, { id: "s" });
    expect(schedule.toRow()).toEqual({
      id: "s",
      trigger: schedule.trigger.describe(),
      nextFireTime: "2030-01-01 00:00:00+00:00 UTC",
      paused: false,
      taskId: "t",
    });
  });

  test("of jobs and results shows their state", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {
      throw new TypeError("line 1\nline 2");
    });
    const job = await scheduler.addJob("t", { runAt: at(0), priority: 2 });
    expect(job.toRow()).toEqual({
      id: job.id,
      taskId: "t",
      scheduleId: null,
      priority: 2,
      runAt: "2030-01-01 00:00:00+00:00 UTC",
      state: "queued",
      concurrencyKey: null,
      failedAttempts: 0,
      acquiredBy: null,
    });
    await scheduler.tick();
    expect((await job.result())?.toRow()).toEqual({
      jobId: job.id,
      taskId: "t",
      scheduleId: null,
      outcome: "error",
      attempts: 1,
      finishedAt: "2030-01-01 00:00:00+00:00 UTC",
      seconds: 0,
      error: "TypeError: line 1 line 2",
    });
  });

  test("of what was read shows who it is, because its names are own properties", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const job = await schedule.runNow();
    await scheduler.tick({ maxJobs: 1 });
    expect({ ...schedule }).toEqual({ id: "s", taskId: "t", paused: false });
    expect({ ...job }).toEqual({ id: job.id, taskId: "t", scheduleId: "s" });
    const result = await job.result();
    expect({ ...result }).toEqual({ jobId: job.id, taskId: "t", scheduleId: "s", outcome: "success" });
  });
});

test("what is read never changes", async () => {
  const { scheduler } = setUp();
  scheduler.task("t", () => {});
  const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s" });
  const before = JSON.stringify(schedule);
  await schedule.update({ misfireGraceTime: Temporal.Duration.from("PT1M") });
  expect(JSON.stringify(schedule)).toBe(before);
});
