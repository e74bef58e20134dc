import { expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { Scheduler as StoredScheduler } from "../../src/scheduler/scheduler.ts";

// What callers without types can pass.
const make = (Class: typeof StoredScheduler, ...args: unknown[]): unknown => Reflect.construct(Class, args);

test("the scheduler of escapement/scheduler says that it needs a store", () => {
  const message = 'is missing; it must be a DataStore (the Scheduler of "escapement" makes a MemoryDataStore)';
  const error = new OptionsError(`new Scheduler(): dataStore ${message}`, [{ path: "dataStore", message }]);
  expect(() => make(StoredScheduler, {})).toThrow(error);
  expect(() => make(StoredScheduler)).toThrow(/new Scheduler\(\) takes an object of options; got undefined/);
});

test("a scheduler of either door runs jobs on the store that it is given, and is one of escapement/scheduler", async () => {
  const dataStore = new MemoryDataStore();
  for (const Class of [Scheduler, StoredScheduler]) {
    await using scheduler = new Class({ dataStore });
    expect(scheduler).toBeInstanceOf(StoredScheduler);
    const task = scheduler.task("double", (value: number) => value * 2);
    await scheduler.start();
    expect(await scheduler.runJob(task, { payload: 21 })).toBe(42);
  }
});
