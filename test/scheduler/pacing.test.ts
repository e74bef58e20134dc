import { describe, expect, test } from "vitest";
import { IntervalTrigger, type ScheduleOptions, type Scheduler } from "../../src/mod.ts";
import { updateSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { at, everySecond, secondsOf, setUp } from "./support.ts";

const PACED: ScheduleOptions = { id: "s", coalesce: "all", catchUp: { pace: "1m" } };

/** Schedule "s" of every second, 4 s late, whose jobs have been spread: its pace lasts until 244 s. */
async function spread(options: ScheduleOptions = PACED) {
  const made = setUp({ role: "scheduler" });
  made.scheduler.task("t", () => {});
  await made.scheduler.addSchedule("t", everySecond(), options);
  await made.clock.advance("PT3S");
  await made.scheduler.tick();
  return { ...made, paceUntil: async () => secondsOfMs((await made.store.getSchedule("s"))?.paceUntil ?? null) };
}

function secondsOfMs(ms: number | null): number | null {
  return ms === null ? null : (ms - at(0).epochMilliseconds) / 1000;
}

async function jobsOf(scheduler: Scheduler): Promise<(number | null)[][]> {
  const { items } = await scheduler.getJobs();
  return items.map(({ fireTime, runAt, startDeadline }) => [fireTime, runAt, startDeadline].map(secondsOf));
}

describe("jobs that are made up for", () => {
  test("run a pace apart, and their start deadlines count from then", async () => {
    const { scheduler, paceUntil } = await spread({ ...PACED, misfireGraceTime: "1s" });
    expect(await jobsOf(scheduler)).toEqual([
      [0, 3, 4],
      [1, 63, 64],
      [2, 123, 124],
      [3, 183, 184],
    ]);
    expect(await paceUntil()).toBe(243);
  });

  test("queue up behind those of an earlier outage, and a fire that is on time does not", async () => {
    const { scheduler, clock, paceUntil } = await spread();
    await clock.advance("PT1S");
    await scheduler.tick();
    expect((await jobsOf(scheduler)).at(-1)).toEqual([4, 4, null]);
    await clock.advance("PT2S");
    await scheduler.tick();
    expect((await jobsOf(scheduler)).slice(-2)).toEqual([
      [5, 243, null],
      [6, 303, null],
    ]);
    expect(await paceUntil()).toBe(363);
  });
});

describe("the pace of a schedule", () => {
  test("is over after a pause from which it resumes later, and lasts after one that drops nothing", async () => {
    const { scheduler, paceUntil } = await spread();
    await scheduler.pauseSchedule("s");
    await scheduler.unpauseSchedule("s");
    expect(await paceUntil()).toBe(243);
    await scheduler.pauseSchedule("s");
    await scheduler.unpauseSchedule("s", { resumeFrom: "now" });
    expect(await paceUntil()).toBe(null);
  });

  test("is over with a new rule, and lasts while the rule stays", async () => {
    const { scheduler, paceUntil } = await spread();
    await scheduler.updateSchedule("s", { trigger: everySecond(), priority: 1 });
    expect(await paceUntil()).toBe(243);
    await scheduler.updateSchedule("s", { trigger: new IntervalTrigger({ minutes: 5 }) });
    expect(await paceUntil()).toBe(null);
  });

  test("is over when a program declares a new rule, and lasts when it declares the same", async () => {
    const { scheduler, paceUntil } = await spread();
    await scheduler.addSchedule("t", everySecond(), { ...PACED, priority: 2 });
    expect(await paceUntil()).toBe(243);
    await scheduler.addSchedule("t", new IntervalTrigger({ minutes: 5 }), PACED);
    expect(await paceUntil()).toBe(null);
  });

  test("lasts while its trigger fails", async () => {
    const { scheduler, clock, store, paceUntil } = await spread();
    await updateSchedule(store, "s", { executor: "" });
    await clock.advance("PT1S");
    await scheduler.tick();
    expect([(await scheduler.getSchedule("s")).paused, await paceUntil()]).toEqual([true, 243]);
  });
});

test("a schedule of which all is too old makes no job, and goes on", async () => {
  const { scheduler, clock } = setUp();
  scheduler.task("t", () => {});
  const hourly = new IntervalTrigger({ hours: 1 });
  await scheduler.addSchedule("t", hourly, { id: "s", catchUp: { maxAge: "1m" } });
  await clock.advance({ minutes: 150 });
  expect(await scheduler.tick()).toMatchObject({ jobsAdded: 0, jobsRun: 0, schedulesProcessed: 1 });
  const { lastFireTime, nextFireTime } = await scheduler.getSchedule("s");
  expect([lastFireTime, nextFireTime].map(secondsOf)).toEqual([7200, 10_800]);
  await clock.advance({ minutes: 30 });
  expect(await scheduler.tick()).toMatchObject({ jobsAdded: 1, jobsRun: 1 });
});

test("a fire that was planned ahead is left out when it comes too late", async () => {
  const { scheduler, clock } = setUp();
  const ran: (number | null)[] = [];
  scheduler.task("t", (_, { job }) => void ran.push(secondsOf(job.fireTime)));
  await scheduler.start();
  await scheduler.addSchedule("t", new IntervalTrigger({ minutes: 1, firstRun: "afterInterval" }), {
    id: "s",
    catchUp: { maxAge: "5s" },
  });
  await clock.advance("PT59.999S");
  await clock.jumpTo(at(90).toString());
  await clock.advance("PT30S");
  expect(ran).toEqual([120]);
});
