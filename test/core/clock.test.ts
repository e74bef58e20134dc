import { describe, expect, test } from "vitest";
import { coarseClock, sleepFor, systemClock } from "../../src/core/clock.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

describe("the system clock", () => {
  test("does not sleep for an instant that is past, or under a signal that is aborted", async () => {
    await systemClock.sleep(0);
    await systemClock.sleep(Number.MAX_SAFE_INTEGER, AbortSignal.abort());
    const given = new AbortController();
    const sleeping = systemClock.sleep(Number.MAX_SAFE_INTEGER, given.signal);
    given.abort();
    await expect(sleeping).resolves.toBeUndefined();
  });

  test("wakes early rather than late when it is set back", async () => {
    const { now } = Date;
    let offset = 0;
    Date.now = () => now.call(Date) + offset;
    try {
      const sleeping = systemClock.sleep(systemClock.now() + 20);
      offset = -86_400_000;
      await sleeping;
      expect(offset).toBe(-86_400_000);
    } finally {
      Date.now = now;
    }
  });
});

describe("a precise sleep on the system clock", () => {
  test("ends with its signal", async () => {
    const given = new AbortController();
    const sleeping = systemClock.sleepExactly(Number.MAX_SAFE_INTEGER, given.signal);
    given.abort();
    await sleeping;
    expect(given.signal.aborted).toBe(true);
  });

  test("is not offered by the coarse clock, nor by a virtual one", () => {
    expect([coarseClock, new VirtualClock()].map((clock) => "sleepExactly" in clock)).toEqual([false, false]);
  });
});

describe("a virtual clock", () => {
  test("wakes sleepers in the order of their instants, each at its own", async () => {
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    const start = clock.now();
    const woken: [string, number][] = [];
    for (const [name, ms] of [
      ["c", 3000],
      ["a", 1000],
      ["b", 2000],
      ["a2", 1000],
    ] as const) {
      void clock.sleep(start + ms).then(() => woken.push([name, clock.now() - start]));
    }
    await clock.advance("PT2.5S");
    expect(woken).toEqual([
      ["a", 1000],
      ["a2", 1000],
      ["b", 2000],
    ]);
    expect(clock.now() - start).toBe(2500);
  });

  test("set forward wakes those whose instant has passed; set back, all", async () => {
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    const woken: string[] = [];
    void clock.sleep(clock.now() + 1000).then(() => woken.push("soon"));
    void clock.sleep(clock.now() + 9_000_000).then(() => woken.push("later"));
    await clock.jumpTo("2030-01-01T00:30:00Z");
    expect(woken).toEqual(["soon"]);
    await clock.jumpTo("2029-01-01T00:00:00Z");
    expect([woken, clock.sleeperCount]).toEqual([["soon", "later"], 0]);
  });

  test("cannot be advanced into the past", async () => {
    await expect(new VirtualClock().advanceTo("2020-01-01T00:00:00Z")).rejects.toMatchObject({ code: "options" });
  });
});

describe("sleepFor", () => {
  test("takes its time once more when the clock is set back", async () => {
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    let isAwake = false;
    void sleepFor(clock, 10_000).then(() => {
      isAwake = true;
    });
    await clock.advance("PT5S");
    await clock.jumpTo("2029-01-01T00:00:00Z");
    await clock.advance("PT9.999S");
    expect(isAwake).toBe(false);
    await clock.advance("PT0.001S");
    expect(isAwake).toBe(true);
  });

  test("ends with its signal", async () => {
    const clock = new VirtualClock();
    const given = new AbortController();
    const sleeping = sleepFor(clock, 10_000, given.signal);
    given.abort();
    await sleeping;
    expect(clock.sleeperCount).toBe(0);
  });
});
