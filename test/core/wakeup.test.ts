import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { Wakeup } from "../../src/core/wakeup.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

const START_MS = Date.UTC(2030, 0, 1);

/** A virtual clock that can be precise, and records which way it was asked to sleep. */
function preciseClock(): {
  clock: VirtualClock & Required<Pick<Clock, "sleepExactly">>;
  asked: [way: string, forMs: number][];
} {
  const asked: [string, number][] = [];
  const clock = new (class extends VirtualClock implements Clock {
    override sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
      asked.push(["sleep", untilMs - START_MS]);
      return super.sleep(untilMs, signal);
    }
    sleepExactly(untilMs: number, signal?: AbortSignal): Promise<void> {
      asked.push(["sleepExactly", untilMs - START_MS]);
      return super.sleep(untilMs, signal);
    }
  })(new Date(START_MS));
  return { clock, asked };
}

/** A wait, and by how many milliseconds the clock had moved when it ended. */
function trace(clock: VirtualClock, waiting: Promise<void>): { endedAfterMs: number | null } {
  const ended: { endedAfterMs: number | null } = { endedAfterMs: null };
  void waiting.then(() => {
    ended.endedAfterMs = clock.now() - START_MS;
  });
  return ended;
}

describe("an exact wait", () => {
  test("sleeps exactly, and a plain one does not", async () => {
    const { clock, asked } = preciseClock();
    const wakeup = new Wakeup(clock);
    const exact = trace(clock, wakeup.waitExactly(START_MS + 1000));
    await clock.advance("PT1S");
    const plain = trace(clock, wakeup.wait(START_MS + 3000));
    await clock.advance("PT2S");
    expect({ asked, exact, plain }).toEqual({
      asked: [
        ["sleepExactly", 1000],
        ["sleep", 3000],
      ],
      exact: { endedAfterMs: 1000 },
      plain: { endedAfterMs: 3000 },
    });
  });

  test("is a plain one on a clock that cannot be exact", async () => {
    const clock = new VirtualClock(new Date(START_MS));
    const ended = trace(clock, new Wakeup(clock).waitExactly(START_MS + 1000));
    expect(clock.nextWakeMs).toBe(START_MS + 1000);
    await clock.advance("PT1S");
    expect(ended).toEqual({ endedAfterMs: 1000 });
  });

  test("is woken at once by a call, and heeds one that came before it", async () => {
    const { clock } = preciseClock();
    const wakeup = new Wakeup(clock);
    const woken = trace(clock, wakeup.waitExactly(START_MS + 1000));
    await clock.advance("PT0.4S");
    wakeup.call();
    await clock.settle();
    wakeup.call();
    const notEvenAsleep = trace(clock, wakeup.waitExactly(START_MS + 1000));
    await clock.settle();
    expect([woken, notEvenAsleep, clock.sleeperCount]).toEqual([{ endedAfterMs: 400 }, { endedAfterMs: 400 }, 0]);
  });

  test("meets the earlier instant of a call as exactly", async () => {
    const { clock, asked } = preciseClock();
    const wakeup = new Wakeup(clock);
    const ended = trace(clock, wakeup.waitExactly(START_MS + 1000));
    wakeup.call(START_MS + 700);
    wakeup.call(START_MS + 2000);
    await clock.advance("PT1S");
    expect({ asked, ended }).toEqual({
      asked: [
        ["sleepExactly", 1000],
        ["sleepExactly", 700],
      ],
      ended: { endedAfterMs: 700 },
    });
  });

  test("ends with its signal, and when the clock is set back", async () => {
    const { clock } = preciseClock();
    const wakeup = new Wakeup(clock);
    const given = new AbortController();
    const aborted = trace(clock, wakeup.waitExactly(START_MS + 1000, given.signal));
    given.abort();
    await clock.settle();
    const setBack = trace(clock, wakeup.waitExactly(START_MS + 1000));
    await clock.jumpTo(new Date(START_MS - 5000));
    expect([aborted, setBack, clock.sleeperCount]).toEqual([{ endedAfterMs: 0 }, { endedAfterMs: -5000 }, 0]);
  });
});

describe("a call for what is no instant", () => {
  test.each([["2030-01-01T00:00:00Z"], [Number.NaN], [null], [Number.POSITIVE_INFINITY], [{}]])(
    "(%j) wakes nobody, and the next wait takes its time",
    async (atMs) => {
      const clock = new VirtualClock(new Date(START_MS));
      const wakeup = new Wakeup(clock);
      wakeup.call(atMs as number);
      const ended = trace(clock, wakeup.wait(START_MS + 1000));
      wakeup.call(atMs as number);
      await clock.advance("PT10S");
      expect(ended).toEqual({ endedAfterMs: 1000 });
    },
  );
});
