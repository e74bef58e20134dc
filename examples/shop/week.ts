// A week of the shop in some seconds: a scheduler on a clock that jumps from one fire time to the next. For a while
// nobody is up, as it happens on some nights, so that there is something to explain.
import { Scheduler } from "escapement";
import type { DataStore } from "escapement/contracts";
import { VirtualClock } from "escapement/testing";
import { addDaily, addFrequent, registerShop, type Wait } from "./tasks.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Lives through the last seven days on an empty store. @param random numbers in [0, 1) */
export async function liveThroughAWeek(dataStore: DataStore, nowMs: number, random: () => number): Promise<void> {
  const clock = new VirtualClock(new Date(nowMs - 7 * DAY_MS));
  const wait: Wait = (ms) => clock.jumpTo(new Date(clock.now() + ms));
  const open = (identity: string): Scheduler => {
    const scheduler = new Scheduler({ dataStore, clock, identity, leaseDuration: "1h", logger: quiet });
    registerShop(scheduler, wait, random);
    return scheduler;
  };
  await using first = open("w-1");
  await addDaily(first);
  // Two days ago, the first worker stops over the hour in which the backup is due, and another one comes.
  const night = new Date(nowMs - 2 * DAY_MS).setUTCHours(0, 0, 0, 0);
  await liveUntil(first, clock, night);
  await clock.jumpTo(new Date(night + 1.7 * HOUR_MS));
  await using second = open("w-2");
  await liveUntil(second, clock, nowMs - 3 * HOUR_MS);
  await addFrequent(second);
  await liveUntil(second, clock, nowMs);
  // Who only ticks counts as alive until its lease ends; who has started says that it leaves.
  await second.start({ paused: true });
}

async function liveUntil(scheduler: Scheduler, clock: VirtualClock, untilMs: number): Promise<void> {
  while (clock.now() < untilMs) {
    const { nextWakeAtMs } = await scheduler.tick({ maxDuration: "1h" });
    const next = Math.min(untilMs, nextWakeAtMs ?? untilMs);
    if (next > clock.now()) await clock.jumpTo(new Date(next));
  }
}
