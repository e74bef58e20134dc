import { describe, expect, test } from "vitest";
import { type CatchUpOptions, DateTrigger, IntervalTrigger, type Job } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, START, secondsOf, setUp } from "./support.ts";

async function firesOf(
  options: { coalesce?: "latest" | "earliest" | "all"; catchUp?: CatchUpOptions },
  lateSeconds: number,
) {
  const { scheduler, clock } = setUp();
  const jobs: Job[] = [];
  scheduler.task("t", { maxRunningJobs: null }, (_: undefined, { job }) => {
    jobs.push(job);
  });
  await scheduler.addSchedule("t", everySecond(), { id: "s", ...options });
  await clock.advance({ seconds: lateSeconds });
  await drain(scheduler);
  const { nextFireTime, lastFireTime } = await scheduler.getSchedule("s");
  return { jobs, next: secondsOf(nextFireTime), last: secondsOf(lastFireTime) };
}

describe("fire times that are due together", () => {
  test("become one job for the latest of them by default", async () => {
    const { jobs, next, last } = await firesOf({}, 5);
    expect(jobs.map((job) => [secondsOf(job.scheduledFireTime), job.missedCount])).toEqual([[5, 5]]);
    expect([secondsOf(jobs[0]?.firstMissedTime ?? null), secondsOf(jobs[0]?.lastMissedTime ?? null)]).toEqual([0, 4]);
    expect([next, last]).toEqual([6, 5]);
  });

  test("become one job for the earliest of them", async () => {
    const { jobs, next } = await firesOf({ coalesce: "earliest" }, 5);
    expect(jobs.map((job) => [secondsOf(job.scheduledFireTime), job.missedCount])).toEqual([[0, 5]]);
    expect(next).toBe(6);
  });

  test("become one job each, oldest first", async () => {
    const { jobs, next } = await firesOf({ coalesce: "all" }, 5);
    expect(jobs.map((job) => secondsOf(job.scheduledFireTime))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(next).toBe(6);
  });

  test("a few thousand under all are made over several commits, each once and in order", async () => {
    const { jobs } = await firesOf({ coalesce: "all" }, 1749);
    expect(jobs.map((job) => secondsOf(job.scheduledFireTime))).toEqual(
      Array.from({ length: 1750 }, (_, second) => second),
    );
  });

  test("that are too many are dropped for good, the oldest first, and no job stands for them", async () => {
    const { jobs, next } = await firesOf({ coalesce: "all", catchUp: { maxCount: 3 } }, 9);
    expect(jobs.map((job) => [secondsOf(job.scheduledFireTime), job.missedCount])).toEqual([
      [7, 0],
      [8, 0],
      [9, 0],
    ]);
    expect(next).toBe(10);
  });

  test("a year of missed seconds under all is neither made at once nor dropped", async () => {
    const { scheduler, clock, store } = setUp({ role: "scheduler" });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all" });
    await clock.jumpTo("2031-01-01T00:00:00Z");
    const enough = new AbortController();
    let passes = 0;
    scheduler.subscribe("scheduleUpdated", () => {
      if (++passes === 2) enough.abort();
    });
    expect(await scheduler.tick({ signal: enough.signal })).toMatchObject({ jobsAdded: 1000, exhausted: true });
    expect(secondsOf((await scheduler.getSchedule("s")).nextFireTime)).toBe(1000);
    expect((await store.getJobs({ limit: 2000, cursor: null })).items).toHaveLength(1000);
  });

  test("that are made up for by the thousand let each other job begin within two commits of its addition", async () => {
    const { scheduler, clock, store } = setUp({ maxConcurrentJobs: 10 });
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = (request) => {
      commits++;
      return commit(request);
    };
    let made = 0;
    scheduler.task("old", { maxRunningJobs: null, resultExpirationTime: "PT0S" }, () => {
      made++;
    });
    const waits: number[] = [];
    scheduler.task("new", { maxRunningJobs: null }, (addedIn: number) => {
      waits.push(commits - addedIn);
    });
    const missed = new IntervalTrigger({ seconds: 1, startTime: at(-20_000), endTime: at(-1) });
    await scheduler.addSchedule("old", missed, { id: "s", coalesce: "all" });
    await scheduler.start();
    for (let turn = 0; made < 20_000; turn++) {
      await clock.yield();
      if (turn % 100 === 0) await scheduler.addJob("new", { payload: commits });
    }
    await clock.yield();
    expect(waits.length).toBeGreaterThan(5);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2);
    expect((await store.getJobs({ limit: 1, cursor: null })).items).toEqual([]);
  });

  test("let the next fire time come first when it is due", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 1 });
    const ran: (number | null)[] = [];
    scheduler.task("t", { maxRunningJobs: null }, async (_: undefined, { job }) => {
      ran.push(secondsOf(job.fireTime));
      expect(job.priority).toBe(0);
      await clock.sleep(clock.now() + 400);
    });
    await scheduler.addSchedule("t", new IntervalTrigger({ seconds: 1, startTime: at(-3) }), { coalesce: "all" });
    await scheduler.start();
    await clock.advance({ milliseconds: 2500 });
    expect(ran).toEqual([-3, -2, -1, 1, 0, 2]);
  });

  test.each(["loop", "tick"])(
    "of more schedules than one look shows starves no fresh schedule in a %s",
    async (driver) => {
      const { scheduler, clock, store } = setUp();
      const commit = store.commit.bind(store);
      let commits = 0;
      store.commit = (request) => {
        commits++;
        return commit(request);
      };
      let stepsBeforeFresh: number | null = null;
      scheduler.task("old", { maxRunningJobs: 1, resultExpirationTime: "PT0S" }, () => clock.yield());
      scheduler.task("fresh", { maxRunningJobs: null }, () => {
        stepsBeforeFresh = commits;
      });
      const missed = new IntervalTrigger({ minutes: 1, startTime: at(-60 * 400), endTime: at(0) });
      for (let index = 0; index < 250; index++) {
        await scheduler.addSchedule("old", missed, { id: `a${index}`, coalesce: "all" });
      }
      await scheduler.addSchedule("fresh", new DateTrigger(START), { id: "z" });
      if (driver === "loop") {
        await scheduler.start();
        for (let turns = 0; turns < 200 && stepsBeforeFresh === null; turns++) await clock.yield();
      } else {
        await scheduler.tick({ maxJobs: 500 });
      }
      // A hundred commits make up for all that was missed. The second one has a page of fresh schedules, and a loop takes up
      // to 16 commits before it lets the handler have its turn.
      expect(stepsBeforeFresh ?? 100).toBeLessThanOrEqual(driver === "loop" ? 20 : 2);
    },
  );
});
