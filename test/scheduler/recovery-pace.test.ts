import { describe, expect, test } from "vitest";
import { RecoveryPace } from "../../src/scheduler/driving/recovery-pace.ts";

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
