import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { SkipRun } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, secondsOf, setUp } from "./support.ts";

const DAY_S = 86_400;

describe("the last failure of a schedule", () => {
  test("stays when its result is gone, and when the next run succeeds", async () => {
    const { scheduler, clock } = setUp();
    let isBroken = true;
    const task = scheduler.task("t", { failureExpirationTime: "1s" }, () => {
      if (isBroken) throw Object.assign(new TypeError("broken"), { code: "E_BROKEN" });
    });
    expect((await scheduler.addSchedule(task, everySecond(), { id: "s" })).lastFailure).toBe(null);
    await drain(scheduler);
    isBroken = false;
    await clock.advance("PT10S");
    await drain(scheduler);
    await scheduler.cleanup();
    const { lastFailure, ...schedule } = (await scheduler.getSchedule("s")).toJSON();
    expect(schedule).toMatchObject({ id: "s" });
    expect(lastFailure).toMatchObject({
      outcome: "error",
      scheduledFireTime: "2030-01-01T00:00:00Z",
      finishedAt: "2030-01-01T00:00:00Z",
      attempts: 1,
      error: { name: "TypeError", message: "broken", code: "E_BROKEN" },
    });
    const shown = (await scheduler.getSchedule("s")).lastFailure;
    expect([secondsOf(shown?.finishedAt ?? null), shown?.error?.message]).toEqual([0, "broken"]);
    expect((await scheduler.getJobResults({ outcome: "error" })).items).toEqual([]);
  });
});

describe("failureExpirationTime", () => {
  async function keptFor(settings: object, options: object = {}): Promise<number[]> {
    const { scheduler } = setUp();
    const kept: number[] = [];
    const ends: (() => unknown)[] = [
      () => "value",
      () => {
        throw new SkipRun("nothing to do");
      },
      () => {
        throw new Error("broken");
      },
    ];
    for (const [index, handler] of ends.entries()) {
      const task = scheduler.task(`t${index}`, settings, handler);
      const job = await scheduler.addJob(task, options);
      await drain(scheduler);
      const result = await job.result();
      kept.push(result === null ? 0 : (secondsOf(result.expiresAt) ?? 0) - (secondsOf(result.finishedAt) ?? 0));
    }
    return kept;
  }

  test.each<[string, object, object, number[]]>([
    ["is 30 days by default", {}, {}, [DAY_S, DAY_S, 30 * DAY_S]],
    ["stays where results are kept shorter", { resultExpirationTime: "1h" }, {}, [3600, 3600, 30 * DAY_S]],
    ["is no shorter than for results", { resultExpirationTime: "90d" }, {}, [90 * DAY_S, 90 * DAY_S, 90 * DAY_S]],
    ["is nothing where no result is kept", { resultExpirationTime: "0s" }, {}, [0, 0, 0]],
    ["may hold alone", { resultExpirationTime: "0s", failureExpirationTime: "2d" }, {}, [0, 0, 2 * DAY_S]],
    ["may be shorter than for results", { failureExpirationTime: "1h" }, {}, [DAY_S, DAY_S, 3600]],
    [
      "is that of the call first",
      { failureExpirationTime: "1h" },
      { failureExpirationTime: "2h" },
      [DAY_S, DAY_S, 7200],
    ],
    ["is unset by null", { failureExpirationTime: "1h" }, { failureExpirationTime: null }, [DAY_S, DAY_S, 30 * DAY_S]],
  ])("%s", async (_, settings, options, expected) => {
    expect(await keptFor(settings, options)).toEqual(expected);
  });

  test("of a schedule is inherited, shown, changed and unset", async () => {
    const { scheduler } = setUp({ taskDefaults: { failureExpirationTime: "5d" } });
    scheduler.task("t", () => {
      throw new Error("broken");
    });
    const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s" });
    expect(String(schedule.failureExpirationTime)).toBe("PT120H");
    const kept = async (): Promise<number> => {
      await drain(scheduler);
      const [result] = (await scheduler.getJobResults({ limit: 1 })).items;
      return ((result?.expiresAt.epochMilliseconds ?? 0) - (result?.finishedAt.epochMilliseconds ?? 0)) / 1000;
    };
    expect(await kept()).toBe(5 * DAY_S);
    const changed = await schedule.update({ failureExpirationTime: "3d" });
    expect(changed.toJSON().failureExpirationTime).toBe("PT72H");
    await scheduler.runScheduleNow("s");
    expect(await kept()).toBe(3 * DAY_S);
    expect((await schedule.update({ failureExpirationTime: null })).failureExpirationTime).toBe(null);
    await scheduler.runScheduleNow("s");
    expect(await kept()).toBe(30 * DAY_S);
  });

  test("does not make the success of a retry last longer", async () => {
    const { scheduler } = setUp();
    let isBroken = true;
    const task = scheduler.task("t", { failureExpirationTime: "3d" }, () => {
      if (isBroken) throw new Error("broken");
    });
    const job = await scheduler.addJob(task, { resultExpirationTime: "1h" });
    await drain(scheduler);
    const again = await scheduler.retryJob(job.id);
    await drain(scheduler);
    const third = await scheduler.retryJob(again.id);
    isBroken = false;
    await drain(scheduler);
    const lasts = async (id: string): Promise<number> => {
      const result = await scheduler.getJobResult(id);
      return ((result?.expiresAt.epochMilliseconds ?? 0) - (result?.finishedAt.epochMilliseconds ?? 0)) / 1000;
    };
    expect([await lasts(job.id), await lasts(again.id), await lasts(third.id)]).toEqual([3 * DAY_S, 3 * DAY_S, 3600]);
  });

  test("of a job that somebody awaits is no longer than without that", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { resultExpirationTime: "0s" }, () => {
      throw new Error("broken");
    });
    await scheduler.start();
    const error = scheduler.runJob(task).catch(({ message }) => message);
    await clock.advance("PT1S");
    expect(await error).toBe("broken");
    const [result] = (await scheduler.getJobResults()).items;
    const kept = (result?.expiresAt ?? at(0)).since(result?.finishedAt ?? at(0));
    expect(Temporal.Duration.compare(kept, { hours: 1 })).toBeLessThan(0);
  });
});
