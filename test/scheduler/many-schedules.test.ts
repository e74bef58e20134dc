import { describe, expect, test } from "vitest";
import { CronTrigger, IntervalTrigger, OptionsError, type ScheduleRemoval, type Scheduler } from "../../src/mod.ts";
import { everySecond, recordEvents, rejectionOf, type Setup, setUp } from "./support.ts";

async function withSchedules(): Promise<Setup> {
  const setup = setUp();
  for (const task of ["t", "u"]) setup.scheduler.task(task, () => {});
  for (const [id, task, paused] of [
    ["a", "t", false],
    ["b", "t", true],
    ["c", "u", true],
    ["d", "u", false],
  ] as const) {
    await setup.scheduler.addSchedule(task, everySecond(), { id, paused });
  }
  return setup;
}

async function idsOf(scheduler: Scheduler): Promise<string> {
  const { items } = await scheduler.getSchedules();
  return items.map(({ id }) => id).join("");
}

describe("removeSchedules()", () => {
  test.each<[ScheduleRemoval, number, string]>([
    [{ taskId: "t" }, 2, "cd"],
    [{ paused: true }, 2, "ad"],
    [{ taskId: "u", paused: true }, 1, "abd"],
    [{ ids: ["a", "missing", "d"] }, 2, "bc"],
    [{ ids: ["a", "b", "missing"], paused: false }, 1, "bcd"],
    [{ ids: ["a", "c"], taskId: "u" }, 1, "abd"],
    [{ ids: [] }, 0, "abcd"],
    [{ all: true }, 4, ""],
  ])("removes what fits %j, and counts it", async (filter, count, left) => {
    const { scheduler } = await withSchedules();
    const seen = recordEvents(scheduler);
    expect(await scheduler.removeSchedules(filter)).toBe(count);
    expect(await idsOf(scheduler)).toBe(left);
    expect(seen).toEqual(Array.from({ length: count }, () => "scheduleRemoved"));
  });

  test("goes on after the first page", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    for (let n = 0; n < 1001; n++) await scheduler.addSchedule("t", everySecond());
    expect(await scheduler.removeSchedules({ taskId: "t" })).toBe(1001);
    expect(await idsOf(scheduler)).toBe("");
  });

  test.each<[unknown, string]>([
    [{}, "removeSchedules() needs taskId, paused or ids; write { all: true } to remove every schedule"],
    [undefined, "removeSchedules() takes a filter; got undefined: write { all: true } to remove every schedule"],
    ["a", 'removeSchedules() takes a filter; got "a": write { ids: ["a"] }'],
    [["a"], "removeSchedules() takes a filter; got a list of 1: write { ids }"],
    [{ id: "a" }, 'removeSchedules(): id is no option; did you mean "ids"?'],
    [{ all: false }, "removeSchedules(): all must be true; got false"],
    [
      { all: true, taskId: "t" },
      "removeSchedules(): all must stand alone, because it means every schedule; leave it out to remove those that " +
        "the filter takes",
    ],
  ])("refuses %j, because nobody may lose everything by mistake", async (filter, message) => {
    const { scheduler } = await withSchedules();
    const refusal = await rejectionOf(scheduler.removeSchedules(filter as ScheduleRemoval));
    expect(refusal).toBeInstanceOf(OptionsError);
    expect((refusal as Error).message).toBe(message);
    expect(await idsOf(scheduler)).toBe("abcd");
  });
});

describe("printSchedules()", () => {
  async function printed(scheduler: Scheduler, options: { limit?: number; paused?: boolean } = {}): Promise<string[]> {
    const lines: string[] = [];
    await scheduler.printSchedules({ ...options, write: (line) => lines.push(line) });
    return lines;
  }

  test("prints a table of what fires when", async () => {
    const { scheduler } = setUp();
    for (const task of ["report", "sync"]) scheduler.task(task, () => {});
    const weekdays = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
    await scheduler.addSchedule("report", weekdays, { id: "r" });
    await scheduler.addSchedule("sync", new IntervalTrigger({ minutes: 5 }), { id: "every five", paused: true });
    expect(await printed(scheduler)).toEqual([
      expect.stringMatching(/^id {10}trigger +nextFireTime +paused {2}taskId$/),
      expect.stringMatching(/^every five {2}Every 5 minutes.* {2}2030-01-01 00:00:00\+00:00 UTC +true +sync$/),
      expect.stringMatching(/^r {11}At 09:00.* {2}2030-01-01 09:00:00\+01:00 Europe\/Berlin +false +report$/),
    ]);
    expect((await printed(scheduler, { paused: true })).length).toBe(2);
    expect((await printed(scheduler, { limit: 1 })).at(-1)).toBe(
      "and more: these are the first 1; a higher limit shows more",
    );
  });

  test("says when there is nothing, and that a schedule has ended", async () => {
    const { scheduler, clock } = setUp();
    expect(await printed(scheduler)).toEqual(["no schedules"]);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1, endTime: "2030-01-01T00:30:00Z" }), { id: "s" });
    await clock.advance("PT1S");
    await scheduler.tick();
    expect((await printed(scheduler))[1]).toMatch(/ {2}none +false +t$/);
  });
});
