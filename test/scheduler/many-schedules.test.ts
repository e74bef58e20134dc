import { describe, expect, test } from "vitest";
import { type BulkScheduleOptions, CronTrigger, IntervalTrigger, OptionsError, type Scheduler } from "../../src/mod.ts";
import { everySecond, recordEvents, rejectionOf, type Setup, setUp } from "./support.ts";

const EVERYTHING = "write { all: true } if you mean everything";

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
  test.each<[BulkScheduleOptions, number, string]>([
    [{ taskId: "t" }, 2, "cd"],
    [{ paused: true }, 2, "ad"],
    [{ taskId: "u", paused: true }, 1, "abd"],
    [{ ids: ["a", "d"] }, 2, "bc"],
    [{ ids: [] }, 0, "abcd"],
    [{ all: true }, 4, ""],
  ])("removes what fits %j, and counts it", async (filter, count, left) => {
    const { scheduler } = await withSchedules();
    const seen = recordEvents(scheduler);
    expect(await scheduler.removeSchedules(filter)).toEqual({ removed: count, skipped: 0, refusals: [] });
    expect(await idsOf(scheduler)).toBe(left);
    expect(seen).toEqual(Array.from({ length: count }, () => "scheduleRemoved"));
  });

  test("goes on after the first commit, unless its signal is aborted", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const schedules = Array.from({ length: 2001 }, (_, index) => ({
      task: "t",
      trigger: everySecond(),
      id: `${index}`,
    }));
    await scheduler.addSchedules(schedules);
    const caller = new AbortController();
    using _ = scheduler.subscribe("scheduleRemoved", () => caller.abort(new Error("gone")));
    const left = await rejectionOf(scheduler.removeSchedules({ taskId: "t", signal: caller.signal }));
    expect((left as Error).message).toBe("gone");
    expect(await scheduler.removeSchedules({ taskId: "t" })).toMatchObject({ removed: 1001 });
    expect(await idsOf(scheduler)).toBe("");
  });

  test.each<[unknown, string]>([
    [{}, `removeSchedules() takes a filter that names something, because any other means everything; ${EVERYTHING}`],
    [undefined, `removeSchedules() takes a filter; got undefined: ${EVERYTHING}`],
    ["a", 'removeSchedules() takes a filter; got "a": write { ids }'],
    [["a"], "removeSchedules() takes a filter; got a list of 1: write { ids }"],
    [{ id: "a" }, 'removeSchedules(): id is no option; did you mean "ids"?'],
    [{ ids: ["a"], taskId: "t" }, "removeSchedules(): ids go without a filter, and without all"],
  ])("refuses %j, because nobody may lose everything by mistake", async (filter, message) => {
    const { scheduler } = await withSchedules();
    const refusal = await rejectionOf(scheduler.removeSchedules(filter as BulkScheduleOptions));
    expect(refusal).toBeInstanceOf(OptionsError);
    expect((refusal as Error).message).toBe(message);
    expect(await idsOf(scheduler)).toBe("abcd");
  });
});

describe("pauseSchedules() and unpauseSchedules()", () => {
  test("pause what fits, let it go on, and tell what was passed over", async () => {
    const { scheduler } = await withSchedules();
    const seen = recordEvents(scheduler);
    const passedOver = { skipped: 1, refusals: [{ id: "none", code: "scheduleLookup", detail: expect.any(String) }] };
    expect(await scheduler.pauseSchedules({ ids: ["a", "none", "a"] }, { by: "me" })).toEqual({
      paused: 1,
      ...passedOver,
    });
    expect((await scheduler.getScheduleChanges("a")).items[0]).toMatchObject({ by: "me", kind: "paused" });
    expect(await scheduler.unpauseSchedules({ paused: true })).toEqual({ unpaused: 3, skipped: 0, refusals: [] });
    expect((await scheduler.getSchedules({ paused: true })).items).toEqual([]);
    const resumed = ["scheduleUnpaused", "scheduleUpdated"];
    expect(seen).toEqual(["schedulePaused", "scheduleUpdated", ...resumed, ...resumed, ...resumed]);
  });

  test("drop the fire times before an instant", async () => {
    const { scheduler, clock } = await withSchedules();
    await scheduler.pauseSchedules({ all: true });
    await clock.advance("PT1M");
    await scheduler.unpauseSchedules({ taskId: "t" }, { resumeFrom: "now" });
    const times = (await scheduler.getSchedules()).items.map(({ nextFireTime }) => nextFireTime?.epochMilliseconds);
    const [first = 0] = times;
    expect(times.map((time = 0) => time - first)).toEqual([0, 0, -60_000, -60_000]);
  });

  test("change what somebody else changes meanwhile", async () => {
    const { scheduler, store } = await withSchedules();
    const update = store.updateSchedules.bind(store);
    let others = 1;
    store.updateSchedules = async (updates, note) => {
      if (others-- > 0) await update([{ id: "b", changes: { priority: 7 } }]);
      return update(updates, note);
    };
    expect(await scheduler.pauseSchedules({ all: true })).toMatchObject({ paused: 4, skipped: 0 });
    expect((await scheduler.getSchedules({ paused: true })).items.map(({ priority }) => priority)).toEqual([
      0, 7, 0, 0,
    ]);
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
