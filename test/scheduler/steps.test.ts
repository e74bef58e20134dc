import { describe, expect, test } from "vitest";
import { Heap, type HeapItem } from "../../src/core/heap.ts";
import { DateTrigger, MemoryDataStore } from "../../src/mod.ts";
import { checkScheduleOptions } from "../../src/scheduler/check-options.ts";
import { newJobRecord, newScheduleRecord } from "../../src/scheduler/new-records.ts";
import { everySecond, START_MS, setUp } from "./support.ts";

const task = {
  id: "t",
  executor: "inline",
  maxRunningJobs: null,
  misfireGraceMs: null,
  maxRecoveries: 3,
  timeoutMs: null,
  resultExpirationMs: 0,
  retry: { attemptsMax: 1, initialMs: 0, factor: 1, maxMs: 0, jitter: "none" as const },
  metadata: {},
};

/** How many heap comparisons a tick costs that runs one due job and one due schedule while so much else waits. */
async function stepsOfTick(waitingJobs: number, waitingSchedules: number): Promise<number> {
  const dataStore = new MemoryDataStore();
  const { scheduler } = setUp({ dataStore });
  scheduler.task("t", { maxRunningJobs: null, resultExpirationTime: "PT0S" }, () => {});
  scheduler.task("elsewhere", () => {});
  await dataStore.putTasks([task]);
  const facts = { task, payload: null, now: START_MS };
  const later = START_MS + 86_400_000;
  const delayed = (index: number) => newJobRecord({ ...facts, id: `d${index}` }, { priority: 0, runAt: later + index });
  const ready = (index: number) =>
    newJobRecord({ ...facts, id: `r${index}` }, { executor: "threads", priority: 0, runAt: START_MS });
  await dataStore.addJobs(Array.from({ length: waitingJobs / 2 }, (_, index) => delayed(index)));
  await dataStore.addJobs(Array.from({ length: waitingJobs / 2 }, (_, index) => ready(index)));
  // Ready is what a turn found due: this one is paid for by the jobs that it moves, once.
  await dataStore.turn({ now: START_MS, schedulerId: "x", releases: [], acquisition: null });
  const schedule = newScheduleRecord(
    { ...facts, id: "x", trigger: new DateTrigger(new Date(later)) },
    checkScheduleOptions({}, "test"),
  );
  const waiting = Array.from({ length: waitingSchedules }, (_, index) => ({ ...schedule, id: `s${index}` }));
  await dataStore.addSchedules(waiting.map((one) => ({ schedule: one, conflictPolicy: "error" as const })));
  await scheduler.addSchedule("t", everySecond());
  const before = Heap.comparisons;
  const scan = countMapSteps();
  try {
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsRun: 1 });
  } finally {
    scan.end();
  }
  return Heap.comparisons - before + scan.steps;
}

/** Counts the entries of maps that are walked through, until it is ended. */
function countMapSteps(): { steps: number; end: () => void } {
  const { values } = Map.prototype;
  const scan = {
    steps: 0,
    end: (): void => {
      Map.prototype.values = values;
    },
  };
  Map.prototype.values = function* (this: Map<unknown, unknown>) {
    for (const value of values.call(this)) {
      scan.steps++;
      yield value;
    }
  } as typeof values;
  return scan;
}

describe("a tick on the memory store", () => {
  test("costs no more than a logarithm of what waits, and no scan", async () => {
    const few = await stepsOfTick(1000, 100);
    const many = await stepsOfTick(100_000, 10_000);
    expect(few).toBeGreaterThan(0);
    // A hundred times as much is at most 7 levels more in each of the heaps that one job and one schedule pass.
    expect(many - few).toBeLessThan(150);
  });

  test("the counters see a scan where there is one", async () => {
    const scan = countMapSteps();
    const store = new MemoryDataStore();
    const facts = { task, payload: null, now: START_MS };
    await store.addJobs(
      Array.from({ length: 100 }, (_, index) => newJobRecord({ ...facts, id: `j${index}` }, { priority: 0 })),
    );
    await store.getJobs({ limit: 1, cursor: null });
    scan.end();
    expect(scan.steps).toBe(100);
    const items = Array.from({ length: 1000 }, (_, index) => 1000 - index).map(
      (value): HeapItem & { value: number } => ({
        value,
        heapIndex: -1,
      }),
    );
    const heap = new Heap<HeapItem & { value: number }>((a, b) => a.value < b.value);
    const before = Heap.comparisons;
    for (const item of items) heap.push(item);
    while (heap.pop() !== undefined);
    expect(Heap.comparisons - before).toBeGreaterThan(1000);
  });
});
