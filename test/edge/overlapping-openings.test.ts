import { expect, test } from "vitest";
import { MemoryDataStore, StoreUnavailableError } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { START, setUp } from "../scheduler/support.ts";

test("an opening that fails undoes no other that succeeded meanwhile", async () => {
  const clock = new VirtualClock(START);
  const dataStore = new MemoryDataStore();
  let isOpen = false;
  let openings = 0;
  let fail = (): void => {};
  dataStore.open = async () => {
    // Where calls wait for each other, there is only one opening.
    if (++openings === 1) await clock.yield();
    else await new Promise<void>((_, reject) => (fail = () => reject(new StoreUnavailableError("down"))));
    isOpen = true;
  };
  dataStore.close = async () => {
    isOpen = false;
  };
  const { scheduler } = setUp({ clock, dataStore });
  const first = scheduler.getSchedules();
  await Promise.resolve();
  const second = Promise.resolve(scheduler.getTasks()).catch(() => null);
  await first;
  fail();
  await second;
  expect(isOpen).toBe(true);
  expect((await scheduler.getSchedules()).items).toEqual([]);
});
