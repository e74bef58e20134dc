import { describe, expect, test } from "vitest";
import type { JobEntry } from "../../src/stores/memory/entries-of-jobs-and-tasks.ts";
import { Flow } from "../../src/stores/memory/flow-control.ts";
import { Queues } from "../../src/stores/memory/queues-and-acquisition.ts";
import { TokenBucket } from "../../src/stores/memory/rates-and-fairness.ts";
import { Bursts } from "../../src/stores/memory/throttle-and-debounce.ts";
import { Jobs } from "../../src/stores/memory/unfinished-jobs.ts";
import { makeJob, makeTask, QUEUE } from "../../src/testing/data-store-contract/makers.ts";
import { commitRequest } from "../scheduler/support.ts";

/** The lists and limiters of a store with blocked jobs, and how many comparisons of jobs they made. */
class Line {
  comparisons = 0;
  readonly flow = new Flow();
  readonly jobs = new Jobs();
  readonly #queues = new Queues(this.jobs, this.flow, new Bursts());
  #count = 0;

  constructor(maxRunningPerKey: number) {
    this.flow.configure(this.jobs.taskOf("task"), makeTask({ maxRunningPerKey }));
  }

  add(runAt: number, concurrencyKey: string): void {
    const job = makeJob({ id: `job ${this.#count++}`, runAt, concurrencyKey });
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
    const entry = this.jobs.insert(record);
    this.flow.join(entry);
    this.#queues.add(entry, true);
  }

  /** Leases jobs, which end. */
  take(limit: number): readonly JobEntry[] {
    const jobs = { queues: [QUEUE], limit };
    const acquired = this.#queues.acquire({ ...commitRequest({ now: 0, schedulerId: "x", jobs }), until: 1 });
    const entries = acquired.flatMap(({ id }) => this.jobs.find(id) ?? []);
    for (const entry of entries) {
      this.#queues.endLease(entry, null);
      this.flow.leave(entry);
      this.jobs.remove(entry, null);
    }
    return entries;
  }

  /** The comparisons of a hundred commits that take a job and add another to the same key. */
  costOfSteps(): number {
    this.take(1);
    this.comparisons = 0;
    for (let commits = 0; commits < 100; commits++) {
      for (const { record } of this.take(1)) this.add(record.runAt + 1_000_000, record.concurrencyKey ?? "");
    }
    return this.comparisons;
  }
}

/** The comparisons of a hundred commits beside so many jobs, which are added in no order. */
function costBeside(count: number, keyOf: (index: number) => string): number {
  const line = new Line(1);
  for (let index = 0; index < count; index++) line.add((index * 48_271) % 65_537, keyOf(index));
  return line.costOfSteps();
}

describe("the flow control of a memory store", () => {
  test("makes a commit cost a logarithm of the blocked jobs at most, for one key and for many", () => {
    for (const keyOf of [() => "k", (index: number) => `key ${index % 100}`]) {
      const few = costBeside(1000, keyOf);
      const many = costBeside(30_000, keyOf);
      expect(few).toBeGreaterThan(0);
      expect(many / few).toBeLessThan(3);
    }
  });

  test("forgets keys that have no jobs", () => {
    const line = new Line(1);
    for (let index = 0; index < 10; index++) line.add(index, `key ${index}`);
    const { limiters } = line.jobs.taskOf("task");
    expect(limiters.size).toBe(10);
    expect([line.take(10).length, limiters.size]).toEqual([10, 0]);
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
