// Not in workerd, which has no shared memory.
import { describe, expect, test } from "vitest";
import { HeldLeases } from "../../src/executors/worker/leases/held-leases.ts";
import { LeasePulse } from "../../src/executors/worker/leases/lease-pulse.ts";
import type { LeaseTable } from "../../src/executors/worker/leases/lease-table.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { leasedJob, T0 } from "../../src/testing/data-store-contract/makers.ts";

const LEASE_MS = 60_000;
const PROFILE = { role: "both", isResident: true, tasks: ["task"], executors: ["inline"] } as const;

/** A pulse over a store with one job under a lease, of which the table knows. Its clock moves by hand. */
async function makePulse(): Promise<{
  readonly store: DataStore;
  readonly held: HeldLeases;
  readonly warnings: string[];
  readonly lease: { readonly jobId: string; readonly fence: number };
  /** Moves the clock, and looks. Returns until when the job is leased, in milliseconds after T0. */
  lookAfter(ms: number): Promise<number | null>;
}> {
  const store = new MemoryDataStore();
  const { id: jobId, fence } = await leasedJob(store);
  const held = new HeldLeases(() => {});
  held.hold(jobId, fence, "task");
  held.table.beat(T0);
  const warnings: string[] = [];
  let elapsed = 0;
  const pulse = new LeasePulse({
    ...{ store, identity: "scheduler-a", instanceId: "run", leaseMs: LEASE_MS, maxBlockedMs: 100_000 },
    elapsed: () => elapsed,
    warn: (message) => warnings.push(message),
  });
  const lookAfter = async (ms: number): Promise<number | null> => {
    elapsed += ms;
    await pulse.runOnce(held.table, PROFILE);
    const job = await store.getJob(jobId);
    return job?.acquiredUntil == null ? null : job.acquiredUntil - T0;
  };
  await lookAfter(0);
  return { store, held, warnings, lease: { jobId, fence }, lookAfter };
}

describe("a lease thread", () => {
  test("leaves the leases alone while the loop gives signs of life", async () => {
    const { held, lookAfter, warnings } = await makePulse();
    const before = await lookAfter(0);
    for (let beat = 1; beat <= 10; beat++) {
      held.table.beat(T0 + beat * 15_000);
      expect(await lookAfter(15_000)).toBe(before);
    }
    expect(warnings).toEqual([]);
  });

  test("extends them when the loop was silent for more than a third of a lease, and tells the scheduler", async () => {
    const { held, lease, lookAfter, warnings } = await makePulse();
    const before = await lookAfter(20_000);
    expect(await lookAfter(10_000)).toBe(30_000 + LEASE_MS);
    expect(before).not.toBe(30_000 + LEASE_MS);
    expect(held.heldUntil(lease.jobId, lease.fence)).toBe(T0 + 30_000 + LEASE_MS);
    expect(held.heldUntil(lease.jobId, lease.fence + 1)).toBe(0);
    expect(warnings).toEqual([
      'escapement: the event loop of "scheduler-a" has been blocked for 30 s, and 1 job runs there: "task" (job ' +
        `${lease.jobId}). The lease thread keeps the leases until the loop has been blocked for 100 s (maxBlocked)`,
    ]);
  });

  test("extends them every third of a lease, until the loop has been silent for maxBlocked", async () => {
    const { lookAfter, warnings } = await makePulse();
    const ends: unknown[] = [];
    for (let look = 0; look < 13; look++) ends.push(await lookAfter(10_000));
    const [first] = ends;
    expect(ends).toEqual([
      ...[first, first, 90_000, 90_000, 110_000, 110_000, 130_000, 130_000, 150_000, 150_000],
      ...[150_000, 150_000, 150_000],
    ]);
    expect(warnings.map((text) => /more than 100 s \(maxBlocked\), so that the leases end/.test(text))).toEqual([
      false,
      true,
    ]);
  });

  test("extends none that the scheduler has let go, and begins anew when the loop lives again", async () => {
    const { held, lease, lookAfter } = await makePulse();
    held.drop(lease.jobId, lease.fence + 1);
    expect(await lookAfter(30_000)).toBe(90_000);
    held.table.beat(T0 + 31_000);
    expect(await lookAfter(1000)).toBe(90_000);
    held.drop(lease.jobId, lease.fence);
    expect(await lookAfter(50_000)).toBe(90_000);
  });

  test("tells of loops that are blocked again and again once a minute", async () => {
    const { held, lookAfter, warnings } = await makePulse();
    for (let block = 1; block <= 4; block++) {
      await lookAfter(25_000);
      held.table.beat(T0 + block * 25_000);
      await lookAfter(0);
    }
    expect(warnings.map((text) => /\(for the (\d+)\. time/.exec(text)?.[1] ?? "first")).toEqual(["first", "3"]);
  });
});

describe("the leases of a scheduler in shared memory", () => {
  test("are found by whoever shares it, also when there are more than fit into the first table", () => {
    const tables: LeaseTable[] = [];
    const held = new HeldLeases((table) => tables.push(table));
    held.table.beat(T0);
    const numbers = Array.from({ length: 300 }, (_, index) => index);
    for (const number of numbers) held.hold(`job ${number}`, number, `task ü ${number}`);
    expect(tables.map(({ size, now }) => [size, now])).toEqual([
      [256, T0],
      [512, T0],
    ]);
    expect(tables.at(-1)?.held()).toEqual(
      numbers.map((number) => ({ slot: number, jobId: `job ${number}`, fence: number, taskId: `task ü ${number}` })),
    );
  });

  test("give their room to others", () => {
    const held = new HeldLeases(() => {});
    held.hold("a", 1, "task");
    held.hold("b", 1, "task");
    held.hold("a", 2, "task");
    held.drop("a", 1);
    held.drop("b", 1);
    held.hold("c", 1, "other");
    expect(held.table.held()).toEqual([
      { slot: 0, jobId: "a", fence: 2, taskId: "task" },
      { slot: 1, jobId: "c", fence: 1, taskId: "other" },
    ]);
  });
});
