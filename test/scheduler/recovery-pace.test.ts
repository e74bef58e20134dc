import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import { RecoveryPace } from "../../src/scheduler/driving/recovery-pace.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, leaseAndDie, START, setUp } from "./support.ts";

const LEASE_MS = 60_000;

describe("recovery", () => {
  test("of other jobs needs no pause", () => {
    const pace = new RecoveryPace(LEASE_MS);
    pace.recovered(["a", "b"], 1000);
    expect(pace.dueAt(900, 1000)).toBe(900);
    pace.recovered(["c"], 1000);
    expect(pace.dueAt(900, 1000)).toBe(900);
    expect(pace.dueAt(null, 1000)).toBeNull();
  });

  test("of the same job pauses twice as long each time, up to a second", () => {
    const pace = new RecoveryPace(LEASE_MS);
    const pauses: (number | null)[] = [];
    for (let times = 0; times < 8; times++) {
      pace.recovered(["a"], 1000);
      pauses.push(pace.dueAt(0, 1000));
    }
    expect(pauses).toEqual([0, 1050, 1100, 1200, 1400, 1800, 2000, 2000]);
  });

  test("needs no pause after a lease has passed, or after the clock was set back", () => {
    const pace = new RecoveryPace(LEASE_MS);
    for (const now of [0, 0]) pace.recovered(["a"], now);
    expect(pace.dueAt(0, -1)).toBe(0);
    expect(pace.dueAt(0, 0)).toBe(50);
    pace.recovered(["a"], LEASE_MS + 1);
    expect(pace.dueAt(0, LEASE_MS + 1)).toBe(0);
  });
});

test("schedulers whose clocks differ by more than a lease do not hand a job round without a pause", async () => {
  const clock = new VirtualClock(START);
  const ahead = new VirtualClock(at(120).toString());
  const dataStore = new MemoryDataStore();
  const worker = setUp({ clock, dataStore }).scheduler;
  const other = setUp({ clock: ahead, dataStore, role: "scheduler" }).scheduler;
  let runs = 0;
  worker.task("t", () => {
    runs++;
  });
  await worker.addJob("t");
  await leaseAndDie(dataStore, clock.now(), { schedulerId: "dead" });
  await clock.advance("PT1M");
  const step = dataStore.step.bind(dataStore);
  let steps = 0;
  dataStore.step = (request) => (++steps > 100 ? new Promise(() => {}) : step(request));
  await Promise.all([worker.start(), other.start()]);
  for (let times = 0; times < 20; times++) {
    await Promise.all([clock.advance("PT0.1S"), ahead.advance("PT0.1S")]);
  }
  expect(steps).toBeLessThan(50);
  expect(runs).toBe(1);
});
