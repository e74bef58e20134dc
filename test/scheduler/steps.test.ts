import { describe, expect, test } from "vitest";
import { DateTrigger, MemoryDataStore } from "../../src/mod.ts";
import { checkJobOptions, checkScheduleOptions } from "../../src/scheduler/options/check-options.ts";
import { newJobRecord, newScheduleRecord } from "../../src/scheduler/verbs/new-records.ts";
import { SortedList } from "../../src/stores/memory/sorted-list.ts";
import { cancel } from "../../src/testing/data-store-contract/makers.ts";
import { commitRequest, everySecond, START_MS, setUp } from "./support.ts";

const task = {
  id: "t",
  executor: "inline",
  maxRunningJobs: null,
  misfireGraceMs: null,
  maxRecoveries: 3,
  timeoutMs: null,
  resultExpirationMs: 0,
  retry: { maxAttempts: 1, backoff: { initialMs: 0, factor: 1, maxMs: 0, jitter: "none" as const } },
  overlap: "queue" as const,
  metadata: {},
};

/** How many steps a tick costs that runs one due job and one due schedule while so much else waits: operations on sorted lists,
 *  each of which costs at most a logarithm (held by the list's own test), and items of lists and maps that are read. */
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
  await dataStore.commit(commitRequest({ now: START_MS, schedulerId: "x", jobs: { queues: [], limit: 0 } }));
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

const OPERATIONS = ["add", "delete", "from", "backFrom"] as const;

/** Counts steps until it is ended. */
function countSteps(): { steps: number; end: () => void } {
  const { values } = Map.prototype;
  const { add, delete: remove, from, backFrom } = SortedList.prototype;
  const counter = {
    steps: 0,
    end: (): void => {
      Map.prototype.values = values;
      Object.assign(SortedList.prototype, { add, delete: remove, from, backFrom });
    },
  };
  function* counted<T>(items: Iterable<T>): Generator<T> {
    for (const item of items) {
      counter.steps++;
      yield item;
    }
  }
  Map.prototype.values = function (this: Map<unknown, unknown>) {
    return counted(values.call(this));
  } as typeof values;
  for (const name of OPERATIONS) {
    const operation = SortedList.prototype[name] as (this: unknown, ...given: unknown[]) => unknown;
    Object.assign(SortedList.prototype, {
      [name](this: unknown, ...given: unknown[]): unknown {
        counter.steps++;
        const answer = operation.apply(this, given);
        return name === "from" || name === "backFrom" ? counted(answer as Iterable<unknown>) : answer;
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

  test("the counter sees the jobs of a scan, and every operation of a list", async () => {
    const store = new MemoryDataStore();
    const facts = { task, payload: { text: null, key: null }, now: START_MS };
    await store.addJobs(
      Array.from({ length: 100 }, (_, index) => newJobRecord({ ...facts, id: `j${index}` }, checkJobOptions({}, ""))),
    );
    const scan = countSteps();
    await store.getJobs({ limit: 1, cursor: null, search: "nothing" });
    scan.end();
    expect(scan.steps).toBeGreaterThan(100);
    const list = new SortedList<number>((a, b) => a - b);
    const operations = countSteps();
    for (let left = 10; left > 0; left--) list.add(left);
    operations.end();
    list.add(0);
    expect(operations.steps).toBe(10);
  });
});

/** How many steps each of these costs on a store with so many jobs. */
async function stepsBeside(count: number): Promise<{ readonly [name: string]: number }> {
  const store = new MemoryDataStore();
  const facts = { payload: { text: null, key: null }, now: START_MS };
  const tasks = ["a", "b", "c"].map((id) => ({ ...task, id }));
  const jobs = Array.from({ length: count }, (_, index) => {
    const given = { ...facts, task: tasks[index % 3] ?? task, id: `j${String(index).padStart(9, "0")}` };
    return newJobRecord(given, checkJobOptions({}, ""));
  });
  await store.addJobs(jobs);
  // The first list puts the jobs in order, once.
  await store.getJobs({ limit: 1, cursor: null });
  const middle = jobs[count >> 1]?.id ?? "";
  const calls = {
    "a page in the middle": () => store.getJobs({ limit: 10, cursor: middle }),
    "the newest of a task": () => store.getJobs({ limit: 10, cursor: middle, taskId: "b", order: "newest" }),
    "a cancellation": () => cancel(store, middle, START_MS),
  };
  const steps: { [name: string]: number } = {};
  for (const [name, call] of Object.entries(calls)) {
    const counter = countSteps();
    await call();
    counter.end();
    steps[name] = counter.steps;
  }
  return steps;
}

describe("a list of a memory store", () => {
  test("costs a page what is on it, and a cancellation the same, whatever else waits", async () => {
    const few = await stepsBeside(1000);
    expect(await stepsBeside(30_000)).toEqual(few);
    for (const steps of Object.values(few)) expect(steps).toBeLessThan(60);
  });
});
