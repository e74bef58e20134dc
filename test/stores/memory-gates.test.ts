import { describe, expect, test } from "vitest";
import { Heap } from "../../src/core/heap.ts";
import type { JobEntry } from "../../src/stores/memory/gate.ts";
import { MemoryGates } from "../../src/stores/memory/gates.ts";
import { MemoryQueues, moveTo } from "../../src/stores/memory/queues.ts";
import { TokenBucket } from "../../src/stores/memory/token-bucket.ts";
import { makeJob, QUEUE } from "../../src/testing/data-store-contract/makers.ts";

/** The queues and gates of a store with held jobs, and how many comparisons of jobs they made. */
class Line {
  comparisons = 0;
  readonly gates = new MemoryGates();
  readonly #queues = new MemoryQueues(() => null, this.gates);
  readonly #leased = new Heap<JobEntry>(() => false);
  #seq = 0;

  add(runAt: number, concurrencyKey?: string): void {
    const job = makeJob({ runAt, ...(concurrencyKey === undefined ? {} : { concurrencyKey }) });
    // Each comparison of two jobs begins with their priorities.
    const count = (): void => {
      this.comparisons++;
    };
    const record = Object.defineProperty({ ...job }, "priority", {
      get() {
        count();
        return 0;
      },
    });
    const seq = this.#seq++;
    const places = { heap: null, heapIndex: -1, older: null, newer: null, stamp: null, alarmAt: null };
    const entry: JobEntry = { record, seq, gate: null, isPromoted: false, heldIn: 0, turn: null, ...places };
    this.gates.join(entry);
    this.#queues.add(entry, true);
  }

  /** A step that takes a job, which ends, and that adds another to the same key. */
  step(): void {
    this.#queues.admit(0);
    this.#queues.take([QUEUE], 1, (entry) => {
      moveTo(this.#leased, entry);
      this.gates.lease(entry, 0);
      entry.heap?.remove(entry);
      this.gates.endLease(entry);
      this.gates.leave(entry);
      this.add(entry.record.runAt + 1_000_000, entry.record.concurrencyKey);
    });
    this.#queues.admit(0);
  }

  /** The comparisons of a hundred steps. */
  costOfSteps(): number {
    this.step();
    this.comparisons = 0;
    for (let steps = 0; steps < 100; steps++) this.step();
    return this.comparisons;
  }
}

/** The comparisons of a hundred steps beside so many jobs, which are added in no order. */
function costBeside(count: number, keyOf: (index: number) => string): number {
  const line = new Line();
  line.gates.configure("task", { maxRunningPerKey: 1 });
  for (let index = 0; index < count; index++) line.add((index * 48_271) % 65_537, keyOf(index));
  return line.costOfSteps();
}

describe("the gates of a memory store", () => {
  test("make a step cost a logarithm of the held jobs at most, for one key and for many", () => {
    for (const keyOf of [() => "k", (index: number) => `key ${index % 100}`]) {
      const few = costBeside(1000, keyOf);
      const many = costBeside(30_000, keyOf);
      expect(few).toBeGreaterThan(0);
      expect(many / few).toBeLessThan(3);
    }
  });

  test("forget keys that have no jobs", () => {
    const line = new Line();
    for (let index = 0; index < 10; index++) line.add(index, `key ${index}`);
    expect(line.gates.isEmpty).toBe(false);
    const queues = new MemoryQueues(() => null, line.gates);
    const entries: JobEntry[] = [];
    queues.admit(0);
    queues.take([QUEUE], 10, (entry) => {
      entries.push(entry);
      entry.heap?.remove(entry);
      line.gates.lease(entry, 0);
    });
    for (const entry of entries) {
      line.gates.endLease(entry);
      line.gates.leave(entry);
    }
    expect([entries.length, line.gates.isEmpty]).toEqual([10, true]);
  });
});

describe("a token bucket", () => {
  test("has as many tokens after a long time as the rate says, though they are not whole milliseconds apart", () => {
    const rate = { limit: 7, perMs: 1000, burst: 1 };
    const bucket = new TokenBucket();
    bucket.take(0, rate);
    for (let count = 1; count < 7_000_000; count++) bucket.take(bucket.timeOf(1, rate), rate);
    expect(bucket.timeOf(1, rate)).toBe(1_000_000_000);
  });

  test("is full after a pause, and holds no more than its burst", () => {
    const rate = { limit: 10, perMs: 1000, burst: 3 };
    const bucket = new TokenBucket();
    expect([1, 3, 4].map((tokens) => bucket.timeOf(tokens, rate))).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    for (let count = 0; count < 3; count++) bucket.take(5000, rate);
    expect([1, 2, 3].map((tokens) => bucket.timeOf(tokens, rate))).toEqual([5100, 5200, 5300]);
    expect(bucket.fullAt).toBe(5300);
  });
});
