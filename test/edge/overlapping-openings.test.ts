import { expect, test } from "vitest";
import { MemoryDataStore, StoreUnavailableError } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { START, setUp } from "../scheduler/support.ts";

test("an opening that fails undoes no other that succeeded meanwhile", async () => {
  const clock = new VirtualClock(START);
  const dataStore = new MemoryDataStore();
  let isOpen = false;
  // Where calls wait for each other, there is only the first opening.
  const openings: { succeed: () => void; fail: (error: Error) => void }[] = [];
  dataStore.open = async () => {
    await new Promise<void>((succeed, fail) => openings.push({ succeed, fail }));
    isOpen = true;
  };
  dataStore.close = async () => {
    isOpen = false;
  };
  const { scheduler } = setUp({ clock, dataStore });
  // A listing asks when it is awaited. Calls of one turn wait for each other everywhere.
  const first = Promise.resolve(scheduler.getSchedules());
  await clock.settle();
  const second = Promise.resolve(scheduler.getTasks()).catch(() => null);
  await clock.settle();
  openings[0]?.succeed();
  await first;
  openings[1]?.fail(new StoreUnavailableError("down"));
  await second;
  expect(isOpen).toBe(true);
  expect((await scheduler.getSchedules()).items).toEqual([]);
});
