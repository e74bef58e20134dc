import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLimits } from "../../src/stores/contract/ledger-types.ts";
import type { SqlLedger } from "../../src/stores/sql/history/ledger-reads.ts";
import { HISTORIES_PER_PARTITION, OLDEST_ROWS_SEEN_MAX } from "../../src/stores/sql/limits.ts";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { makeStatements } from "../../src/stores/sql/sqlite/all-statements.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import {
  DAY_MS,
  dueSchedule,
  end,
  entriesOf,
  fireAt,
  makeSkip,
  runOf,
  seenAgain,
  skipOf,
  taken,
} from "../../src/testing/data-store-contract/ledger-makers.ts";
import {
  add,
  cancel,
  commit,
  commitPlans,
  finish,
  look,
  makeJob,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  release,
  removeSchedule,
  T0,
} from "../../src/testing/data-store-contract/makers.ts";
import { NotingDriver } from "../support/noting-driver.ts";
import { openWithTables } from "./local-stores.ts";

const HOUR_MS = 3_600_000;

let driver: NotingDriver;
let store: SqlDataStore;

beforeEach(() => open());
afterEach(() => store.close());

async function open(ledger?: LedgerLimits | null): Promise<void> {
  driver = new NotingDriver();
  store = new SqlDataStore(driver, ledger === undefined ? {} : { ledger });
  await openWithTables(store);
}

function ledgerOf({ ledger }: SqlDataStore): SqlLedger {
  if (ledger === null) throw new Error("the ledger is off");
  return ledger;
}

/** How many statements and requests a call takes. */
async function costOf(call: () => Promise<unknown>): Promise<[statements: number, trips: number]> {
  driver.sent = [];
  driver.trips = 0;
  await call();
  return [driver.sent.length, driver.trips];
}

/** Fires a new schedule at T0, and ends its job. */
async function runOnce(id = "schedule"): Promise<[statements: number, trips: number]> {
  await fireAt(store, await dueSchedule(store, { id }), [T0]);
  const job = await taken(store, `${id} at 0`);
  return costOf(() => end(store, job));
}

/** Ends a job that no fire time made. */
async function endAlone(): Promise<[statements: number, trips: number]> {
  await store.addJobs([makeJob({ id: "alone" })]);
  const job = await taken(store, "alone");
  return costOf(() => end(store, job));
}

async function nextTrimAt(id = "schedule"): Promise<unknown> {
  const sql = "SELECT next_trim_at FROM escapement_histories WHERE schedule_id = ?1";
  return (await driver.rows(sql, id))[0]?.next_trim_at;
}

/** Leaves so many entries, a second apart, the first at T0. */
async function skipSeconds(count: number): Promise<void> {
  const schedule = await dueSchedule(store);
  const skips = Array.from({ length: count }, (_, index) => makeSkip(T0 + index * 1000));
  const nextFireTime = T0 + count * 1000;
  await commitPlans(store, [planOf(schedule, { fires: [], skips, nextFireTime })], { now: nextFireTime });
}

describe("the cost of the ledger", () => {
  test("is one statement more where jobs of fire times end, however many, and no request", async () => {
    const alone = await endAlone();
    const [statements, trips] = await runOnce();
    expect([statements, trips]).toEqual([alone[0] + 1, alone[1]]);
    for (const id of ["a", "b", "c"]) await fireAt(store, await dueSchedule(store, { id }), [T0, T0 + 1000]);
    const { acquired } = await commit(store, { now: T0 + 5000 });
    expect(acquired.map(({ scheduleId }) => scheduleId).sort()).toEqual(["a", "a", "b", "b", "c", "c"]);
    const releases = acquired.map((job) => finish(job));
    expect(await costOf(() => release(store, releases, { now: T0 + 5001 }))).toEqual([statements, trips]);
  });

  test("is nothing where the ledger is off, which leaves no trace", async () => {
    const [, on] = [await endAlone(), await runOnce()];
    await open(null);
    expect(store.ledger).toBeNull();
    const [alone, off] = [await endAlone(), await runOnce()];
    expect(off).toEqual(alone);
    // Two statements for the job that ended, its run and its count, two for those that were lost, and three for the
    // changes of the schedules that failed too often: what they were, what they are, and the removal of the drafts.
    expect(off[0]).toBe(on[0] - 7);
    const skips = [makeSkip(T0 + 1000)];
    await commitPlans(store, [planOf(await seenAgain(store), { fires: [], skips })], { now: T0 + 1000 });
    await cancel(store, "nothing", T0);
    await store.cleanup({ now: T0 + DAY_MS, limit: 9 });
    for (const table of ["histories", "runs", "skips", "changes", "uptimes", "stats"]) {
      expect(await driver.rows(`SELECT * FROM escapement_${table}`)).toEqual([]);
    }
  });

  test("of a plan without skips is nothing, and that of skips is one statement", async () => {
    const plan = planOf(await dueSchedule(store), { fires: [] });
    const [without] = await costOf(() => commitPlans(store, [plan]));
    const schedule = await seenAgain(store);
    const skips = [makeSkip(T0 + 1000), makeSkip(T0 + 2000)];
    const [withSkips] = await costOf(() =>
      commitPlans(store, [planOf(schedule, { fires: [], skips, nextFireTime: T0 + 3000 })], { now: T0 + 2000 }),
    );
    expect(withSkips).toBe(without + 1);
    expect(await entriesOf(ledgerOf(store))).toEqual([skipOf(T0 + 1000), skipOf(T0 + 2000)]);
  });

  test("is one request for each question", async () => {
    await runOnce();
    const ledger = ledgerOf(store);
    expect(await costOf(() => entriesOf(ledger))).toEqual([1, 1]);
    expect(await costOf(() => ledger.getLedgerStart("schedule"))).toEqual([1, 1]);
    expect(await costOf(() => ledger.getJobOfFireTime("schedule", T0))).toEqual([1, 1]);
  });
});

test("a job that ends twice, because the first answer got lost, leaves one run", async () => {
  await store.putTasks([makeTask({ maxRunningPerKey: 3 })]);
  for (const id of ["plain", "keyed"]) {
    const concurrencyKey = id === "keyed" ? { concurrencyKey: "key" } : {};
    await fireAt(store, await dueSchedule(store, { id, ...concurrencyKey }), [T0]);
    const job = await taken(store, `${id} at 0`);
    driver.losesNext = true;
    await end(store, job);
    const entries = await entriesOf(ledgerOf(store), { scheduleId: id });
    expect(entries).toEqual([runOf(job, { isKeyed: id === "keyed" })]);
  }
});

test("a run of a schedule that a store without a ledger added leaves nothing, until the schedule is put", async () => {
  const schedule = await dueSchedule(store);
  await driver.rows("DELETE FROM escapement_histories");
  await fireAt(store, schedule, [T0]);
  await end(store, await taken(store, "schedule at 0"));
  const ledger = ledgerOf(store);
  expect([await entriesOf(ledger), await ledger.getLedgerStart("schedule")]).toEqual([[], null]);
  await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "doNothing" }]);
  expect(await ledger.getLedgerStart("schedule")).toBe(T0 + 1);
  await fireAt(store, await seenAgain(store), [T0 + 1000]);
  const job = await taken(store, "schedule at 1000");
  await end(store, job);
  expect(await entriesOf(ledger)).toEqual([runOf(job)]);
});

test("a damaged row of the ledger can be read, and so can the others", async () => {
  await runOnce();
  await driver.rows("INSERT INTO escapement_runs VALUES (0, ?1, 1, 99, x'ff00')", T0 + 1);
  await driver.rows("INSERT INTO escapement_skips VALUES (1, ?1, 'y', 'x', NULL, NULL)", T0 + 2);
  await driver.rows("UPDATE escapement_skips SET until_time = ?1 || 'y'", T0 + 2);
  const entries = await entriesOf(ledgerOf(store));
  expect(entries.map(({ kind }) => kind)).toEqual(["run", "run", "skip"]);
  expect(entries[1]).toMatchObject({ outcome: "error", createdAt: T0 + 1, attempts: 0 });
});

describe("the clean-up of the ledger", () => {
  const NOTHING = { removedResults: 0, removedScheduleIds: [] };

  test("trims a history after a day, or after an hour when it is new or half full, and tells looks when", async () => {
    await open({ countMax: 10, ageMsMax: 90 * DAY_MS });
    await skipSeconds(4);
    expect(await nextTrimAt()).toBe(T0 + HOUR_MS);
    const hasExpired = async (now: number): Promise<boolean> =>
      (await look(store, { now, asksForExpired: true, expiredForMs: 0 })).hasExpired;
    expect([await hasExpired(T0 + HOUR_MS - 1), await hasExpired(T0 + HOUR_MS)]).toEqual([false, true]);
    expect(await store.cleanup({ now: T0 + HOUR_MS, limit: 1000 })).toEqual(NOTHING);
    expect(await nextTrimAt()).toBe(T0 + HOUR_MS + DAY_MS);
    expect(await hasExpired(T0 + HOUR_MS)).toBe(false);
    const plan = planOf(await seenAgain(store), { fires: [], skips: [makeSkip(T0 + 5000)], nextFireTime: T0 + 6000 });
    await commitPlans(store, [plan], { now: T0 + 6000 });
    expect(await store.cleanup({ now: T0 + 2 * DAY_MS, limit: 1000 })).toEqual(NOTHING);
    expect(await nextTrimAt()).toBe(T0 + 2 * DAY_MS + HOUR_MS);
  });

  test("trims a history with few skips and many runs after an hour too", async () => {
    await open({ countMax: 4, ageMsMax: 90 * DAY_MS });
    await fireAt(store, await dueSchedule(store), [T0, T0 + 1000]);
    const { acquired } = await commit(store, { now: T0 + 5000 });
    for (const job of acquired) await end(store, job);
    await store.cleanup({ now: T0 + DAY_MS, limit: 1000 });
    expect(await nextTrimAt()).toBe(T0 + DAY_MS + HOUR_MS);
  });

  test.each([
    [3 * HOUR_MS, 3 * HOUR_MS],
    [60_000, HOUR_MS],
  ])("keeping entries for %i ms, trims a history after %i ms", async (ageMsMax, trimMs) => {
    await open({ countMax: 10, ageMsMax });
    await skipSeconds(4);
    const now = T0 + DAY_MS;
    expect(await store.cleanup({ now, limit: 1000 })).toMatchObject({ removedOccurrences: 4, hasMore: true });
    expect(await store.cleanup({ now, limit: 1000 })).toEqual(NOTHING);
    expect(await nextTrimAt()).toBe(now + trimMs);
  });

  test("removes no more than its limit, and goes on at once until there is nothing to remove", async () => {
    await open({ countMax: 10, ageMsMax: 90 * DAY_MS });
    await skipSeconds(15);
    const ledger = ledgerOf(store);
    const now = T0 + DAY_MS;
    expect(await store.cleanup({ now, limit: 3 })).toMatchObject({ removedOccurrences: 3, hasMore: true });
    // Whatever is still there, the ledger has all from here on.
    expect(await ledger.getLedgerStart("schedule")).toBe(T0 + 4001);
    expect((await look(store, { now: 0, asksForExpired: true, expiredForMs: 0 })).hasExpired).toBe(false);
    expect((await look(store, { now, asksForExpired: true, expiredForMs: 0 })).hasExpired).toBe(true);
    expect(await store.cleanup({ now, limit: 3 })).toEqual({ ...NOTHING, removedOccurrences: 2, hasMore: true });
    expect(await store.cleanup({ now, limit: 3 })).toEqual(NOTHING);
    expect(await nextTrimAt()).toBe(now + HOUR_MS);
    expect((await entriesOf(ledger))[0]).toEqual(skipOf(T0 + 5000));
  });

  test("trims one partition, that first where a history waits the longest, and says that there are more", async () => {
    // The first history has the number 1.
    const count = HISTORIES_PER_PARTITION + 1;
    await store.addSchedules(
      add(...Array.from({ length: count }, (_, index) => makeSchedule({ id: numbered("s", index) }))),
    );
    await driver.rows(
      "UPDATE escapement_histories SET next_trim_at = CASE number WHEN 3 THEN 1 WHEN 4 THEN ?1 ELSE number END",
      T0 + 1,
    );
    expect(await store.cleanup({ now: T0, limit: 1000 })).toEqual({ ...NOTHING, hasMore: true });
    const waiting = "SELECT number FROM escapement_histories WHERE next_trim_at <= ?1";
    expect(await driver.rows(waiting, T0)).toMatchObject([{ number: count - 1 }, { number: count }]);
    expect(await store.cleanup({ now: T0, limit: 1000 })).toEqual(NOTHING);
    expect(await driver.rows(waiting, T0)).toEqual([]);
  });

  test("counts the entries of each history of a partition, and leaves alone those that have few", async () => {
    await open({ countMax: 3, ageMsMax: 90 * DAY_MS });
    const kept = { few: [0, 2, 7], many: [4, 6, 8], most: [5, 7, 9] };
    const seconds = { few: [0, 2, 7], many: [1, 3, 4, 6, 8], most: [0, 1, 2, 3, 4, 5, 7, 9] };
    for (const [id, starts] of Object.entries(seconds)) {
      const skips = starts.map((start) => makeSkip(T0 + start * 1000));
      const plan = planOf(await dueSchedule(store, { id }), { fires: [], skips, nextFireTime: T0 + 10_000 });
      await commitPlans(store, [plan], { now: T0 + 10_000 });
    }
    expect((await store.cleanup({ now: T0 + DAY_MS, limit: 5 })).removedOccurrences).toBe(5);
    expect((await store.cleanup({ now: T0 + DAY_MS, limit: 5 })).removedOccurrences).toBe(2);
    for (const [id, starts] of Object.entries(kept)) {
      const entries = await entriesOf(ledgerOf(store), { scheduleId: id });
      expect(entries).toEqual(starts.map((start) => skipOf(T0 + start * 1000)));
    }
    const begins = ["few", "many", "most"].map((id) => ledgerOf(store).getLedgerStart(id));
    expect(await Promise.all(begins)).toEqual([T0, T0 + 3001, T0 + 4001]);
  });

  test("counts runs and skips together, and removes the oldest of both", async () => {
    await open({ countMax: 3, ageMsMax: 90 * DAY_MS });
    await fireAt(store, await dueSchedule(store), [T0, T0 + 1000]);
    const skips = [makeSkip(T0 + 2000), makeSkip(T0 + 3000)];
    await commitPlans(store, [planOf(await seenAgain(store), { fires: [], skips, nextFireTime: T0 + 4000 })], {
      now: T0 + 4000,
    });
    const { acquired } = await commit(store, { now: T0 + 5000 });
    for (const job of acquired) await end(store, job);
    expect((await store.cleanup({ now: T0 + DAY_MS, limit: 9 })).removedOccurrences).toBe(1);
    const ledger = ledgerOf(store);
    expect((await entriesOf(ledger)).map(({ kind }) => kind)).toEqual(["run", "skip", "skip"]);
    expect(await ledger.getLedgerStart("schedule")).toBe(T0 + 1);
  });

  test("finds a bounded number of entries that are too many at once, and the others afterwards", async () => {
    await open({ countMax: 2, ageMsMax: 90 * DAY_MS });
    await dueSchedule(store);
    await driver.rows(
      "WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < ?2) INSERT INTO escapement_skips " +
        "SELECT 1, ?1 + n, ?1 + n, 'paused', 1, NULL FROM c",
      T0,
      OLDEST_ROWS_SEEN_MAX + 9,
    );
    const removed: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const { removedOccurrences, hasMore } = await store.cleanup({ now: T0 + DAY_MS, limit: 100_000 });
      removed.push([removedOccurrences, hasMore]);
    }
    expect(removed).toEqual([
      [OLDEST_ROWS_SEEN_MAX, true],
      [8, true],
      [undefined, undefined],
    ]);
  });

  test("removes the history of a schedule that is gone, once it is empty and no job is left", async () => {
    await open({ countMax: 10, ageMsMax: DAY_MS });
    await fireAt(store, await dueSchedule(store), [T0]);
    await removeSchedule(store, "schedule");
    const ledger = ledgerOf(store);
    await store.cleanup({ now: T0 + DAY_MS, limit: 1000 });
    expect(await ledger.getLedgerStart("schedule")).toBe(T0);
    await end(store, await taken(store, "schedule at 0"));
    const now = T0 + 2 * DAY_MS;
    expect(await store.cleanup({ now, limit: 1000 })).toMatchObject({ removedOccurrences: 1, hasMore: true });
    expect(await ledger.getLedgerStart("schedule")).toBe(T0 + 1);
    await store.cleanup({ now, limit: 1000 });
    expect(await ledger.getLedgerStart("schedule")).toBeNull();
    expect(await entriesOf(ledger)).toEqual([]);
  });

  test("leaves histories alone where the ledger is off", async () => {
    await runOnce();
    const off = new SqlDataStore(
      {
        isLocal: true,
        execute: (one) => driver.execute(one),
        batch: (all) => driver.batch(all),
        failureKind: (error) => driver.failureKind(error),
      },
      { ledger: null },
    );
    await off.open(T0);
    const now = T0 + 1000 * DAY_MS;
    expect((await look(off, { now, asksForExpired: true, expiredForMs: 0 })).hasExpired).toBe(true);
    await off.cleanup({ now, limit: 9 });
    expect((await look(off, { now, asksForExpired: true, expiredForMs: 0 })).hasExpired).toBe(false);
    expect(await nextTrimAt()).toBe(T0 + HOUR_MS);
  });
});

describe("the query plans of the ledger", () => {
  const statements = makeStatements(tableNames("escapement_"));
  const byId = "USING COVERING INDEX sqlite_autoindex_escapement_histories_1 (schedule_id=?)";
  const runsInTime = "SEARCH r USING PRIMARY KEY (partition=? AND fire_time>? AND fire_time<?)";
  const lastSkip = "SEARCH escapement_skips USING PRIMARY KEY (history=? AND from_time<?)";

  /** The steps that read the tables of histories. */
  async function planOfStatement(sql: string): Promise<string[]> {
    const plan = await driver.rows(`EXPLAIN QUERY PLAN ${sql}`);
    const details = plan.map((row) => String(row.detail));
    const isOfLedger = /escapement_(histories|runs|skips)|^(SEARCH|SCAN) [hrs] |TEMP B-TREE/;
    return details.filter((detail) => isOfLedger.test(detail) && !detail.includes("VIRTUAL TABLE"));
  }

  test.each(["oldest", "newest"] as const)(
    "pages, the %s first, come in the order of the keys, and are not sorted",
    async (order) => {
      const steps = await planOfStatement(statements.getOccurrences[order]);
      expect(new Set(steps)).toEqual(
        new Set([
          runsInTime,
          `SEARCH escapement_histories ${byId}`,
          "SEARCH escapement_skips USING PRIMARY KEY (history=? AND from_time=?)",
          lastSkip,
          "SEARCH escapement_skips USING PRIMARY KEY (history=? AND from_time>? AND from_time<?)",
        ]),
      );
    },
  );

  test("single fire times are found by keys, each for itself", async () => {
    const steps = await planOfStatement(statements.getFireTimes);
    expect(new Set(steps)).toEqual(
      new Set([
        `SEARCH h ${byId} LEFT-JOIN`,
        "SEARCH r USING PRIMARY KEY (partition=? AND fire_time=? AND history=?)",
        "SEARCH escapement_skips USING PRIMARY KEY (history=? AND from_time=?)",
        lastSkip,
      ]),
    );
    const plan = await driver.rows(`EXPLAIN QUERY PLAN ${statements.getFireTimes}`);
    expect(plan.map((row) => row.detail)).toContain(
      "SEARCH j USING INDEX escapement_jobs_schedule (schedule_id=? AND fire_time=?)",
    );
  });

  test("runs and skips find their history by the id of the schedule, and skips the rest by keys", async () => {
    const { enterRuns, enterBlockedRuns, enterLost, enterCancelled, enterDoomed } = statements;
    expect(await planOfStatement(enterRuns)).toEqual([`SEARCH h ${byId}`]);
    for (const sql of [enterBlockedRuns, enterLost, enterCancelled, enterDoomed]) {
      expect(await planOfStatement(sql)).toContain(`SEARCH escapement_histories ${byId}`);
    }
    for (const sql of [statements.enterSkips, statements.skipOverlapped]) {
      const steps = await planOfStatement(sql);
      expect(new Set(steps.filter((detail) => !detail.startsWith("SEARCH s USING INDEX")))).toEqual(
        new Set([
          `SEARCH h ${byId}`,
          "SEARCH s USING PRIMARY KEY (history=? AND from_time>? AND from_time<?)",
          lastSkip,
          // The parts of a skip, of which there are several only where the schedule was added again.
          "USE TEMP B-TREE FOR ORDER BY",
        ]),
      );
      const plan = await driver.rows(`EXPLAIN QUERY PLAN ${sql}`);
      expect(plan.map((row) => row.detail)).toContainEqual(
        expect.stringMatching(/^SEARCH j USING COVERING INDEX escapement_jobs_schedule /),
      );
    }
  });

  test("the clean-up finds the histories to trim by their index, and reads one partition", async () => {
    const { removeHistories, raiseKeptFrom, postponeTrim, trimRuns, trimSkips, hasMoreToTrim } = statements;
    for (const sql of [removeHistories, raiseKeptFrom, postponeTrim, trimRuns, trimSkips, hasMoreToTrim]) {
      const steps = await planOfStatement(sql);
      const due = expect.stringMatching(/USING (COVERING )?INDEX escapement_histories_trim \(next_trim_at<\?\)$/);
      expect(steps).toContainEqual(due);
      expect(steps.filter((detail) => /^SCAN (escapement|[hrs] )/.test(detail))).toEqual([]);
      if (sql !== raiseKeptFrom) expect(steps.filter((detail) => detail.includes("TEMP B-TREE"))).toEqual([]);
    }
  });
});
