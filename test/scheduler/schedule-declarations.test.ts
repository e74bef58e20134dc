import { describe, expect, test } from "vitest";
import {
  type CatchUpOptions,
  DateTrigger,
  IntervalTrigger,
  MemoryDataStore,
  type ScheduleOptions,
} from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, secondsOf, setUp } from "./support.ts";

/** Two programs on one store, one after the other. */
function twoStarts(versions: { first?: number; second?: number } = {}) {
  const dataStore = new MemoryDataStore();
  const version = (number: number | undefined) => (number === undefined ? {} : { version: number });
  const first = setUp({ dataStore, ...version(versions.first) });
  const second = setUp({ dataStore, clock: first.clock, ...version(versions.second) });
  for (const { scheduler } of [first, second]) scheduler.task("t", () => {});
  return { first: first.scheduler, second: second.scheduler, clock: first.clock, log: second.log };
}

const hourly = (): IntervalTrigger => new IntervalTrigger({ hours: 1 });

describe("a stored declaration", () => {
  test("counts each bound of catchUp, and bounds of which none is given as none", async () => {
    const bounds: CatchUpOptions[] = [{ maxAge: "1s" }, { maxCount: 3 }, { pace: "1s" }, { maxAge: "2s" }];
    const { scheduler, store } = setUp();
    scheduler.task("t", () => {});
    const declared = async (catchUp: CatchUpOptions | null): Promise<string | undefined> => {
      await scheduler.addSchedule("t", hourly(), { id: "s", catchUp });
      return (await store.getSchedule("s"))?.declaration;
    };
    expect(await declared({})).toBe(await declared(null));
    const declarations: unknown[] = [];
    for (const catchUp of [null, ...bounds]) declarations.push(await declared(catchUp));
    expect(new Set(declarations).size).toBe(bounds.length + 1);
  });

  test("is the same text in all versions, with few options and with all of them", async () => {
    const { scheduler, store } = setUp();
    scheduler.task("t", () => {});
    scheduler.task("u", { maxRecoveries: 1, resultExpirationTime: "2h" }, () => {});
    const options: ScheduleOptions = {
      ...{ name: "n", payload: { a: 1 }, priority: 2, coalesce: "all", misfireGraceTime: "1m", maxJitter: "2s" },
      ...{ catchUp: { maxAge: "1h", maxCount: 3, pace: "5s" } },
      ...{ overlap: "skip", metadata: { b: 2 }, concurrencyKey: "k", paused: true },
      ...{ expectStartWithin: "10s", expectFinishWithin: "20s" },
    };
    await scheduler.addSchedule("t", hourly(), { id: "few" });
    await scheduler.addSchedule("u", hourly(), { id: "all", ...options });
    expect((await store.getSchedule("few"))?.declaration).toBe("c9b6d65fefe82503");
    expect((await store.getSchedule("all"))?.declaration).toBe("4efafc6304520be7");
  });
});

describe('conflictPolicy "update", the default,', () => {
  test("applies what the program changed, and keeps the history and the next fire time of the same rule", async () => {
    const { first, second, clock } = twoStarts();
    await first.addSchedule("t", hourly(), { id: "s", payload: "old", priority: 1 });
    await drain(first);
    await clock.advance({ minutes: 90 });
    const updated = await second.addSchedule("t", hourly(), { id: "s", payload: "new", overlap: "skip" });
    expect([updated.payload, updated.priority, updated.overlap]).toEqual(["new", 0, "skip"]);
    const times = [updated.createdAt, updated.lastFireTime, updated.nextFireTime].map(secondsOf);
    expect(times).toEqual([0, 0, 3600]);
  });

  test("counts a new rule from now", async () => {
    const { first, second, clock } = twoStarts();
    await first.addSchedule("t", hourly(), { id: "s" });
    await drain(first);
    await clock.advance({ minutes: 10 });
    const updated = await second.addSchedule("t", new IntervalTrigger({ minutes: 20 }), { id: "s" });
    expect([updated.trigger.describe(), secondsOf(updated.nextFireTime)]).toEqual(["Every 20 minutes", 600]);
  });

  test("changes nothing while the program declares the same, so that edits survive a restart", async () => {
    const { first, second, log } = twoStarts();
    const options: ScheduleOptions = { id: "s", payload: { a: 1 }, metadata: { owner: "x" } };
    await first.addSchedule("t", hourly(), options);
    await first.updateSchedule("s", { priority: 7, payload: { a: 2 }, trigger: everySecond() });
    await first.pauseSchedule("s");
    const before = (await first.getSchedule("s")).toJSON();
    const events: string[] = [];
    second.subscribe(["scheduleAdded", "scheduleUpdated"], ({ type }) => events.push(type));
    expect((await second.addSchedule("t", hourly(), options)).toJSON()).toEqual(before);
    expect([(await second.getSchedule("s")).toJSON(), events, log]).toEqual([before, [], []]);
  });

  test("keeps a pause, unless the program says whether the schedule is paused", async () => {
    const { first, second } = twoStarts();
    await first.addSchedule("t", hourly(), { id: "s" });
    await first.pauseSchedule("s");
    expect((await second.addSchedule("t", hourly(), { id: "s", priority: 1 })).paused).toBe(true);
    expect((await second.addSchedule("t", hourly(), { id: "s", priority: 1, paused: false })).paused).toBe(false);
    expect((await second.addSchedule("t", hourly(), { id: "s", priority: 1, paused: true })).paused).toBe(true);
    const replaced = await second.addSchedule("t", hourly(), { id: "s", conflictPolicy: "replace" });
    expect(replaced.paused).toBe(true);
    const unpaused = await second.addSchedule("t", hourly(), { id: "s", conflictPolicy: "replace", paused: false });
    expect(unpaused.paused).toBe(false);
  });

  test("lets a DateTrigger with a new date fire, and one with the same date fire once", async () => {
    const { first, second, clock } = twoStarts();
    const runs: (number | null)[] = [];
    for (const scheduler of [first, second]) {
      scheduler.task("t", (_, { job }) => void runs.push(secondsOf(job.fireTime)));
    }
    await first.addSchedule("t", new DateTrigger(at(1)), { id: "s" });
    await clock.advance("PT2S");
    await drain(first);
    const ended = await second.addSchedule("t", new DateTrigger(at(1)), { id: "s" });
    expect(ended.nextFireTime).toBeNull();
    await drain(second);
    expect(runs).toEqual([1]);
    await second.addSchedule("t", new DateTrigger(at(3)), { id: "s" });
    await clock.advance("PT2S");
    await drain(second);
    expect(runs).toEqual([1, 3]);
  });

  test("applies settings that come from the task", async () => {
    const { first, second } = twoStarts();
    await first.addSchedule("t", hourly(), { id: "s" });
    second.task("t", { overlap: "skip", misfireGraceTime: "PT5S" }, () => {});
    const updated = await second.addSchedule("t", hourly(), { id: "s" });
    expect([updated.overlap, updated.misfireGraceTime?.toString()]).toEqual(["skip", "PT5S"]);
  });

  test("never lets a lower version overwrite a higher one, and says so", async () => {
    const { first, second, log } = twoStarts({ first: 7, second: 6 });
    await first.addSchedule("t", hourly(), { id: "s", priority: 7 });
    const outdated = second.nextEvent("scheduleOutdated");
    const kept = await second.addSchedule("t", hourly(), { id: "s", priority: 6 });
    expect(kept.priority).toBe(7);
    expect(await outdated).toMatchObject({ scheduleId: "s", taskId: "t", schedulerId: second.identity, version: 6 });
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ["warn", expect.stringContaining('schedule "s" stays as a program of a higher version than this one (6)')],
    ]);
    expect((await first.addSchedule("t", hourly(), { id: "s", priority: 8 })).priority).toBe(8);
  });
});

describe('conflictPolicy "doNothing"', () => {
  test("says what differs from what it keeps, and how to change it", async () => {
    const { first, second, log } = twoStarts();
    await first.addSchedule("t", hourly(), { id: "s", payload: 1 });
    const kept = await second.addSchedule("t", everySecond(), { id: "s", payload: 2, conflictPolicy: "doNothing" });
    expect([kept.payload, kept.trigger.isSameRule(hourly())]).toEqual([1, true]);
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      [
        "warn",
        'escapement: schedule "s" is kept as it is stored, and differs from what is added in: trigger, payload; ' +
          'to apply the change, leave out conflictPolicy "doNothing", or use updateSchedule()',
      ],
    ]);
  });

  test("says nothing while the program asks for the same, whoever edited the schedule since", async () => {
    const { first, second, log } = twoStarts();
    await first.addSchedule("t", hourly(), { id: "s" });
    await first.updateSchedule("s", { priority: 3 });
    const kept = await second.addSchedule("t", hourly(), { id: "s", conflictPolicy: "doNothing" });
    expect([kept.priority, log]).toEqual([3, []]);
  });
});
