import { describe, expect, test } from "vitest";
import { Heap } from "../../src/core/heap.ts";
import { DateTrigger, MemoryDataStore } from "../../src/mod.ts";
import { checkJobOptions, checkScheduleOptions } from "../../src/scheduler/options/check-options.ts";
import { newJobRecord, newScheduleRecord } from "../../src/scheduler/verbs/new-records.ts";
import { everySecond, START_MS, setUp, stepRequest } from "./support.ts";

const task = {
  id: "t",
  executor: "inline",
  maxRunningJobs: null,
  misfireGraceMs: null,
  maxRecoveries: 3,
  timeoutMs: null,
  resultExpirationMs: 0,
  retry: { attemptsMax: 1, initialMs: 0, factor: 1, maxMs: 0, jitter: "none" as const },
  overlap: "queue" as const,
  metadata: {},
};

/** How many steps a tick costs that runs one due job and one due schedule while so much else waits: operations on heaps,
 *  each of which costs at most a logarithm (held by the heap's own test), and entries of maps that are walked through. */
async function stepsOfTick(waitingJobs: number, waitingSchedules: number): Promise<number> {
  const dataStore = new MemoryDataStore();
  const { scheduler } = setUp({ dataStore });
  scheduler.task("t", { maxRunningJobs: null, resultExpirationTime: "PT0S" }, () => {});
  scheduler.task("elsewhere", () => {});
  await dataStore.putTasks([task]);
  const facts = { task, payload: { text: null, key: null }, now: START_MS };
  const later = START_MS + 86_400_000;
  const delayed = (index: number) => newJobRecord({ ...facts, id: `d${index}` }, { priority: 0, runAt: later + index });
  const ready = (index: number) =>
    newJobRecord({ ...facts, id: `r${index}` }, { executor: "threads", priority: 0, runAt: START_MS });
  await dataStore.addJobs(Array.from({ length: waitingJobs / 2 }, (_, index) => delayed(index)));
  await dataStore.addJobs(Array.from({ length: waitingJobs / 2 }, (_, index) => ready(index)));
  // Ready is what a turn found due: this one is paid for by the jobs that it moves, once.
  await dataStore.step(stepRequest({ now: START_MS, schedulerId: "x", jobs: { queues: [], limit: 0 } }));
  const schedule = newScheduleRecord(
    { ...facts, id: "x", trigger: new DateTrigger(new Date(later)) },
    checkScheduleOptions({}, "test"),
  );
  const waiting = Array.from({ length: waitingSchedules }, (_, index) => ({ ...schedule, id: `s${index}` }));
  await dataStore.addSchedules(waiting.map((one) => ({ schedule: one, conflictPolicy: "error" as const })));
  await scheduler.addSchedule("t", everySecond());
  const counter = countSteps();
  try {
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsRun: 1 });
  } finally {
    counter.end();
  }
  return counter.steps;
}

const HEAP_OPERATIONS = ["peek", "push", "pop", "remove"] as const;

/** Counts steps until it is ended. */
function countSteps(): { steps: number; end: () => void } {
  const { values } = Map.prototype;
  const { peek, push, pop, remove } = Heap.prototype;
  const counter = {
    steps: 0,
    end: (): void => {
      Map.prototype.values = values;
      Object.assign(Heap.prototype, { peek, push, pop, remove });
    },
  };
  Map.prototype.values = function* (this: Map<unknown, unknown>) {
    for (const value of values.call(this)) {
      counter.steps++;
      yield value;
    }
  } as typeof values;
  for (const name of HEAP_OPERATIONS) {
    const operation = Heap.prototype[name] as (this: unknown, ...given: unknown[]) => unknown;
    Object.assign(Heap.prototype, {
      [name](this: unknown, ...given: unknown[]): unknown {
        counter.steps++;
        return operation.apply(this, given);
      },
    });
  }
  return counter;
}

describe("a tick on the memory store", () => {
  test("costs the same whatever waits, and no scan", async () => {
    const few = await stepsOfTick(1000, 100);
    const many = await stepsOfTick(100_000, 10_000);
    expect(few).toBeGreaterThan(0);
    expect(many).toBe(few);
  });

  test("the counter sees a scan where there is one, and every operation of a heap", async () => {
    const store = new MemoryDataStore();
    const facts = { task, payload: { text: null, key: null }, now: START_MS };
    await store.addJobs(
      Array.from({ length: 100 }, (_, index) => newJobRecord({ ...facts, id: `j${index}` }, checkJobOptions({}, ""))),
    );
    const scan = countSteps();
    await store.getJobs({ limit: 1, cursor: null });
    scan.end();
    expect(scan.steps).toBe(100);
    const heap = new Heap<{ heapIndex: number }>(() => false);
    const operations = countSteps();
    for (let left = 10; left > 0; left--) heap.push({ heapIndex: -1 });
    operations.end();
    heap.push({ heapIndex: -1 });
    expect(operations.steps).toBe(10);
  });
});
