import { describe, expect, test } from "vitest";
import { nextWaitMs, TimerLag } from "../../src/core/timer-lag.ts";

/** Statistics of timers that were all seen to take so many times as long as they were asked for. */
function seen(times: number, sizes: readonly number[], count = 400): TimerLag {
  const lag = new TimerLag();
  for (let n = 0; n < count; n++) for (const ms of sizes) lag.observe(ms, ms * times);
  return lag;
}

const SIZES = [20, 50, 100, 200, 500, 1000, 3_600_000];

describe("the next wait of a precise sleep", () => {
  test.each([
    // left, with punctual timers, with timers 8% late
    [0.5, 0, 0],
    [1, 0, 0],
    [1.5, 1, 1],
    [4, 1, 1],
    [5, 4, 3],
    [21, 20, 18],
    [60, 59, 54],
    [120, 119, 110],
    [121, 61, 56],
    [560, 500, 462],
    [1060, 1000, 943],
    [3_600_000, 3_599_940, 3_599_880],
    [1e12, 3_600_000, 3_600_000],
  ])(
    "with %d ms left is %d ms where timers are punctual, and %d ms where they are late by 8 in 100",
    (left, punctual, late) => {
      expect([nextWaitMs(left, seen(1, SIZES)), nextWaitMs(left, seen(1.08, SIZES))]).toEqual([punctual, late]);
    },
  );

  test("leaves a margin where timers are now punctual and now late", () => {
    const lag = new TimerLag();
    for (let n = 0; n < 100; n++) lag.observe(50, n % 2 === 0 ? 50 : 55);
    const late = seen(1.05, SIZES);
    expect([nextWaitMs(60, lag) < nextWaitMs(60, late), nextWaitMs(560, late)]).toEqual([true, 476]);
  });
});

describe("the lag of timers", () => {
  test("is kept for each size by itself", () => {
    const lag = seen(1.5, [500]);
    expect([lag.toTake(450, 0), lag.toTake(50, 0)]).toEqual([expect.closeTo(450 / 1.12), expect.closeTo(50 / 1.05)]);
  });

  test("follows a load that comes and goes", () => {
    const lag = seen(1.2, [50]);
    const loaded = Math.round(lag.toTake(60, 0));
    for (let n = 0; n < 40; n++) lag.observe(50, 50);
    expect([loaded, Math.round(lag.toTake(60, 0))]).toEqual([50, 60]);
  });

  test("is not learnt from timers below 20 ms", () => {
    const lag = seen(9, [1, 10, 19.9]);
    expect(lag.toTake(10, 2)).toBe(new TimerLag().toTake(10, 2));
  });

  test("counts a suspended machine as 60 ms", () => {
    const suspended = new TimerLag();
    suspended.observe(500, 86_400_000);
    const late = new TimerLag();
    late.observe(500, 560);
    expect(suspended.toTake(400, 2)).toBe(late.toTake(400, 2));
  });

  test("counts a timer that was early as punctual", () => {
    const early = new TimerLag();
    early.observe(500, 499.2);
    const punctual = new TimerLag();
    punctual.observe(500, 500);
    expect(early.toTake(400, 2)).toBe(punctual.toTake(400, 2));
  });

  test("has at least half of the time asked for, whatever was seen", () => {
    expect(seen(100, SIZES).toTake(50, 2)).toBe(25);
  });
});
