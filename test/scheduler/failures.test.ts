import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { at, rejectionOf, secondsOf, setUp } from "./support.ts";

/** A scheduler with failures of two tasks, one second apart. */
async function withFailures() {
  const setup = setUp();
  const { scheduler, clock } = setup;
  let isMended = false;
  for (const task of ["print", "fax"]) {
    scheduler.task(task, { maxRunningJobs: null }, (message: string) => {
      if (!isMended) throw new TypeError(message);
    });
  }
  for (const [task, message] of [
    ["print", "no paper in tray 1"],
    ["print", "no paper in tray 22"],
    ["print", "jammed"],
    ["fax", "no paper in tray 3"],
  ] as const) {
    await scheduler.addJob(task, { payload: message, resultExpirationTime: "1h" });
    await drain(scheduler);
    await clock.advance("PT1S");
  }
  return { ...setup, mend: () => (isMended = true) };
}

describe("failures", () => {
  test("are in groups by task and by message without its numbers, the largest first", async () => {
    const { scheduler } = await withFailures();
    const { groups, seen } = await scheduler.getFailures();
    expect(seen).toEqual({ count: 4, isCapped: false });
    expect(groups.map(({ taskId, pattern, count, message }) => [taskId, pattern, count, message])).toEqual([
      ["print", "no paper in tray #", 2, "no paper in tray 22"],
      ["fax", "no paper in tray #", 1, "no paper in tray 3"],
      ["print", "jammed", 1, "jammed"],
    ]);
    const [first] = groups;
    expect([first?.name, first?.outcome, first?.jobIds.length]).toEqual(["TypeError", "error", 2]);
    expect([secondsOf(first?.firstAt ?? null), secondsOf(first?.lastAt ?? null)]).toEqual([0, 1]);
    expect(first?.key).toBe(groups[1]?.key);
  });

  test("are in groups by task alone, or by error alone", async () => {
    const { scheduler } = await withFailures();
    const byTask = await scheduler.getFailures({ groupBy: "task" });
    expect(byTask.groups.map((group) => group.toJSON())).toMatchObject([
      { taskId: "print", key: null, pattern: null, count: 3 },
      { taskId: "fax", key: null, count: 1 },
    ]);
    const byError = await scheduler.getFailures({ groupBy: ["error"] });
    expect(byError.groups.map(({ taskId, count }) => [taskId, count])).toEqual([
      [null, 3],
      [null, 1],
    ]);
  });

  test("are of a time, a task and a schedule, and as many groups as asked for", async () => {
    const { scheduler } = await withFailures();
    const count = async (options: Parameters<typeof scheduler.getFailures>[0]) =>
      (await scheduler.getFailures(options)).groups.map((group) => group.count);
    expect(await count({ from: at(2) })).toEqual([1, 1]);
    expect(await count({ until: at(2), taskId: "print" })).toEqual([2]);
    expect(await count({ scheduleId: "none" })).toEqual([]);
    expect(await count({ limit: 1 })).toEqual([2]);
  });

  test("of a group are retried together, and no others", async () => {
    const { scheduler, mend } = await withFailures();
    const [group] = (await scheduler.getFailures()).groups;
    mend();
    expect(await scheduler.retryJobs({ taskId: "print", failureKey: group?.key ?? "" })).toMatchObject({ retried: 2 });
    await drain(scheduler);
    expect((await scheduler.getRuns({ outcome: "success" })).items.map(({ payload }) => payload).sort()).toEqual([
      "no paper in tray 1",
      "no paper in tray 22",
    ]);
  });

  test("are not asked for by other words", async () => {
    const { scheduler } = setUp();
    const errors = [{ groupBy: "name" }, { groupBy: [] }, { limit: 0 }, { outcome: "error" }].map((options) =>
      rejectionOf(scheduler.getFailures(options as object)),
    );
    for (const error of await Promise.all(errors)) expect(error).toMatchObject({ code: "options" });
  });
});
