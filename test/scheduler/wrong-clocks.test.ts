import { describe, expect, onTestFinished, test } from "vitest";
import { IntervalTrigger, MemoryDataStore, Scheduler, type SchedulerOptions } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { recordingLogger } from "./support.ts";

const START = "2026-12-01T12:00:30Z";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;

/** A host, its store and what it ran: `run` at these instants, `of` these fire times. */
function setUp(start = START) {
  const clock = new VirtualClock(start);
  const dataStore = new MemoryDataStore();
  const run: string[] = [];
  const of: string[] = [];
  const { logger, entries: log } = recordingLogger();
  const make = (more: Partial<SchedulerOptions> = {}): Scheduler => {
    const scheduler = new Scheduler({ clock, dataStore, logger, timeZone: "UTC", ...more });
    scheduler.task("t", { maxRunningJobs: null }, (_payload, { job }) => {
      run.push(clock.instant.toString());
      of.push(String(job.fireTime));
    });
    onTestFinished(() => scheduler.stop());
    return scheduler;
  };
  return { clock, dataStore, run, of, log, make };
}

describe("a lone host whose clock was ahead for a minute", () => {
  test.each([
    ["two hours", 2 * HOUR],
    ["eight hours", 8 * HOUR],
    ["400 days", 400 * 24 * HOUR],
    ["ten years", 10 * YEAR],
    ["5,000 years", 5000 * YEAR],
  ])("by %s goes on after some minutes, and runs no fire time twice", async (_name, aheadMs) => {
    const { clock, make, of, log } = setUp();
    const scheduler = make();
    await scheduler.addSchedule("t", "* * * * *", { id: "t" });
    await scheduler.start();
    await clock.advance({ minutes: 3 });
    const since = clock.now();
    await clock.jumpTo(new Date(since + aheadMs));
    await clock.advance({ minutes: 1 });
    await clock.jumpTo(new Date(since + MINUTE));
    const before = of.length;
    await clock.advance({ hours: 3 });
    expect(of.length - before).toBeGreaterThanOrEqual(aheadMs === 2 * HOUR ? 171 : 173);
    expect(new Set(of).size).toBe(of.length);
    expect(log.filter(({ message }) => message.includes("after a clock that was ahead"))).toHaveLength(1);
    expect((await scheduler.getSchedule("t")).nextFireTime?.toString()).toBe("2026-12-01T15:05:00Z");
    await scheduler.stop();
  });

  test("heals an interval and a daily rule over a restart", async () => {
    const { clock, make, of } = setUp();
    let scheduler = make();
    await scheduler.addSchedule("t", new IntervalTrigger({ minutes: 1 }), { id: "interval" });
    await scheduler.addSchedule("t", "0 13 * * *", { id: "daily" });
    await scheduler.start();
    await clock.advance({ minutes: 3 });
    const since = clock.now();
    await clock.jumpTo(new Date(since + 3 * YEAR));
    await clock.advance({ minutes: 1 });
    await scheduler.stop();
    await clock.jumpTo(new Date(since + MINUTE));
    scheduler = make();
    await scheduler.start();
    of.length = 0;
    await clock.advance({ hours: 2 });
    expect(of).toContain("2026-12-01T13:00:00Z");
    expect(of.length).toBeGreaterThan(110);
    await scheduler.stop();
  });

  test("leaves alone what somebody put far ahead, and what a rule has far ahead", async () => {
    const { clock, make, dataStore } = setUp();
    const scheduler = make();
    await scheduler.addSchedule("t", "* * * * *", { id: "minutely" });
    await scheduler.addSchedule("t", "* * * * *", { id: "chosen" });
    await scheduler.addSchedule("t", "0 0 1 6 *", { id: "yearly" });
    await scheduler.start();
    await clock.advance({ minutes: 3 });
    await scheduler.updateSchedule("chosen", { nextFireTime: "2028-01-01T00:00:00Z" });
    const since = clock.now();
    await clock.jumpTo(new Date(since + 90 * 24 * HOUR));
    await clock.advance({ minutes: 1 });
    await clock.jumpTo(new Date(since + MINUTE));
    await clock.advance({ hours: 1 });
    const next = async (id: string) => (await scheduler.getSchedule(id)).nextFireTime?.toString();
    expect(await next("chosen")).toBe("2028-01-01T00:00:00Z");
    expect(await next("yearly")).toBe("2027-06-01T00:00:00Z");
    expect(await next("minutely")).toBe("2026-12-01T13:05:00Z");
    expect(await dataStore.ledger?.getUptimes({ from: clock.now() + HOUR, until: 8e15 })).toEqual([]);
  });
});

describe("a host that died while it was ahead", () => {
  test("is healed by one that was behind meanwhile, too", async () => {
    const { clock, make, of } = setUp();
    await clock.advance({ minutes: 30 });
    const before = make();
    await before.addSchedule("t", "* * * * *", { id: "t" });
    const since = clock.now();
    await clock.jumpTo(new Date(since + 4 * YEAR));
    await before.start();
    await clock.advance({ minutes: 1 });
    await before.stop();
    // It is steady there, and cannot judge a schedule that was added later.
    await clock.jumpTo(new Date(since - 20 * MINUTE));
    const scheduler = make();
    await scheduler.start();
    await clock.advance({ minutes: 8 });
    await clock.jumpTo(new Date(since + 10 * MINUTE));
    of.length = 0;
    await clock.advance({ hours: 1 });
    expect(of.length).toBeGreaterThanOrEqual(48);
    expect(new Set(of).size).toBe(of.length);
  });
});

describe("what is no wrong clock", () => {
  test.each([
    ["a laptop that slept for nine hours", 9 * HOUR],
    ["a machine that was thawed after ten days", 240 * HOUR],
  ])("%s goes on at once, by its misfire rules", async (_name, awayMs) => {
    const { clock, make, of, log } = setUp();
    const scheduler = make();
    await scheduler.addSchedule("t", "* * * * *", { id: "latest" });
    await scheduler.addSchedule("t", "0 * * * *", { id: "all", coalesce: "all" });
    await scheduler.start();
    await clock.advance({ minutes: 3 });
    of.length = 0;
    await clock.jumpTo(new Date(clock.now() + awayMs));
    await clock.advance({ minutes: 10 });
    expect(of).toHaveLength(awayMs / HOUR + 1 + 10);
    expect((await scheduler.health()).storeWarnings).toEqual([]);
    expect(log.filter(({ message }) => message.includes("ahead"))).toEqual([]);
  });

  test("a program that starts again after ten days is believed", async () => {
    const { clock, make, of } = setUp();
    const before = make();
    await before.addSchedule("t", "0 13 * * *", { id: "t", coalesce: "all" });
    await before.start();
    await clock.advance({ minutes: 3 });
    await before.stop();
    await clock.jumpTo(new Date(clock.now() + 240 * HOUR));
    const scheduler = make();
    await scheduler.start();
    await clock.advance({ minutes: 1 });
    expect(of).toHaveLength(10);
    expect((await scheduler.health()).storeWarnings).toEqual([]);
  });
});

describe("several hosts, which alone cannot tell whose clock is right", () => {
  /** Hosts whose clocks are off by so much. */
  async function hostsOf(offsets: readonly number[]) {
    const host = setUp();
    const { clock, make, dataStore } = host;
    const hosts: Scheduler[] = [];
    for (const [index, offset] of offsets.entries()) {
      const own = {
        now: () => clock.now() + offset,
        sleep: (until: number, signal?: AbortSignal) => clock.sleep(until - offset, signal),
        yield: () => clock.yield(),
      };
      const scheduler = make({ identity: `host${index}`, dataStore, clock: own });
      if (index === 0) await scheduler.addSchedule("t", "* * * * *", { id: "t" });
      await scheduler.start();
      hosts.push(scheduler);
    }
    return { ...host, hosts };
  }

  test("one that is behind by days fires nothing, and leaves all to the other", async () => {
    const { clock, of } = await hostsOf([0, -72 * HOUR]);
    await clock.advance({ hours: 1 });
    expect(of).toHaveLength(60);
    expect(new Set(of).size).toBe(60);
  });

  test("while two of three are ahead, nothing is taken back; once they are gone, it is", async () => {
    const { clock, of, hosts, dataStore } = await hostsOf([0, YEAR, YEAR]);
    await clock.advance({ minutes: 20 });
    const schedule = await dataStore.getSchedule("t");
    expect(schedule?.nextFireTime).toBeGreaterThan(clock.now() + YEAR);
    expect((await hosts[0]?.health())?.storeWarnings.map(({ code }) => code)).toEqual(["clockAhead"]);
    await hosts[1]?.stop();
    await clock.advance({ minutes: 20 });
    expect((await dataStore.getSchedule("t"))?.nextFireTime).toBeGreaterThan(clock.now() + YEAR);
    await hosts[2]?.stop();
    of.length = 0;
    await clock.advance({ hours: 1 });
    expect(of.length).toBeGreaterThanOrEqual(48);
    expect(new Set(of).size).toBe(of.length);
  });
});

test("a schedule that a clock has added which was ahead is named until somebody takes it back", async () => {
  const { clock, make, of, log } = setUp();
  const since = clock.now();
  await clock.jumpTo(new Date(since + YEAR));
  const wrong = make();
  await wrong.start();
  await wrong.addSchedule("t", "0 13 * * *", { id: "daily" });
  await clock.advance({ minutes: 1 });
  await wrong.stop();
  await clock.jumpTo(new Date(since + MINUTE));
  const scheduler = make();
  await scheduler.start();
  const warnings = async () => (await scheduler.health()).storeWarnings.map(({ code }) => code);
  await clock.advance({ days: 2 });
  const told = log.filter(({ message }) => message.endsWith("take them back with: escapement heal"));
  expect(told.map(({ message }) => message.startsWith("escapement: schedules may wait"))).toEqual([true]);
  expect([of, await warnings()]).toEqual([[], ["clockAhead"]]);
  await scheduler.updateSchedule("daily", { nextFireTime: "2026-12-04T13:00:00Z" });
  await clock.advance({ days: 2 });
  expect([of, await warnings()]).toEqual([["2026-12-04T13:00:00Z"], []]);
});

test("a host that begins in 1970 fires nothing of today before NTP, and all of it afterwards", async () => {
  const { clock, make, of } = setUp();
  const before = make();
  await before.addSchedule("t", "*/5 * * * *", { id: "t" });
  await before.start();
  await clock.advance({ minutes: 10 });
  await before.stop();
  const since = clock.now();
  await clock.jumpTo("1970-01-01T00:00:10Z");
  const scheduler = make();
  await scheduler.start();
  of.length = 0;
  await clock.advance({ minutes: 20 });
  expect(of).toEqual([]);
  await clock.jumpTo(new Date(since + 20 * MINUTE));
  await clock.advance({ hours: 1 });
  expect(of.length).toBeGreaterThanOrEqual(12);
  expect(new Set(of).size).toBe(of.length);
});

describe("programs that only tick", () => {
  test("go on with the second tick of a right clock after one of a wrong year", async () => {
    const { clock, make, of } = setUp();
    const first = make();
    await first.addSchedule("t", "0 3 * * *", { id: "daily" });
    await clock.advance({ days: 1 });
    await first.tick();
    expect(of).toEqual(["2026-12-02T03:00:00Z"]);
    const since = clock.now();
    await clock.jumpTo(new Date(since + 9 * YEAR));
    await make().tick();
    of.length = 0;
    for (let day = 1; day <= 30; day++) {
      await clock.jumpTo(new Date(since + day * 24 * HOUR));
      await make().tick();
    }
    // The tick of the wrong year has cleaned up what was known before, so that the next one finds no witness.
    expect(of.length).toBe(28);
    expect(new Set(of).size).toBe(28);
  });

  test("go on after a tick that was ahead took back what one that was further ahead had moved", async () => {
    const { clock, make, of } = setUp();
    const first = make();
    await first.addSchedule("t", "*/5 * * * *", { id: "t" });
    await first.tick();
    await clock.advance({ minutes: 5 });
    await first.tick();
    const since = clock.now();
    // Less than what the clean-up of a wrong clock removes, or a witness of the right one were gone.
    await clock.jumpTo(new Date(since + 60 * 24 * HOUR));
    await make().tick();
    await clock.jumpTo(new Date(since + 56 * HOUR));
    await make().tick();
    of.length = 0;
    for (let minute = 2; minute <= 40; minute++) {
      await clock.jumpTo(new Date(since + minute * MINUTE));
      await make().tick();
    }
    expect(of.length).toBeGreaterThanOrEqual(5);
    expect(new Set(of).size).toBe(of.length);
  });
});

describe("what people see and say", () => {
  /** A daily rule that a clock five years ahead has moved. */
  async function moved() {
    const host = setUp();
    const scheduler = host.make();
    await scheduler.addSchedule("t", "0 13 * * *", { id: "daily" });
    await scheduler.start();
    const since = host.clock.now();
    await host.clock.jumpTo(new Date(since + 5 * YEAR));
    await host.clock.advance({ days: 1 });
    await host.clock.jumpTo(new Date(since + MINUTE));
    return { ...host, scheduler };
  }

  test("health warns until the schedule is taken back", async () => {
    const { clock, scheduler } = await moved();
    const codes = async () => (await scheduler.health()).storeWarnings.map(({ code }) => code);
    expect(await codes()).toEqual(["clockAhead"]);
    await clock.advance({ minutes: 6 });
    expect(await codes()).toEqual([]);
  });

  test("explain knows what the clock of a scheduler went over", async () => {
    const { clock, scheduler } = await moved();
    const at = "2026-12-02T13:00:00Z";
    const { cause, text } = await scheduler.explain("daily", at);
    expect(JSON.stringify(cause)).toBe('{"kind":"clockAhead","at":"2031-11-30T13:00:00Z"}');
    expect(text).toContain("Cause: the clock of a scheduler was ahead at Sun 2031-11-30 13:00 UTC.");
    await clock.advance({ days: 2 });
    expect(await scheduler.explain("daily", at)).toMatchObject({ verdict: "success", cause: null });
  });

  test("explain knows why the fire times before the clock was right again made no jobs", async () => {
    const { clock, make } = setUp();
    const scheduler = make();
    await scheduler.addSchedule("t", "* * * * *", { id: "t" });
    await scheduler.start();
    const since = clock.now();
    await clock.jumpTo(new Date(since + 5 * YEAR));
    await clock.advance({ minutes: 1 });
    await clock.jumpTo(new Date(since + MINUTE));
    for (const [hours, verdict] of [
      [0, "outside"],
      [3, "coalesced"],
    ] as const) {
      await clock.advance({ hours });
      const { cause, ...explained } = await scheduler.explain("t", "2026-12-01T12:03:00Z");
      expect(explained.verdict).toBe(verdict);
      expect(cause).toMatchObject({ kind: "clockAhead" });
    }
  });

  test("updateSchedule may go back, to the future, and only after a wrong clock", async () => {
    const { clock, scheduler, of } = await moved();
    const nextFireTime = "2026-12-01T13:00:00Z";
    await scheduler.updateSchedule("daily", { nextFireTime });
    await expect(scheduler.updateSchedule("daily", { nextFireTime: "2026-12-01T11:00:00Z" })).rejects.toThrow(/later/);
    of.length = 0;
    await clock.advance({ days: 3 });
    expect(of).toEqual([1, 2, 3].map((day) => `2026-12-0${day}T13:00:00Z`));
  });

  test("two hosts that differ take nothing back, and the one that is left does", async () => {
    const { clock, dataStore, of, log, make } = setUp();
    const right = make({ identity: "right" });
    await right.addSchedule("t", "* * * * *", { id: "t" });
    await right.start();
    const ahead = {
      now: () => clock.now() + YEAR,
      sleep: (until: number, signal?: AbortSignal) => clock.sleep(until - YEAR, signal),
    };
    const wrong = make({ identity: "wrong", dataStore, clock: { ...ahead, yield: () => clock.yield() } });
    await wrong.start();
    await clock.advance({ minutes: 20 });
    expect(log.filter(({ message }) => message.includes("a living scheduler has another time"))).not.toHaveLength(0);
    await wrong.stop();
    const before = of.length;
    await clock.advance({ hours: 1 });
    expect(of.length - before).toBeGreaterThanOrEqual(54);
    expect(new Set(of).size).toBe(of.length);
  });
});
