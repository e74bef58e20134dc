import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LedgerLimits } from "../../src/stores/ledger.ts";
import type { SqliteLedger } from "../../src/stores/sqlite/ledger/ledger.ts";
import { BOOKS_PER_SHELF, EXCESS_PER_VISIT_MAX } from "../../src/stores/sqlite/limits.ts";
import { SqlDataStore } from "../../src/stores/sqlite/mod.ts";
import { tableNames } from "../../src/stores/sqlite/schema/schema.ts";
import { makeStatements } from "../../src/stores/sqlite/statements.ts";
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
  commit,
  finish,
  look,
  makeJob,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  release,
  step,
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

function ledgerOf({ ledger }: SqlDataStore): SqliteLedger {
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

async function visitAt(id = "schedule"): Promise<unknown> {
  return (await driver.rows("SELECT visit_at FROM escapement_books WHERE schedule_id = ?1", id))[0]?.visit_at;
}

/** Leaves so many entries, a second apart, the first at T0. */
async function skipSeconds(count: number): Promise<void> {
  const schedule = await dueSchedule(store);
  const skips = Array.from({ length: count }, (_, index) => makeSkip(T0 + index * 1000));
  const nextFireTime = T0 + count * 1000;
  await commit(store, [planOf(schedule, { fires: [], skips, nextFireTime })], { now: nextFireTime });
}

describe("the cost of the ledger", () => {
  test("is one statement more where jobs of fire times end, however many, and no request", async () => {
    const alone = await endAlone();
    const [statements, trips] = await runOnce();
    expect([statements, trips]).toEqual([alone[0] + 1, alone[1]]);
    for (const id of ["a", "b", "c"]) await fireAt(store, await dueSchedule(store, { id }), [T0, T0 + 1000]);
    const { acquired } = await step(store, { now: T0 + 5000 });
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
    // One statement for the job that ended, and one for those that were lost.
    expect(off[0]).toBe(on[0] - 2);
    const skips = [makeSkip(T0 + 1000)];
    await commit(store, [planOf(await seenAgain(store), { fires: [], skips })], { now: T0 + 1000 });
    await store.cancelJob("nothing", T0);
    await store.cleanup({ now: T0 + DAY_MS, limit: 9 });
    for (const table of ["books", "occurrences", "changes", "lives"]) {
      expect(await driver.rows(`SELECT * FROM escapement_${table}`)).toEqual([]);
    }
  });

  test("of a plan without skips is nothing, and that of skips is one statement", async () => {
    const plan = planOf(await dueSchedule(store), { fires: [] });
    const [without] = await costOf(() => commit(store, [plan]));
    const schedule = await seenAgain(store);
    const skips = [makeSkip(T0 + 1000), makeSkip(T0 + 2000)];
    const [withSkips] = await costOf(() =>
      commit(store, [planOf(schedule, { fires: [], skips, nextFireTime: T0 + 3000 })], { now: T0 + 2000 }),
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

test("a run of a schedule that a process of an earlier version added leaves nothing, until the schedule is put", async () => {
  const schedule = await dueSchedule(store);
  await driver.rows("DELETE FROM escapement_books");
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
  await driver.rows("INSERT INTO escapement_occurrences VALUES (0, ?1, 1, 99, x'ff00', NULL, NULL, NULL)", T0 + 1);
  await driver.rows("INSERT INTO escapement_occurrences VALUES (0, ?1, 1, 'x', NULL, 'y', NULL, NULL)", T0 + 2);
  const entries = await entriesOf(ledgerOf(store));
  expect(entries.map(({ kind }) => kind)).toEqual(["run", "run", "skip"]);
  expect(entries[1]).toMatchObject({ outcome: "error", createdAt: T0 + 1, attempts: 0 });
});

describe("the clean-up of the ledger", () => {
  test("visits a book after a day, or after an hour when it is new or half full, and tells looks when", async () => {
    await open({ countMax: 10, ageMsMax: 90 * DAY_MS });
    await skipSeconds(4);
    expect(await visitAt()).toBe(T0 + HOUR_MS);
    const hasExpired = async (now: number): Promise<boolean> =>
      (await look(store, { now, asksForExpired: true, expiredForMs: 0 })).hasExpired;
    expect([await hasExpired(T0 + HOUR_MS - 1), await hasExpired(T0 + HOUR_MS)]).toEqual([false, true]);
    await store.cleanup({ now: T0 + HOUR_MS, limit: 1000 });
    expect(await visitAt()).toBe(T0 + HOUR_MS + DAY_MS);
    expect(await hasExpired(T0 + HOUR_MS)).toBe(false);
    const plan = planOf(await seenAgain(store), { fires: [], skips: [makeSkip(T0 + 5000)], nextFireTime: T0 + 6000 });
    await commit(store, [plan], { now: T0 + 6000 });
    const report = await store.cleanup({ now: T0 + 2 * DAY_MS, limit: 1000 });
    expect(report).toEqual({ removedResults: 0, removedScheduleIds: [] });
    expect(await visitAt()).toBe(T0 + 2 * DAY_MS + HOUR_MS);
  });

  test.each([
    [3 * HOUR_MS, 3 * HOUR_MS],
    [60_000, HOUR_MS],
  ])("keeping entries for %i ms, visits a book after %i ms", async (ageMsMax, visitMs) => {
    await open({ countMax: 10, ageMsMax });
    await skipSeconds(4);
    await store.cleanup({ now: T0 + DAY_MS, limit: 1000 });
    expect(await visitAt()).toBe(T0 + DAY_MS + visitMs);
  });

  test("removes no more than its limit, and visits the book at once while there is more", async () => {
    await open({ countMax: 10, ageMsMax: 90 * DAY_MS });
    await skipSeconds(15);
    const ledger = ledgerOf(store);
    const now = T0 + DAY_MS;
    expect(await store.cleanup({ now, limit: 3 })).toMatchObject({ removedOccurrences: 3, hasMore: true });
    // Whatever is still there, the ledger has all from here on.
    expect(await ledger.getLedgerStart("schedule")).toBe(T0 + 4001);
    expect((await look(store, { now: 0, asksForExpired: true, expiredForMs: 0 })).hasExpired).toBe(true);
    const rest = await store.cleanup({ now, limit: 3 });
    expect(rest).toEqual({ removedResults: 0, removedScheduleIds: [], removedOccurrences: 2 });
    expect(await visitAt()).toBe(now + HOUR_MS);
    expect((await entriesOf(ledger))[0]).toEqual(skipOf(T0 + 5000));
  });

  test("visits the books of one shelf, that first where one waits the longest, and says that there are more", async () => {
    // The first book has the number 1.
    const count = BOOKS_PER_SHELF + 1;
    await store.addSchedules(
      add(...Array.from({ length: count }, (_, index) => makeSchedule({ id: numbered("s", index) }))),
    );
    await driver.rows(
      "UPDATE escapement_books SET visit_at = CASE seq WHEN 3 THEN 1 WHEN 4 THEN ?1 ELSE seq END",
      T0 + 1,
    );
    const nothing = { removedResults: 0, removedScheduleIds: [] };
    expect(await store.cleanup({ now: T0, limit: 1000 })).toEqual({ ...nothing, hasMore: true });
    const waiting = "SELECT seq FROM escapement_books WHERE visit_at <= ?1";
    expect(await driver.rows(waiting, T0)).toMatchObject([{ seq: count - 1 }, { seq: count }]);
    expect(await store.cleanup({ now: T0, limit: 1000 })).toEqual(nothing);
    expect(await driver.rows(waiting, T0)).toEqual([]);
  });

  test("counts the entries of each book of a shelf, and leaves alone those that have few", async () => {
    await open({ countMax: 3, ageMsMax: 90 * DAY_MS });
    const kept = { few: [0, 2, 7], many: [4, 6, 8], most: [5, 7, 9] };
    const seconds = { few: [0, 2, 7], many: [1, 3, 4, 6, 8], most: [0, 1, 2, 3, 4, 5, 7, 9] };
    for (const [id, starts] of Object.entries(seconds)) {
      const skips = starts.map((start) => makeSkip(T0 + start * 1000));
      const plan = planOf(await dueSchedule(store, { id }), { fires: [], skips, nextFireTime: T0 + 10_000 });
      await commit(store, [plan], { now: T0 + 10_000 });
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

  test("finds a bounded number of entries that are too many in one visit, and the others in the next ones", async () => {
    await open({ countMax: 2, ageMsMax: 90 * DAY_MS });
    await skipSeconds(2 * EXCESS_PER_VISIT_MAX + 3);
    const removed: unknown[] = [];
    for (let visit = 0; visit < 4; visit++) {
      const { removedOccurrences, hasMore } = await store.cleanup({ now: T0 + DAY_MS, limit: 1000 });
      removed.push([removedOccurrences, hasMore]);
    }
    const whole = [EXCESS_PER_VISIT_MAX, true];
    expect(removed).toEqual([whole, whole, [1, undefined], [undefined, undefined]]);
    expect((await entriesOf(ledgerOf(store))).length).toBe(2);
  });

  test("closes the book of a schedule that is gone, once it is empty and no job is left", async () => {
    await open({ countMax: 10, ageMsMax: DAY_MS });
    await fireAt(store, await dueSchedule(store), [T0]);
    await store.removeSchedule("schedule");
    const ledger = ledgerOf(store);
    await store.cleanup({ now: T0 + DAY_MS, limit: 1000 });
    expect(await ledger.getLedgerStart("schedule")).toBe(T0);
    await end(store, await taken(store, "schedule at 0"));
    await store.cleanup({ now: T0 + 2 * DAY_MS, limit: 1000 });
    expect(await ledger.getLedgerStart("schedule")).toBeNull();
    expect(await entriesOf(ledger)).toEqual([]);
  });

  test("leaves books alone where the ledger is off", async () => {
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
    expect(await visitAt()).toBe(T0 + HOUR_MS);
  });
});

describe("the query plans of the ledger", () => {
  const statements = makeStatements(tableNames("escapement_"));
  const key = "escapement_occurrences USING PRIMARY KEY";
  const skips = "escapement_occurrences USING INDEX escapement_occurrences_skips";
  const byId = "USING COVERING INDEX sqlite_autoindex_escapement_books_1 (schedule_id=?)";

  /** The steps that read the ledger's tables. */
  async function planOfStatement(sql: string): Promise<string[]> {
    const plan = await driver.rows(`EXPLAIN QUERY PLAN ${sql}`);
    const details = plan.map((row) => String(row.detail));
    return details.filter((detail) => /escapement_(books|occurrences)|^(SEARCH|SCAN) [bot] |TEMP B-TREE/.test(detail));
  }

  test.each(["oldest", "newest"] as const)(
    "pages, the %s first, come in the order of the key, and are not sorted",
    async (order) => {
      const steps = await planOfStatement(statements.getOccurrences[order]);
      const walk = steps.filter((detail) => detail.includes("escapement_occurrences"));
      expect(new Set(walk)).toEqual(
        new Set([`SEARCH ${key} (shelf=? AND at>? AND at<?)`, `SEARCH ${skips} (book=? AND at<?)`]),
      );
      expect(steps.filter((detail) => detail.startsWith("SEARCH t "))).toEqual([
        "SEARCH t USING PRIMARY KEY (shelf=? AND at=? AND book=?)",
      ]);
      const sorted = steps.filter((detail) => detail.includes("TEMP B-TREE"));
      // The records of a walk, which are in order already but for SQLite's knowledge.
      expect(sorted.every((detail) => detail === "USE TEMP B-TREE FOR ORDER BY")).toBe(true);
    },
  );

  test("runs and skips find their book by the id of the schedule; skips alone read its row", async () => {
    const { enterRuns, enterHeldRuns, enterLost, enterCancelled, enterDoomed } = statements;
    const { enterSkips, enterReplaced, enterUnmade } = statements;
    for (const sql of [enterRuns, enterReplaced, enterUnmade]) {
      expect(await planOfStatement(sql)).toEqual([`SEARCH b ${byId}`]);
    }
    // The parts of a skip are sorted, of which there are more than one only in a later life of a schedule.
    const parts = [
      "SEARCH o USING PRIMARY KEY (shelf=? AND at>? AND at<?)",
      "SEARCH o USING PRIMARY KEY (shelf=? AND at=? AND book=?)",
      "SEARCH e USING INDEX escapement_occurrences_skips (book=? AND at<?)",
      "USE TEMP B-TREE FOR ORDER BY",
    ];
    const ofBook = [`SEARCH b ${byId}`, "SEARCH escapement_books USING INTEGER PRIMARY KEY (rowid=?)"];
    expect(new Set(await planOfStatement(enterSkips))).toEqual(new Set([...ofBook, ...parts]));
    const plan = await driver.rows(`EXPLAIN QUERY PLAN ${enterSkips}`);
    expect(plan.map((row) => row.detail)).toContainEqual(
      expect.stringMatching(/^SEARCH j USING COVERING INDEX escapement_jobs_schedule /),
    );
    for (const sql of [enterHeldRuns, enterLost, enterCancelled, enterDoomed]) {
      expect(await planOfStatement(sql)).toContain(`SEARCH escapement_books ${byId}`);
    }
  });

  test("a skip reads the entries of other books within it only where the schedule was added again", async () => {
    const now = T0 + HOUR_MS;
    const steps: number[] = [];
    for (const round of ["first", "again"]) {
      await open({ countMax: 5000, ageMsMax: 90 * DAY_MS });
      if (round === "again") {
        await dueSchedule(store);
        await store.removeSchedule("schedule");
      }
      const [neighbour, schedule] = [await dueSchedule(store, { id: "neighbour" }), await dueSchedule(store)];
      const skips = Array.from({ length: 1000 }, (_, index) => makeSkip(T0 + index));
      await commit(store, [planOf(neighbour, { fires: [], skips, nextFireTime: now + 1 })], { now });
      const skip = makeSkip(T0, { until: now, count: null });
      await commit(store, [planOf(schedule, { fires: [], skips: [skip], nextFireTime: now + 1 })], { now });
      const sql = "SELECT nstep FROM sqlite_stmt WHERE sql = ?1 ORDER BY nstep";
      const [row] = await driver.rows(sql, statements.enterSkips);
      steps.push(Number(row?.nstep));
      expect(await entriesOf(ledgerOf(store))).toEqual([skipOf(T0, { until: now, count: null })]);
    }
    expect(steps[0]).toBeGreaterThan(0);
    expect(steps[0]).toBeLessThan(1000);
    expect(steps[1]).toBeGreaterThan(1000);
  });

  test("the clean-up finds the books to visit by their index", async () => {
    const { markBooks, trimBooks, closeBooks, unmarkBooks } = statements;
    for (const sql of [markBooks, trimBooks, closeBooks, unmarkBooks]) {
      const steps = await planOfStatement(sql);
      const visited = expect.stringMatching(/USING (COVERING )?INDEX escapement_books_visit \(visit_at<\?\)$/);
      expect(steps).toContainEqual(visited);
      // The entries of a shelf are counted by their books.
      const sorted = sql === markBooks ? ["USE TEMP B-TREE FOR GROUP BY"] : [];
      expect(steps.filter((detail) => /^SCAN escapement|TEMP B-TREE/.test(detail))).toEqual(sorted);
    }
  });
});
