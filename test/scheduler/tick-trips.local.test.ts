import { afterEach, describe, expect, test } from "vitest";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { START } from "./support.ts";

/** A database in memory that behaves as one behind a network, and counts what it is asked. */
class FarDriver implements SqlDriver {
  readonly isLocal = false;
  readonly #inner = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });
  trips = 0;
  /** Which of the coming requests get no answer: the first is 1. */
  lost: readonly number[] = [];
  #asked = 0;

  open(): Promise<void> {
    return this.#inner.open();
  }

  execute(statement: SqlStatement): Promise<Row[]> {
    return this.#answer(() => this.#inner.execute(statement));
  }

  batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    return this.#answer(() => this.#inner.batch(statements));
  }

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return this.#inner.failureKind(error);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  loseNext(lost: readonly number[]): void {
    this.lost = lost;
    this.#asked = 0;
  }

  async #answer<T>(ask: () => Promise<T>): Promise<T> {
    this.trips++;
    const isLost = this.lost.includes(++this.#asked);
    const answer = await ask();
    if (isLost) throw new TypeError("fetch failed");
    return answer;
  }
}

const schedulers: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) await scheduler.stop();
});

/** Jobs of every kind, and how often each has run. */
async function workload(): Promise<{ driver: FarDriver; scheduler: Scheduler; runs: Map<string, number> }> {
  const driver = new FarDriver();
  const dataStore = new SqlDataStore(driver, { retry: { pauseMsFirst: 0, pauseMsMax: 0 } });
  const scheduler = new Scheduler({ dataStore, clock: new VirtualClock(START), logLevel: "silent" });
  schedulers.push(scheduler);
  const runs = new Map<string, number>();
  const count = (id: string): void => void runs.set(id, (runs.get(id) ?? 0) + 1);
  scheduler.task("one", { maxRunningJobs: 1 }, (_, { job }) => count(job.id));
  scheduler.task("many", { maxRunningJobs: null }, (_, { job }) => count(job.id));
  scheduler.task("keyed", { concurrencyKey: (key: string) => key, maxRunningPerKey: 1 }, (_, { job }) => count(job.id));
  await scheduler.addJobs([
    ...Array.from({ length: 6 }, () => ({ task: "one" })),
    ...Array.from({ length: 6 }, () => ({ task: "many" })),
    ...["a", "a", "b", "b"].map((payload) => ({ task: "keyed", payload })),
  ]);
  // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
  await scheduler.addBatch([{ task: "one" }, { task: "many" }], { then: { task: "many" } });
  const trigger = new IntervalTrigger({ hours: 1, startTime: START });
  for (const id of ["s1", "s2"]) await scheduler.addSchedule("one", trigger, { id });
  return { driver, scheduler, runs };
}

const JOBS = 21;

describe("a tick never sends more requests than maxRoundTrips", () => {
  for (let maxRoundTrips = 1; maxRoundTrips <= 12; maxRoundTrips++) {
    test(`of ${maxRoundTrips}, and runs every job once`, async () => {
      const { driver, scheduler, runs } = await workload();
      let hasMore = true;
      for (let left = 100; left > 0 && hasMore; left--) {
        const before = driver.trips;
        const { roundTrips, exhausted } = await scheduler.tick({ maxRoundTrips });
        expect(roundTrips).toBe(driver.trips - before);
        expect(roundTrips).toBeLessThanOrEqual(maxRoundTrips);
        hasMore = exhausted;
      }
      // A look and a commit leave no request for the outcome.
      const expected = maxRoundTrips < 3 ? [0, 0, true] : [JOBS, JOBS, false];
      const total = [...runs.values()].reduce((sum, times) => sum + times, 0);
      expect([runs.size, total, hasMore]).toEqual(expected);
    });
  }
});

describe("a tick whose requests get no answer once in a while", () => {
  for (const lost of [[1], [2], [3], [4], [2, 4], [3, 6]]) {
    test(`runs every job once (request ${lost.join(" and ")})`, async () => {
      const { driver, scheduler, runs } = await workload();
      driver.loseNext(lost);
      for (let left = 100; left > 0; left--) {
        const { exhausted } = await scheduler.tick({ maxRoundTrips: 20 });
        if (!exhausted) break;
      }
      const total = [...runs.values()].reduce((sum, times) => sum + times, 0);
      expect([runs.size, total]).toEqual([JOBS, JOBS]);
    });
  }
});
