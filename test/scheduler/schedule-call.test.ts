import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { localTimeZone } from "../../src/core/temporal.ts";
import { CronTrigger, IntervalTrigger } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, rejectionOf, secondsOf, setUp } from "./support.ts";

describe("schedule()", () => {
  test("registers the task and adds its schedule under one id", async () => {
    const { scheduler } = setUp();
    const runs: unknown[] = [];
    const schedule = await scheduler.schedule("report", new IntervalTrigger({ hours: 1 }), () => {
      runs.push("ran");
    });
    await drain(scheduler);
    expect([schedule.id, schedule.taskId, runs]).toEqual(["report", "report", ["ran"]]);
    expect((await scheduler.getTasks()).map(({ id }) => id)).toEqual(["report"]);
  });

  test("takes crontab text, in UTC unless the scheduler has a time zone", async () => {
    const { scheduler } = setUp();
    const inUtc = await scheduler.schedule("utc", "0 9 * * mon-fri", () => {});
    expect(inUtc.nextFireTime?.toString()).toBe("2030-01-01T09:00:00Z");
    const { scheduler: other } = setUp({ timeZone: "Europe/Berlin" });
    const inBerlin = await other.schedule("berlin", "0 9 * * mon-fri", () => {});
    expect(inBerlin.nextFireTime?.toString()).toBe("2030-01-01T08:00:00Z");
    expect(inBerlin.trigger.timeZone).toBe("Europe/Berlin");
  });

  test("gives the handler its payload, checked by the schema", async () => {
    const { scheduler } = setUp();
    const got: unknown[] = [];
    const schema = v.object({ count: v.pipe(v.string(), v.transform(Number)) });
    await scheduler.schedule("a", new IntervalTrigger({ hours: 1 }), { payload: "Berlin" }, (city: string) => {
      got.push(city);
    });
    await scheduler.schedule(
      "b",
      new IntervalTrigger({ hours: 1 }),
      { schema, payload: { count: "7" } },
      ({ count }) => {
        got.push(count);
      },
    );
    await drain(scheduler);
    expect(got.sort()).toEqual([7, "Berlin"]);
    const wrong = { schema, payload: { count: 7 as unknown as string } };
    const error = await rejectionOf(scheduler.schedule("c", new IntervalTrigger({ hours: 1 }), wrong, () => {}));
    expect(error).toMatchObject({ code: "payload" });
  });

  test("gives settings that both have to the task, and the schedule inherits them", async () => {
    const { scheduler } = setUp();
    const options = {
      misfireGraceTime: "5m",
      metadata: { owner: "billing" },
      resultExpirationTime: "1h",
      maxRunningJobs: 2,
      timeout: "30s",
      name: "Daily report",
      maxJitter: "10s",
      paused: true,
    };
    const schedule = await scheduler.schedule("report", "@daily", options, () => {});
    const [task] = await scheduler.getTasks();
    expect(task).toMatchObject({ maxRunningJobs: 2, metadata: { owner: "billing" } });
    expect([task?.misfireGraceTime, task?.timeout].map(String)).toEqual(["PT5M", "PT30S"]);
    expect([schedule.misfireGraceTime, schedule.resultExpirationTime, schedule.maxJitter].map(String)).toEqual([
      "PT5M",
      "PT1H",
      "PT10S",
    ]);
    expect(schedule).toMatchObject({ name: "Daily report", paused: true, metadata: { owner: "billing" } });
  });

  test("takes over what the program declares now, without losing a due run", async () => {
    const { scheduler, clock } = setUp();
    const hourly = (): IntervalTrigger => new IntervalTrigger({ hours: 1 });
    await scheduler.schedule("s", hourly(), { priority: 1 }, () => {});
    await drain(scheduler);
    await clock.advance({ minutes: 30 });
    const again = await scheduler.schedule("s", hourly(), { priority: 2 }, () => {});
    expect([again.priority, secondsOf(again.nextFireTime)]).toEqual([2, 3600]);
    const named = await scheduler.schedule("s", hourly(), { priority: 2, name: "Hourly" }, () => {});
    expect([named.name, secondsOf(named.nextFireTime)]).toEqual(["Hourly", 3600]);
    const kept = await scheduler.schedule("s", hourly(), { priority: 3, conflictPolicy: "doNothing" }, () => {});
    expect(kept.priority).toBe(2);
  });

  test("registers nothing when the trigger or an option is wrong", async () => {
    const { scheduler } = setUp();
    await rejectionOf(scheduler.schedule("s", "0 9 * *", () => {}));
    await rejectionOf(scheduler.schedule("s", "@daily", { prority: 1 } as object, () => {}));
    expect(await scheduler.getTasks()).toEqual([]);
  });
});

describe("crontab text", () => {
  test("is taken by addSchedule and updateSchedule, and its zone is stored", async () => {
    const { scheduler } = setUp({ timeZone: "Asia/Tokyo" });
    scheduler.task("t", () => {});
    const added = await scheduler.addSchedule("t", "0 9 * * *", { id: "s" });
    expect([added.nextFireTime?.toString(), added.trigger.timeZone]).toEqual(["2030-01-01T00:00:00Z", "Asia/Tokyo"]);
    const updated = await scheduler.updateSchedule("s", { trigger: "30 9 * * *" });
    expect([updated.nextFireTime?.toString(), updated.trigger.timeZone]).toEqual([
      "2030-01-01T00:30:00Z",
      "Asia/Tokyo",
    ]);
    const built = await scheduler.addSchedule("t", CronTrigger.fromCrontab("0 9 * * *"));
    expect(built.trigger.timeZone).toBe("UTC");
  });

  test('in the zone "local" is stored with the name of the host\'s zone', async () => {
    const { scheduler } = setUp({ timeZone: "local" });
    scheduler.task("t", () => {});
    expect((await scheduler.addSchedule("t", "@daily")).trigger.timeZone).toBe(localTimeZone());
  });
});

describe("scheduleDefaults", () => {
  const scheduleDefaults = { coalesce: "all", maxJitter: "5s", catchUp: { maxCount: 3 }, priority: 4 } as const;
  const catchUp = { maxAge: null, maxCount: 3, pace: null };

  test("count where a schedule says nothing else", async () => {
    const { scheduler } = setUp({ scheduleDefaults });
    scheduler.task("t", () => {});
    const plain = await scheduler.addSchedule("t", "@daily");
    expect(plain).toMatchObject({ coalesce: "all", catchUp, priority: 4 });
    expect(plain.maxJitter.toString()).toBe("PT5S");
    const own = await scheduler.addSchedule("t", "@daily", { priority: 0, catchUp: null });
    expect(own).toMatchObject({ coalesce: "all", catchUp: null, priority: 0 });
    const shared = await scheduler.schedule("s", "@daily", () => {});
    expect(shared).toMatchObject({ coalesce: "all", catchUp, priority: 4 });
  });

  test("go into options that a class holds", async () => {
    class Options {
      priority = 1;
    }
    const { scheduler } = setUp({ scheduleDefaults });
    scheduler.task("t", () => {});
    expect(await scheduler.addSchedule("t", "@daily", new Options())).toMatchObject({ coalesce: "all", priority: 1 });
    const called = await scheduler.schedule("s", "@daily", new Options(), () => {});
    expect(called).toMatchObject({ coalesce: "all", priority: 1 });
  });

  test("may set the conflict policy, of schedule() too", async () => {
    const { scheduler } = setUp({ scheduleDefaults: { conflictPolicy: "error" } });
    await scheduler.schedule("s", "@daily", () => {});
    expect(await rejectionOf(scheduler.addSchedule("s", "@daily", { id: "s" }))).toMatchObject({
      code: "conflictingId",
    });
    expect(await rejectionOf(scheduler.schedule("s", "@daily", () => {}))).toMatchObject({ code: "conflictingId" });
    expect((await scheduler.addSchedule("s", "@daily", { id: "s", conflictPolicy: "replace" })).id).toBe("s");
  });
});

describe("the name of a schedule", () => {
  test("is null unless given, need not be unique, and changes", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    expect((await scheduler.addSchedule("t", "@daily", { id: "a" })).name).toBeNull();
    const named = await scheduler.addSchedule("t", "@daily", { id: "b", name: "Täglich" });
    await scheduler.addSchedule("t", "@daily", { id: "c", name: "Täglich" });
    expect([named.name, named.toJSON().name]).toEqual(["Täglich", "Täglich"]);
    expect((await scheduler.updateSchedule("b", { priority: 1 })).name).toBe("Täglich");
    expect((await scheduler.updateSchedule("b", { name: "Daily" })).name).toBe("Daily");
    expect((await scheduler.updateSchedule("b", { name: null })).name).toBeNull();
  });
});

describe("updateSchedule({ nextFireTime })", () => {
  test("fires at that instant, and from then on as the trigger says", async () => {
    const { scheduler, clock } = setUp();
    const fired: (number | null)[] = [];
    scheduler.task("t", (_: undefined, { job }) => {
      fired.push(secondsOf(job.fireTime));
    });
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1, firstRun: "afterInterval" }), { id: "s" });
    const moved = await scheduler.updateSchedule("s", { nextFireTime: at(600) });
    expect(secondsOf(moved.nextFireTime)).toBe(600);
    const preview = await scheduler.previewSchedule("s", { limit: 3 });
    expect(preview.map(({ fireTime }) => secondsOf(fireTime.toInstant()))).toEqual([600, 3600, 7200]);
    await clock.advance({ minutes: 10 });
    await drain(scheduler);
    expect(fired).toEqual([600]);
    expect(secondsOf((await scheduler.getSchedule("s")).nextFireTime)).toBe(3600);
  });

  test("may skip fire times, and brings an ended schedule back", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1, endTime: at(0) }), { id: "s" });
    await drain(scheduler);
    expect((await scheduler.getSchedule("s")).nextFireTime).toBeNull();
    expect(secondsOf((await scheduler.updateSchedule("s", { nextFireTime: at(99) })).nextFireTime)).toBe(99);
  });

  test("is refused at or before the last fire time, because a schedule never goes back", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    await drain(scheduler);
    const error = await rejectionOf(scheduler.updateSchedule("s", { nextFireTime: at(0) }));
    expect(error).toMatchObject({ code: "options", issues: [{ path: "nextFireTime" }] });
    expect(secondsOf((await scheduler.getSchedule("s")).nextFireTime)).toBe(3600);
  });
});
