import { describe, expect, test } from "vitest";
import { Sleeper } from "../../src/core/sleeper.ts";
import { LAST_TURNS_MAX } from "../../src/core/timer-limits.ts";
import { SimulatedHost } from "./simulated-host.ts";

/** Lags by the length of a timer, as they were measured on machines. */
const HOSTS: readonly [name: string, lagOf: (delayMs: number) => number][] = [
  ["punctual", () => 0],
  ["a millisecond late", () => 0.9],
  ["early by a fraction", () => -0.4],
  ["late by a twentieth, 25 ms at most", (ms) => Math.min(25, 0.3 + ms / 20)],
  ["late as browsers are with timers in a row", (ms) => Math.max(0, 4 - ms)],
  ["twice as late as asked", (ms) => 2 * ms],
];

const LENGTHS_MS = [1, 2, 3, 5, 15, 40, 60, 119, 121, 130, 500, 1000, 10_000, 4_000_000];

describe.each(HOSTS)("a precise sleep on a host whose timers are %s", (_, lagOf) => {
  test.each(LENGTHS_MS)("of %d ms is not early, and needs few timers and turns", async (ms) => {
    const host = new SimulatedHost(lagOf);
    const sleeper = new Sleeper(host);
    for (let round = 0; round < 30; round++) {
      const until = host.now() + ms;
      const { timers, turns } = await host.until(sleeper.sleepExactly(until, undefined));
      expect({ isEarly: host.now() < until, hasFewTimers: timers.length <= 16, hasFewTurns: turns <= 101 }).toEqual({
        isEarly: false,
        hasFewTimers: true,
        hasFewTurns: true,
      });
      // The next sleep begins in another second, at another fraction of a millisecond.
      await host.until(new Promise<void>((resolve) => void host.after(1000.37, resolve)));
    }
  });
});

describe("a precise sleep", () => {
  const lateByATwentieth = (ms: number): number => Math.min(25, 0.3 + ms / 20);

  test.each([30, 60, 500, 1000, 10_000])(
    "of %d ms meets its instant to a turn, where a plain one would be late",
    async (ms) => {
      const host = new SimulatedHost(lateByATwentieth);
      const sleeper = new Sleeper(host);
      const lateness: number[] = [];
      for (let round = 0; round < 40; round++) {
        const until = host.now() + ms;
        await host.until(sleeper.sleepExactly(until, undefined));
        lateness.push(host.latenessMs(until));
        await host.until(new Promise<void>((resolve) => void host.after(1000.37, resolve)));
      }
      const latest = Math.max(...lateness.slice(20));
      // A timer of 1 ms takes 1.35 ms here: it may end 0.35 ms late where a little more than 1 ms is left.
      expect(latest).toBeLessThan(0.36);
    },
  );

  test("of half a second takes a long timer, one for the approach, a short one, and turns", async () => {
    const host = new SimulatedHost(lateByATwentieth);
    const sleeper = new Sleeper(host);
    const usages: Awaited<ReturnType<typeof host.until>>[] = [];
    for (let round = 0; round < 100; round++) {
      usages.push(await host.until(sleeper.sleepExactly(host.now() + 500, undefined)));
      await host.until(new Promise<void>((resolve) => void host.after(1000.37, resolve)));
    }
    expect([usages.at(-1)?.timers, usages.some(({ turns }) => turns > 0)]).toEqual([[418, 56, 1], true]);
  });

  test("wakes at once for an instant that is past, and under a signal that is aborted", async () => {
    const host = new SimulatedHost();
    const sleeper = new Sleeper(host);
    await sleeper.sleepExactly(host.now(), undefined);
    await sleeper.sleepExactly(Number.MAX_SAFE_INTEGER, AbortSignal.abort());
    expect(host.usage).toEqual({ timers: [], turns: 0 });
  });

  test("for a fraction of a millisecond ends in the whole one after it", async () => {
    const host = new SimulatedHost();
    const until = host.now() + 30.5;
    await host.until(new Sleeper(host).sleepExactly(until, undefined));
    expect(host.now()).toBe(Math.ceil(until));
  });

  test.each([
    ["its long timer", 200],
    ["its approach", 480],
    ["its short timers", 497.1],
    ["its last turns", 499.5],
  ])("ends with its signal during %s, and leaves nothing behind", async (_, abortAfterMs) => {
    const host = new SimulatedHost();
    const until = host.now() + 500;
    const given = new AbortController();
    host.after(abortAfterMs, () => given.abort());
    await host.until(new Sleeper(host).sleepExactly(until, given.signal));
    expect([host.pendingCount, host.now() < until]).toEqual([0, true]);
  });

  test.each([
    ["its long timer", 200],
    ["its approach", 480],
    ["its short timers", 497.1],
    ["its last turns", 499.5],
  ])("is early rather than late when the clock is set back during %s", async (_, setBackAfterMs) => {
    const host = new SimulatedHost();
    const until = host.now() + 500;
    host.after(setBackAfterMs, () => {
      host.wallStartMs -= 86_400_000;
    });
    await host.until(new Sleeper(host).sleepExactly(until, undefined));
    expect([host.pendingCount, Math.ceil(host.elapsed()) <= 501]).toEqual([0, true]);
  });

  test.each([
    ["its long timer", 200],
    ["its approach", 480],
    ["its short timers", 497.1],
    ["its last turns", 499.5],
  ])("ends with the wait under way when the clock is set forward during %s", async (_, setAfterMs) => {
    const host = new SimulatedHost();
    const sleeping = new Sleeper(host).sleepExactly(host.now() + 500, undefined);
    let waitsAfter = -1;
    host.after(setAfterMs, () => {
      host.wallStartMs += 86_400_000;
      waitsAfter = host.usage.timers.length + host.usage.turns;
    });
    const { timers, turns } = await host.until(sleeping);
    expect(timers.length + turns).toBe(waitsAfter);
  });

  test("that outlasts a suspended machine ends when the machine wakes", async () => {
    const host = new SimulatedHost((ms) => (ms > 1_000_000 ? 1e9 : 0));
    const until = host.now() + 1_234_567;
    const { timers, turns } = await host.until(new Sleeper(host).sleepExactly(until, undefined));
    expect([timers.length, turns, host.now() > until]).toEqual([1, 0, true]);
  });

  test("gives up its turns where the clock stands still meanwhile", async () => {
    const host = new SimulatedHost();
    const until = host.now() + 1;
    host.frozenAtMs = host.now();
    const sleeping = new Sleeper(host).sleepExactly(until, undefined);
    host.after(50, () => {
      host.frozenAtMs = null;
    });
    const { timers, turns } = await host.until(sleeping);
    expect([turns, timers.every((ms) => ms === 1), host.now() >= until]).toEqual([LAST_TURNS_MAX, true, true]);
  });

  test("is a plain one for the rest of a second that has had 20", async () => {
    const host = new SimulatedHost();
    const sleeper = new Sleeper(host);
    const isPlain: boolean[] = [];
    for (let n = 0; n < 60; n++) {
      const { timers } = await host.until(sleeper.sleepExactly(host.now() + 25, undefined));
      isPlain.push(timers[0] === 25);
    }
    // A second has 40 sleeps of 25 ms, and the first counts from its short timers on.
    expect(isPlain).toEqual(Array.from({ length: 60 }, (_, n) => n >= 20 && n < 41));
  });

  test("that is called off before its short timers does not count", async () => {
    const host = new SimulatedHost();
    const sleeper = new Sleeper(host);
    for (let n = 0; n < 100; n++) {
      const given = new AbortController();
      host.after(1, () => given.abort());
      await host.until(sleeper.sleepExactly(host.now() + 50, given.signal));
    }
    expect((await host.until(sleeper.sleepExactly(host.now() + 50, undefined))).turns).toBeGreaterThan(0);
  });
});

describe("a plain sleep", () => {
  test("takes one timer, whatever was learnt", async () => {
    const host = new SimulatedHost((ms) => ms / 10);
    const sleeper = new Sleeper(host);
    for (let n = 0; n < 20; n++) {
      expect(await host.until(sleeper.sleep(host.now() + 500, undefined))).toEqual({ timers: [500], turns: 0 });
    }
  });

  test("teaches precise ones how late timers are", async () => {
    const host = new SimulatedHost((ms) => ms / 10);
    const sleeper = new Sleeper(host);
    for (let n = 0; n < 100; n++) await host.until(sleeper.sleep(host.now() + 50, undefined));
    expect((await host.until(sleeper.sleepExactly(host.now() + 57, undefined))).timers[0]).toBe(50);
  });
});
