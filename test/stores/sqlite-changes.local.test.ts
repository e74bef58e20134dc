import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScheduleChangeRecord } from "../../src/records/ledger.ts";
import type { Ledger } from "../../src/stores/contract/ledger-types.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import type { Row, SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { CHANGES_SEEN_PER_CLEANUP_MAX } from "../../src/stores/sql/limits.ts";
import { type SqlDataStore, SqlDataStore as Store } from "../../src/stores/sql/sqlite/store.ts";
import { CHANGES, DAY_MS, NOTE, TASK_PAUSES } from "../../src/testing/data-store-contract/ledger-makers.ts";
import {
  add,
  commit,
  commitPlans,
  extend,
  look,
  makeSchedule,
  makeTask,
  planOf,
  removeSchedule,
  T0,
  updateSchedule,
} from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOCAL_STORES, openWithTables, rowsOf } from "./local-stores.ts";

/** A database that behaves as one behind a network: it counts its batches, and loses answers. */
class FarDriver implements SqlDriver {
  readonly isLocal = false;
  readonly #inner: SqlDriver;
  trips = 0;
  /** Whether the next batch is carried out, and its answer lost. */
  losesNext = false;

  constructor(inner: SqlDriver) {
    this.#inner = inner;
  }

  async open(): Promise<void> {
    await this.#inner.open?.();
  }

  execute(statement: Parameters<SqlDriver["execute"]>[0]): Promise<Row[]> {
    this.trips++;
    return this.#inner.execute(statement);
  }

  async batch(statements: Parameters<SqlDriver["batch"]>[0]): Promise<Row[][]> {
    this.trips++;
    const isLost = this.losesNext;
    this.losesNext = false;
    const answer = await this.#inner.batch(statements);
    if (isLost) throw new TypeError("fetch failed");
    return answer;
  }

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return error instanceof TypeError ? "connection" : this.#inner.failureKind(error);
  }

  async close(): Promise<void> {
    await this.#inner.close?.();
  }
}

function ledgerOf(store: DataStore): Ledger {
  const { ledger } = store;
  if (ledger === undefined || ledger === null) throw new Error("the store has no ledger");
  return ledger;
}

/** The kinds of the changes of a schedule, the oldest first. */
async function kindsOf(store: DataStore, scheduleId = "schedule"): Promise<ScheduleChangeRecord["kind"][]> {
  return (await ledgerOf(store).getScheduleChanges({ ...CHANGES, scheduleId })).items.map(({ kind }) => kind);
}

/** A plan of a schedule whose trigger failed. */
async function failingPlan(store: DataStore): Promise<ReturnType<typeof planOf>> {
  const [schedule] = (await look(store, { schedules: {} })).due;
  if (schedule === undefined) throw new Error("no schedule is due");
  return planOf(schedule, { fires: [], nextFireTime: T0, lastFireTime: null, paused: true });
}

interface Verb {
  readonly name: string;
  readonly call: (store: DataStore) => Promise<unknown>;
  /** What the verb adds to the changes of the schedule. */
  readonly kinds: readonly ScheduleChangeRecord["kind"][];
}

const DECLARED = { trigger: "{}", triggerRule: "{}", declaration: "new", nextFireTime: T0 + 9000 };
const VERBS: readonly Verb[] = [
  {
    name: "a change",
    call: (store) => updateSchedule(store, "schedule", { priority: 7, nextFireTime: T0 + 9000 }, undefined, LATER),
    kinds: ["changed"],
  },
  {
    name: "a pause",
    call: (store) => updateSchedule(store, "schedule", { paused: true }, 0, LATER),
    kinds: ["paused"],
  },
  {
    name: "a replacement",
    call: (store) => store.addSchedules([{ schedule: makeSchedule(DECLARED), conflictPolicy: "replace" }], LATER),
    kinds: ["changed"],
  },
  {
    name: "a declaration",
    call: (store) => store.addSchedules([{ schedule: makeSchedule(DECLARED), conflictPolicy: "update" }], LATER),
    kinds: ["changed"],
  },
  {
    name: "an addition of what is there",
    call: (store) => store.addSchedules(add(makeSchedule({ createdAt: T0 + 5 })), LATER),
    kinds: [],
  },
  { name: "a removal", call: (store) => removeSchedule(store, "schedule", LATER), kinds: ["removed"] },
];
const LATER = { at: T0 + 50_000, by: "another" };

for (const local of LOCAL_STORES) {
  const { name: storeName, whyMissing } = local;
  if (whyMissing !== null) {
    test(`${storeName} and changes of schedules`, ({ skip }) => skip(whyMissing));
    continue;
  }

  describe(`in ${storeName} behind a network`, () => {
    let driver: FarDriver;
    let store: SqlDataStore;

    beforeEach(async () => {
      driver = new FarDriver(local.driver(":memory:"));
      store = new Store(driver, { retry: { pauseMsFirst: 0, pauseMsMax: 0 } });
      await openWithTables(store);
      await store.addSchedules(add(makeSchedule({ nextFireTime: T0, fence: 0 })), NOTE);
    });
    afterEach(() => store.close());

    for (const { name, call, kinds } of VERBS) {
      test(`${name} that comes with a note takes one request`, async () => {
        driver.trips = 0;
        await call(store);
        expect(driver.trips).toBe(1);
        expect(await kindsOf(store)).toEqual(["added", ...kinds]);
      });

      test(`${name} whose answer is lost leaves one record, and one skip of what was due`, async () => {
        const entries = { from: T0 - 1, until: T0 + 99_000, order: "oldest", limit: 9, cursor: null } as const;
        driver.losesNext = true;
        await call(store);
        const { items } = await ledgerOf(store).getOccurrences({ scheduleId: "schedule", ...entries });
        expect([driver.losesNext, await kindsOf(store)]).toEqual([false, ["added", ...kinds]]);
        const isMoved = name !== "a pause" && kinds.length > 0;
        expect(items.map((item) => item.kind)).toEqual(isMoved ? ["skip"] : []);
      });
    }

    test("an addition whose answer is lost leaves one record", async () => {
      driver.losesNext = true;
      await store.addSchedules(add(makeSchedule({ id: "new" })), NOTE);
      expect(await kindsOf(store, "new")).toEqual(["added"]);
    });

    test("a failed trigger takes no further request, and leaves one record where the answer is lost", async () => {
      const plan = await failingPlan(store);
      driver.trips = 0;
      await commitPlans(store, [plan]);
      expect(driver.trips).toBe(1);
      await updateSchedule(store, "schedule", { paused: false });
      const another = await failingPlan(store);
      driver.losesNext = true;
      await commitPlans(store, [another]);
      expect(await kindsOf(store)).toEqual(["added", "failed", "failed"]);
    });

    test("a pause of a task takes one request, and leaves one record where the answer is lost", async () => {
      await store.putTasks([makeTask()]);
      driver.trips = 0;
      driver.losesNext = true;
      await store.pauseTask({ taskId: "task", key: null, paused: true, now: T0, by: "a" });
      expect(driver.trips).toBe(2);
      await store.pauseTask({ taskId: "task", key: "key", paused: true, now: T0, by: "b" });
      expect(driver.trips).toBe(3);
      const history = await ledgerOf(store).getTaskPauseHistory(TASK_PAUSES);
      expect(history.map(({ by, key }) => [by, key])).toEqual([
        ["a", null],
        ["b", "key"],
      ]);
    });

    test("a change that others have overtaken leaves nothing", async () => {
      expect(await updateSchedule(store, "schedule", { priority: 9 }, 77, LATER)).toBeNull();
      expect(await kindsOf(store)).toEqual(["added"]);
    });
  });

  describe(`in ${storeName}`, () => {
    let driver: SqlDriver;
    let store: SqlDataStore;
    const run = (sql: string): Promise<Row[]> => rowsOf(driver, sql);

    beforeEach(async () => {
      driver = local.driver(":memory:");
      store = new Store(driver);
      await openWithTables(store);
    });
    afterEach(() => store.close());

    test("additions of one call are numbered in their order, in however many parameters they travel", async () => {
      const ids = Array.from({ length: 700 }, (_, index) => `${String(index).padStart(4, "0")}${"x".repeat(1000)}`);
      await store.addSchedules(add(...ids.map((id) => makeSchedule({ id }))), NOTE);
      const rows = await run("SELECT schedule_id FROM escapement_changes ORDER BY seq");
      expect(rows.map((row) => String(row.schedule_id))).toEqual(ids);
      expect(await run("SELECT count(*) AS begun FROM escapement_changes WHERE seq <= 0")).toEqual([{ begun: 0 }]);
    });

    test("a replacement by the same settings in another order changes nothing", async () => {
      await store.addSchedules(add(makeSchedule({ name: "A" })), NOTE);
      await updateSchedule(store, "schedule", { name: null }, undefined, LATER);
      await updateSchedule(store, "schedule", { name: "A" }, undefined, LATER);
      await store.addSchedules([{ schedule: makeSchedule({ name: "A" }), conflictPolicy: "replace" }], LATER);
      expect(await kindsOf(store)).toEqual(["added", "changed", "changed"]);
    });

    const damages = ["null", "5", "[]", '"text"', "{}\0", '{"a', "", '{"a":1,"a\\"b":2}', '{"priority":9e999}'];
    for (const column of ["details", "metadata"]) {
      for (const text of damages) {
        const hex = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
        damaged(`${JSON.stringify(text)} in ${column}`, `${column} = CAST(x'${hex}' AS TEXT)`);
      }
      damaged(`a BLOB in ${column}`, `${column} = x'6162'`);
    }
    for (const column of ["task_id", "trigger_json", "trigger_rule", "paused", "last_fire_time", "declaration"]) {
      for (const value of ["x'6162'", "'so' || char(0) || 'on'"])
        damaged(`${value} in ${column}`, `${column} = ${value}`);
    }
    for (const column of ["next_fire_time", "last_fire_time", "created_at"]) {
      for (const value of ["'soon'", "x'6162'", "9e999", "-9e999", "9223372036854775807"]) {
        damaged(`${value} in ${column}`, `${column} = ${value}`);
      }
    }

    /** Every change of a schedule with such a row is carried out, and told. */
    function damaged(what: string, damage: string): void {
      test(`${what} of a schedule makes no change fail`, async () => {
        const ids = ["updated", "replaced", "declared", "removed", "good"];
        await store.addSchedules(add(...ids.map((id) => makeSchedule({ id }))), NOTE);
        await run(`UPDATE escapement_schedules SET ${damage} WHERE id <> 'good'`);
        await updateSchedule(store, "updated", { priority: 3, nextFireTime: T0 + 5 }, undefined, LATER);
        const replacement = (id: string) => ({ id, priority: 3, trigger: "{}", triggerRule: "{}", declaration: "d" });
        const [replaced, declared] = ["replaced", "declared"].map((id) => makeSchedule(replacement(id)));
        if (replaced === undefined || declared === undefined) throw new Error("two schedules");
        const additions = [
          { schedule: replaced, conflictPolicy: "replace" },
          { schedule: declared, conflictPolicy: "update" },
        ] as const;
        await store.addSchedules(additions, LATER);
        expect(await removeSchedule(store, "removed", LATER)).toBe(true);
        const after = await Promise.all(["updated", "replaced", "declared"].map((id) => store.getSchedule(id)));
        expect(after.map((schedule) => schedule?.priority)).toEqual([3, 3, 3]);
        const kinds = await Promise.all(ids.map((id) => kindsOf(store, id)));
        expect(kinds.map((all) => all.at(-1))).toEqual(["changed", "changed", "changed", "removed", "added"]);
        await store.cleanup({ now: T0 + 60_000, limit: 100 });
      });
    }

    test("damaged rows stop no plan of a failed trigger, and no clean-up", async () => {
      await store.addSchedules(add(makeSchedule(), makeSchedule({ id: "ended", nextFireTime: null })), NOTE);
      await run("UPDATE escapement_schedules SET details = '{', metadata = x'00', task_id = x'61'");
      await commitPlans(store, [await failingPlan(store)]);
      await store.cleanup({ now: T0 + 9, limit: 100 });
      expect([await kindsOf(store), await kindsOf(store, "ended")]).toEqual([
        ["added", "failed"],
        ["added", "removed"],
      ]);
    });

    test("a damaged record stops no list", async () => {
      await store.addSchedules(add(makeSchedule()), NOTE);
      await updateSchedule(store, "schedule", { priority: 1 }, undefined, LATER);
      await updateSchedule(store, "schedule", { priority: 2 }, undefined, LATER);
      await run(
        "UPDATE escapement_changes SET latter = x'61', former = '5', made_by = x'61', at = 'soon' WHERE seq = 2",
      );
      const { items: changes } = await ledgerOf(store).getScheduleChanges(CHANGES);
      expect(changes.map(({ after }) => after?.settings.priority)).toEqual([0, undefined, 2]);
    });

    test("a store whose ledger is off writes nothing of it", async () => {
      const off = new Store(driver, { ledger: null });
      await openWithTables(off);
      await off.putTasks([makeTask()]);
      await off.addSchedules(add(makeSchedule(), makeSchedule({ id: "ended", nextFireTime: null })), NOTE);
      await commitPlans(off, [await failingPlan(off)]);
      await updateSchedule(off, "schedule", { priority: 3 }, undefined, LATER);
      await removeSchedule(off, "schedule", LATER);
      await off.pauseTask({ taskId: "task", key: null, paused: true, now: T0, by: "a" });
      await extend(off, [], { now: T0, aliveUntil: T0 + 1000 });
      await off.cleanup({ now: T0 + 9, limit: 100 });
      const counts = ["changes", "uptimes", "skips"].map((table) => `(SELECT count(*) FROM escapement_${table})`);
      expect(await run(`SELECT ${counts.join(" + ")} AS rows`)).toEqual([{ rows: 0 }]);
    });

    describe("the clean-up", () => {
      const AGE_MS = 90 * DAY_MS;
      const LATE = T0 + AGE_MS + DAY_MS;

      test("keeps the newest change of a schedule that is there, however old it is", async () => {
        await store.addSchedules(add(makeSchedule(), makeSchedule({ id: "young" })), NOTE);
        await updateSchedule(store, "schedule", { priority: 3 }, undefined, LATER);
        await updateSchedule(store, "young", { priority: 3 }, undefined, { at: LATE, by: "a" });
        await store.cleanup({ now: LATE, limit: 100 });
        expect([await kindsOf(store), await kindsOf(store, "young")]).toEqual([["changed"], ["changed"]]);
      });

      test("gets to every change in the end, a bounded part each time", async () => {
        await store.addSchedules(add(makeSchedule()), { ...NOTE, at: LATE });
        // The first rows stay: each is the newest of a schedule that is there.
        const numbers = (count: number): string =>
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) `;
        await run(
          `${numbers(CHANGES_SEEN_PER_CLEANUP_MAX + 50)} INSERT INTO escapement_schedules ` +
            "(id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, fence, revision, metadata, " +
            "details) " +
            `SELECT 'kept ' || i, 'task', '{}', '{}', 0, ${T0}, ${LATE}, 0, 0, '{}', '{}' FROM n`,
        );
        const insert = (id: string, at: number): string =>
          `INSERT INTO escapement_changes (schedule_id, at, kind) SELECT ${id}, ${at}, 'added' FROM n`;
        await run(`${numbers(CHANGES_SEEN_PER_CLEANUP_MAX + 50)} ${insert("'kept ' || i", T0)}`);
        await run(`${numbers(40)} ${insert("'gone'", T0)}`);
        await run(`${numbers(140)} ${insert("'often'", LATE)}`);
        const left = (): Promise<Row[]> =>
          run(
            "SELECT schedule_id AS id, count(*) AS changes FROM escapement_changes " +
              "WHERE schedule_id IN ('gone', 'often', 'schedule') GROUP BY schedule_id ORDER BY id",
          );
        const counts: unknown[] = [];
        for (let visit = 0; visit < 4; visit++) {
          await store.cleanup({ now: LATE, limit: 30 });
          counts.push((await left()).map(({ changes }) => changes));
        }
        expect(counts).toEqual([
          [40, 140, 1],
          [110, 1],
          [110, 1],
          [100, 1],
        ]);
        const kept = await run("SELECT count(*) AS kept FROM escapement_changes WHERE schedule_id LIKE 'kept %'");
        expect(kept).toEqual([{ kept: CHANGES_SEEN_PER_CLEANUP_MAX + 50 }]);
      });
    });

    test("a tick continues no life of a scheduler that stayed, once that life has ended", async () => {
      const resident = { role: "both", isResident: true, tasks: [], executors: [] } as const;
      const ticking = { ...resident, isResident: false };
      await extend(store, [], { now: T0, aliveUntil: T0 + 1000, profile: resident });
      for (const now of [T0 + 60_000, T0 + 120_000]) {
        const heartbeat = { instanceId: "scheduler-a 1#", aliveUntil: now + 1000, profile: ticking };
        await commit(store, { now, jobs: null, heartbeat });
      }
      const uptimes = await ledgerOf(store).getUptimes({ from: T0, until: T0 + DAY_MS });
      expect(uptimes.map(({ since, until, isResident }) => [since - T0, until - T0, isResident])).toEqual([
        [0, 1000, true],
        [60_000, 121_000, false],
      ]);
    });

    test("of very many uptimes, those that began last are told", async () => {
      await run(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1499) " +
          "INSERT INTO escapement_uptimes " +
          "(identity, since, until, role, resident, tasks) " +
          `SELECT 'w-' || i, ${T0} + i, ${T0} + i, 'both', 0, '[]' FROM n`,
      );
      const uptimes = await ledgerOf(store).getUptimes({ from: T0, until: T0 + DAY_MS });
      expect(uptimes.map(({ since }) => since - T0)).toEqual(Array.from({ length: 1000 }, (_, place) => 500 + place));
    });

    test("uptimes of one identity never overlap, whatever the clocks of its runs say", async () => {
      let seed = 7;
      const random = (below: number): number => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % below;
      };
      for (let now = T0; now < T0 + 200_000; now += random(2000)) {
        const at = now - random(3000);
        const heartbeat = { now: at, aliveUntil: at + random(2500) - 500, instanceId: `scheduler-a ${random(3)}#` };
        if (random(4) > 0) await extend(store, [], heartbeat);
        else {
          const profile = { role: "both", isResident: random(8) > 0, tasks: [], executors: [] } as const;
          await commit(store, { now: at, jobs: null, heartbeat: { ...heartbeat, profile } });
        }
      }
      const uptimes = await ledgerOf(store).getUptimes({ from: 0, until: T0 * 2 });
      expect(uptimes.length).toBeGreaterThan(5);
      const wrong = uptimes.filter(
        ({ since, until }, index) => since > until || since <= (uptimes[index - 1]?.until ?? 0),
      );
      expect(wrong).toEqual([]);
    });
  });

  describe(`two writers on one file of ${storeName}`, () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    beforeAll(async () => {
      folder = await temporaryFolder();
    });
    afterAll(() => folder.remove());

    test("of changes that race, only the one that counts is told", async () => {
      const path = join(folder.path, "race.db");
      const stores = [local.make(path), local.make(path)];
      for (const one of stores) await openWithTables(one);
      const [first] = stores;
      if (first === undefined) throw new Error("two stores");
      try {
        await first.addSchedules(add(makeSchedule({ fence: 100 })), NOTE);
        const winners: number[] = [];
        for (let round = 0; round < 10; round++) {
          const { fence = 0 } = (await first.getSchedule("schedule")) ?? {};
          const priorities = stores.map((_, index) => round * 10 + index + 1);
          const updates = stores.map((one, index) =>
            updateSchedule(one, "schedule", { priority: priorities[index] ?? 0 }, fence, NOTE),
          );
          const counted = (await Promise.all(updates)).flatMap((updated) => (updated === null ? [] : updated.priority));
          expect(counted).toHaveLength(1);
          winners.push(...counted);
        }
        const [, ...changes] = (await ledgerOf(first).getScheduleChanges(CHANGES)).items;
        expect(changes.map(({ after }) => after?.settings.priority)).toEqual(winners);
      } finally {
        for (const one of stores) await one.close();
      }
    });
  });
}
