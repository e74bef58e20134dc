import process from "node:process";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { LocalEventBroker } from "../../src/brokers/local.ts";
import { IntervalTrigger, Scheduler, type SchedulerOptions } from "../../src/mod.ts";
import type { SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { removeSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { CountingDriver, type StepCount, type Trips } from "../support/counting-driver.ts";
import { at, START, START_MS, secondsOf } from "./support.ts";

/** Where the schedulers of a test find their database. */
export interface Backend {
  /** A new connection to a database by its name. What it opens, a store closes. */
  driver(name: string): SqlDriver;
  /** Where steps can be counted. */
  readonly countSteps?: StepCount;
}

/** A million take their time: `SCHEDULES_MAX=1000000 npx vitest run test/scheduler/round-trips`. */
export const SCHEDULES_MAX = Number(process.env.SCHEDULES_MAX ?? 100_000);

/** When the first of many schedules fires, in seconds. */
const FAR = 1_000_000;
/** Turns of the event loop without a trip after which nobody is going to make one. */
const QUIET_TURNS = 3;

/** Stores and schedulers of one test, on one database. */
class Bench {
  readonly clock = new VirtualClock(START);
  readonly #backend: Backend;
  readonly #database: string;
  readonly #drivers: CountingDriver[] = [];
  readonly #schedulers: Scheduler[] = [];

  constructor(backend: Backend, database: string) {
    this.#backend = backend;
    this.#database = database;
  }

  /** A store as a new process has it. */
  store(): { store: SqlDataStore; driver: CountingDriver } {
    const driver = new CountingDriver(this.#backend.driver(this.#database), this.#backend.countSteps);
    this.#drivers.push(driver);
    return { store: new SqlDataStore(driver, { tablePrefix: prefixOf(this.#database) }), driver };
  }

  /** A scheduler as a new process has it. */
  process(): { scheduler: Scheduler; driver: CountingDriver } {
    const { store, driver } = this.store();
    return { scheduler: this.scheduler(store), driver };
  }

  scheduler(dataStore: SqlDataStore, options: SchedulerOptions = {}): Scheduler {
    const scheduler = new Scheduler({ dataStore, clock: this.clock, ...options });
    this.#schedulers.push(scheduler);
    return scheduler;
  }

  /** Waits until everything that is to be done at the present instant is done, answers of servers included. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const before = this.#drivers.map(({ trips }) => trips);
      await this.clock.settle();
      const isQuiet = this.#drivers.every((driver, index) => !driver.isBusy && isSame(driver.trips, before[index]));
      quiet = isQuiet ? quiet + 1 : 0;
    }
  }

  /** Moves the clock on, and settles at each instant on the way at which somebody wakes. */
  async advanceTo(seconds: number): Promise<void> {
    const target = START_MS + seconds * 1000;
    await this.settle();
    for (let next = this.clock.nextWakeMs; next !== null && next <= target; next = this.clock.nextWakeMs) {
      await this.clock.advanceTo(new Date(next));
      await this.settle();
    }
    await this.clock.advanceTo(new Date(target));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#schedulers.map((scheduler) => scheduler.stop()));
  }
}

function isSame(a: Trips, b: Trips | undefined): boolean {
  return a.reads === b?.reads && a.writes === b.writes;
}

/** Several databases may be one, so each has tables of its own. */
function prefixOf(database: string): string {
  return `${database}_`;
}

/** Fills a database with schedules that fire in the far future, all but one of them copies. */
async function addSchedules(backend: Backend, database: string, count: number): Promise<void> {
  const bench = new Bench(backend, database);
  const { scheduler, driver } = bench.process();
  const task = scheduler.task("many", () => {});
  const trigger = new IntervalTrigger({ days: 30, startTime: at(FAR) });
  await scheduler.addSchedule(task, trigger, { id: "many" });
  const table = `${prefixOf(database)}schedules`;
  const columns =
    "task_id, trigger_json, trigger_rule, paused, created_at, last_fire_time, fence, revision, metadata, details";
  await driver.batch([
    {
      sql:
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1) " +
        `INSERT INTO ${table} (id, next_fire_time, ${columns}) ` +
        `SELECT 'many-' || n, next_fire_time + n, ${columns} FROM numbers, ${table} WHERE id = 'many'`,
      args: [count - 1],
    },
  ]);
  await bench.stop();
}

/** What a scheduler costs its database when there is something that the database lacks. */
function coldCases(backend: Backend): void {
  let bench: Bench;
  afterEach(() => bench.stop());

  test("a tick in a new database makes the tables, and adds the tasks before it looks for their jobs", async () => {
    bench = new Bench(backend, "empty");
    const { scheduler } = bench.process();
    scheduler.task("t", () => {});
    const events: string[] = [];
    scheduler.subscribe(null, ({ type }) => void events.push(type));
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 0, nextWakeAt: null });
    expect(events).toEqual(["taskAdded"]);
    const { scheduler: second, driver } = bench.process();
    second.task("t", () => {});
    await second.tick();
    expect(driver.trips).toEqual({ reads: 1, writes: 0 });
  });

  test("a tick of a process whose tasks have other settings writes those alone, before it runs a job", async () => {
    bench = new Bench(backend, "settings");
    const { scheduler: first } = bench.process();
    first.task("same", () => {});
    const task = first.task("other", { maxRunningJobs: 5 }, () => {});
    await first.addJobs([{ task }, { task }]);
    const { scheduler, driver } = bench.process();
    const events: string[] = [];
    scheduler.subscribe(["taskAdded", "taskUpdated", "jobAcquired", "jobReleased"], (event) => {
      events.push(`${event.type} ${event.taskId}`);
    });
    scheduler.task("same", () => {});
    scheduler.task("other", { maxRunningJobs: 1 }, () => {});
    expect(await scheduler.tick()).toMatchObject({ outcomes: { success: 2 } });
    const run = ["jobAcquired other", "jobReleased other"];
    expect(events).toEqual(["taskUpdated other", ...run, ...run]);
    // Its first write finds another declaration, which it then reads and merges, and asks whose that was.
    expect(driver.trips).toEqual({ reads: 4, writes: 5 });
    driver.reset();
    await scheduler.tick();
    expect(driver.trips).toEqual({ reads: 1, writes: 0 });
  });
}

/** What a scheduler costs its database, whatever the number of schedules in it. `counts`: numbers of schedules, a
 *  database for each. */
export function roundTripCases(backend: Backend, counts: readonly number[]): void {
  coldCases(backend);

  /** Uptimes by which databases of these tests differ: far fewer than schedules. */
  const UPTIMES_MAX = 4;

  /** Steps of the costliest statement, of each work in each database. */
  const stepsByWork = new Map<string, number[]>();

  describe.each(counts)("with %d schedules", (count) => {
    const database = `schedules${count}`;
    let bench: Bench;
    beforeAll(async () => {
      await addSchedules(backend, database, count);
    });
    afterEach(() => bench.stop());

    function begin(): Bench {
      bench = new Bench(backend, database);
      return bench;
    }

    /** What it cost since the count began, of which the steps are compared at the end. */
    function costOf({ trips, stepsMax }: CountingDriver, what: string): Trips {
      stepsByWork.set(what, [...(stepsByWork.get(what) ?? []), stepsMax]);
      return trips;
    }

    test("a tick that finds nothing to do reads once, in a new process and in an old one", async () => {
      const { scheduler, driver } = begin().process();
      scheduler.task("many", () => {});
      const idle = { schedulesProcessed: 0, jobsRun: 0 };
      for (const age of ["new", "old"]) {
        driver.reset();
        expect(await scheduler.tick()).toMatchObject(idle);
        expect(costOf(driver, `an idle tick of a process that is ${age}`)).toEqual({ reads: 1, writes: 0 });
      }
    });

    test("a tick that fires a schedule reads once, and writes twice: the fire, and the outcome of its job", async () => {
      const { scheduler, driver } = begin().process();
      const task = scheduler.task("due", () => {});
      for (const age of ["new", "old"]) {
        await scheduler.addSchedule(task, new IntervalTrigger({ hours: 1, startTime: at(0) }), { id: "due" });
        driver.reset();
        expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, outcomes: { success: 1 } });
        expect(costOf(driver, `a tick that fires, of a process that is ${age}`)).toEqual({ reads: 1, writes: 2 });
        await scheduler.removeSchedule("due");
      }
    });

    test("a tick of fifty jobs that run one after the other takes 52 trips", async () => {
      const { scheduler, driver } = begin().process();
      const task = scheduler.task("fifty", { maxRunningJobs: 1 }, () => {});
      await scheduler.addJobs(Array.from({ length: 50 }, () => ({ task })));
      driver.reset();
      expect(await scheduler.tick()).toMatchObject({ outcomes: { success: 50 } });
      expect(costOf(driver, "a tick of fifty jobs")).toEqual({ reads: 1, writes: 51 });
    });

    test("a scheduler that was started reads ahead of a fire, and writes once before its handler", async () => {
      const { scheduler, driver } = begin().process();
      const before: [number | null, Trips][] = [];
      const task = scheduler.task("fire", () => void before.push([secondsOf(bench.clock.instant), driver.trips]));
      await scheduler.start();
      await scheduler.addSchedule(task, new IntervalTrigger({ hours: 1, startTime: at(61.5) }), { id: "fire" });
      await bench.advanceTo(61.4);
      driver.reset();
      await bench.advanceTo(61.49);
      expect(driver.trips).toEqual({ reads: 1, writes: 0 });
      await bench.advanceTo(61.5);
      expect(before).toEqual([[61.5, { reads: 1, writes: 1 }]]);
      expect(costOf(driver, "a fire")).toEqual({ reads: 1, writes: 2 });
      await scheduler.removeSchedule("fire");
    });

    test("a job that is added to a scheduler that was started costs one write before its handler", async () => {
      const { scheduler, driver } = begin().process();
      const before: Trips[] = [];
      const task = scheduler.task("job", () => void before.push(driver.trips));
      await scheduler.start();
      await bench.settle();
      driver.reset();
      await scheduler.addJob(task);
      await bench.settle();
      expect(before).toEqual([{ reads: 0, writes: 1 }]);
      expect(costOf(driver, "an added job")).toEqual({ reads: 0, writes: 2 });
    });

    test("runJob writes twice and reads once", async () => {
      const { scheduler, driver } = begin().process();
      const task = scheduler.task("run", () => "done");
      await scheduler.start();
      await bench.settle();
      driver.reset();
      expect(await scheduler.runJob(task)).toBe("done");
      await bench.settle();
      expect(costOf(driver, "runJob")).toEqual({ reads: 1, writes: 2 });
    });

    for (const [words, broker] of [
      ["hear of each other", undefined],
      ["hear nothing of each other", (): LocalEventBroker => new LocalEventBroker()],
    ] as const) {
      test(`of four idle schedulers that ${words}, one writes at a fire, and the others only look`, async () => {
        const { store, driver } = begin().store();
        const id = `four-${broker === undefined}`;
        let runs = 0;
        for (const identity of ["a", "b", "c", "d"]) {
          const eventBroker = broker?.();
          const options = { identity, ...(eventBroker === undefined ? {} : { eventBroker }) };
          const scheduler = bench.scheduler(store, options);
          const task = scheduler.task("four", () => void runs++);
          await scheduler.start();
          if (identity === "a") {
            // Its first fire, after which it has a preferred scheduler, is past when the count begins.
            await scheduler.addSchedule(task, new IntervalTrigger({ seconds: 63, startTime: at(2) }), { id });
          }
        }
        await bench.advanceTo(64.9);
        expect(runs).toBe(1);
        driver.reset();
        await bench.advanceTo(65.5);
        expect(runs).toBe(2);
        expect(costOf(driver, `four schedulers that ${words}`).writes).toBe(2);
        await removeSchedule(store, id);
      });
    }
  });

  test("no statement of these tests takes more steps where there are more schedules", () => {
    // Whether an uptime ends ahead takes a step for each uptime, of which processes leave more or fewer.
    const uneven = [...stepsByWork].filter(([, steps]) => Math.max(...steps) - Math.min(...steps) > UPTIMES_MAX);
    expect(stepsByWork.size).toBeGreaterThan(0);
    expect(uneven).toEqual([]);
  });
}
