import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { INSTANT_MS_MAX } from "../../src/core/temporal.ts";
import type { SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { type SqlDataStore, SqlDataStore as Store } from "../../src/stores/sql/sqlite/store.ts";
import {
  add,
  commit,
  commitPlans,
  look,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  planOf,
  release,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { LOCAL_STORES, openWithTables, rowsOf } from "./local-stores.ts";

// Rows that somebody edited by hand, or wrote with a client of another language: SQLite keeps any type in any column.

for (const local of LOCAL_STORES) {
  const { name, whyMissing } = local;
  if (whyMissing !== null) {
    test(`${name} and damaged rows`, ({ skip }) => skip(whyMissing));
    continue;
  }
  describe(`in ${name}`, () => {
    let driver: SqlDriver;
    let store: SqlDataStore;
    const run = (sql: string): Promise<unknown> => rowsOf(driver, sql);

    beforeEach(async () => {
      driver = local.driver(":memory:");
      store = new Store(driver);
      await openWithTables(store);
    });
    afterEach(() => store.close());

    const texts = ["id", "task_id", "executor", "schedule_id", "idempotency_key"];
    const numbers = ["priority", "run_at", "fire_time", "failed_attempts", "recoveries", "cancel_requested", "fence"];

    for (const column of [...texts, ...numbers, "started_fence"]) {
      test(`a BLOB in the column ${column} of a job stops no commit, and no list`, async () => {
        await store.addJobs([makeJob({ id: "bad", scheduleId: "s", fireTime: T0 }), ...makeJobs(2)]);
        await run(`UPDATE escapement_jobs SET ${column} = x'6162' WHERE id = 'bad'`);
        const ids = (await take(store)).acquired.map(({ id }) => id);
        expect(ids).toEqual(expect.arrayContaining(["job-00000", "job-00001"]));
        expect((await store.getJobs({ limit: 9, cursor: null })).items).toHaveLength(3);
        await release(
          store,
          ids.map((jobId) => ({ jobId, fence: 1, kind: "giveUp" })),
        );
        expect((await take(store)).acquired.length).toBeGreaterThan(1);
      });
    }

    for (const column of ["id", "task_id", "acquired_by", "acquisition_id", "recoveries", "fence"]) {
      test(`a BLOB in the column ${column} of a lost job stops no recovery`, async () => {
        await store.addJobs(makeJobs(2, { maxRecoveries: 0 }));
        await take(store, { until: T0 + 1 });
        await run(`UPDATE escapement_jobs SET ${column} = x'6162' WHERE id = 'job-00000'`);
        const { ended, recovered } = await commit(store, { now: T0 + 1, recover: true });
        expect(ended.length + recovered.length).toBe(2);
      });
    }

    for (const column of ["id", "task_id", "trigger_json", "trigger_rule", "paused", "last_fire_time", "fence"]) {
      test(`a BLOB in the column ${column} of a schedule stops no look, and no list`, async () => {
        await store.addSchedules(add(...["a", "b"].map((id) => makeSchedule({ id }))));
        await run(`UPDATE escapement_schedules SET ${column} = x'6162' WHERE id = 'a'`);
        const { due } = await look(store, { schedules: {} });
        expect(due.map(({ id }) => id)).toContain("b");
        const good = due.flatMap((schedule) => (schedule.id === "b" ? [planOf(schedule)] : []));
        expect((await commitPlans(store, good)).plans.map(({ committed }) => committed)).toEqual([true]);
        expect((await store.getSchedules({ limit: 9, cursor: null })).items).toHaveLength(2);
      });
    }

    for (const value of ["'soon'", "x'6162'", "1.5", "9e999", "9223372036854775807", "-9223372036854775808"]) {
      test(`${value} in an entry of the ledger reads as a number that is an instant`, async () => {
        const schedule = makeSchedule({ id: "s" });
        await store.addSchedules(add(schedule), { at: T0, by: null });
        const skip = { from: T0, until: T0, verdict: "coalesced", count: 1, into: T0 } as const;
        await run(
          "INSERT INTO escapement_skips (history, from_time, until_time, verdict, count, into_time) " +
            `SELECT number, ${T0}, ${T0}, 'coalesced', 1, ${T0} FROM escapement_histories`,
        );
        const filter = { scheduleId: "s", from: -INSTANT_MS_MAX, until: INSTANT_MS_MAX, limit: 9, cursor: null };
        const all = async () => (await store.ledger?.getOccurrences({ ...filter, order: "oldest" }))?.items ?? [];
        expect(await all()).toEqual([{ kind: "skip", ...skip }]);
        await run(`UPDATE escapement_histories SET since = ${value}`);
        expect(await store.ledger?.getLedgerStart("s")).not.toBe(Number.NaN);
        for (const column of ["until_time", "into_time", "from_time"]) {
          await run(`UPDATE escapement_skips SET ${column} = ${value}`);
          const instants = (await all()).flatMap((entry) =>
            entry.kind === "skip" ? [entry.from, entry.until, entry.into ?? 0] : [],
          );
          expect(instants.filter((at) => !Number.isInteger(at) || Math.abs(at) > INSTANT_MS_MAX)).toEqual([]);
        }
      });
    }

    for (const value of ["'soon'", "x'6162'", "9e999", "9223372036854775807"]) {
      test(`an instant of ${value} is none to wait for`, async () => {
        await store.addJobs([makeJob({ id: "delayed", runAt: T0 + 9 }), makeJob({ id: "leased" })]);
        await take(store);
        await store.addSchedules(add(...["a", "b"].map((id) => makeSchedule({ id, nextFireTime: T0 + 9 }))));
        await run(`UPDATE escapement_jobs SET run_at = ${value} WHERE id = 'delayed'`);
        await run(`UPDATE escapement_jobs SET acquired_until = ${value} WHERE id = 'leased'`);
        await run(`UPDATE escapement_schedules SET next_fire_time = ${value}`);
        const { due, nextFireAt, nextRunAt, leaseEndsAt } = await look(store, { schedules: {} });
        expect({ due, nextFireAt, nextRunAt, leaseEndsAt }).toEqual({
          due: [],
          nextFireAt: null,
          nextRunAt: null,
          leaseEndsAt: null,
        });
      });
    }

    for (const value of ["'soon'", "x'6162'", "9e999", "9223372036854775807"]) {
      for (const taskIds of [["task"], ["task", "b", "c", "d", "e", "f"]]) {
        test(`a lease until ${value} holds no slot of its task, one of ${taskIds.length}`, async () => {
          await store.putTasks([makeTask({ id: "task", maxRunningJobs: 1 })]);
          await store.addJobs(makeJobs(2));
          await take(store);
          await run(`UPDATE escapement_jobs SET acquired_until = ${value} WHERE id = 'job-00000'`);
          const queues = taskIds.map((taskId) => ({ taskId, executor: "inline" }));
          const { acquired, hasReady } = await take(store, { queues });
          expect([acquired.map(({ id }) => id), hasReady]).toEqual([["job-00001"], false]);
        });
      }
    }

    for (const details of ["null", "5", "[]", '"text"', "{}\0", ""]) {
      const text = `CAST(x'${[...new TextEncoder().encode(details)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}' AS TEXT)`;

      test(`details ${JSON.stringify(details)} of a job make its payload unreadable`, async () => {
        await store.addJobs(makeJobs(2));
        await run(`UPDATE escapement_jobs SET details = ${text} WHERE id = 'job-00000'`);
        const { acquired } = await take(store);
        expect(acquired.map(({ id, payload }) => [id, payload])).toEqual([
          ["job-00000", "this row is damaged"],
          ["job-00001", null],
        ]);
      });

      test(`details ${JSON.stringify(details)} of a schedule, a task or a result stop no other`, async () => {
        await store.putTasks([makeTask({ id: "a" }), makeTask({ id: "b" })]);
        await store.addSchedules(add(...["a", "b"].map((id) => makeSchedule({ id }))));
        await run(`UPDATE escapement_schedules SET details = ${text}, metadata = ${text} WHERE id = 'a'`);
        await run(`UPDATE escapement_tasks SET details = ${text} WHERE id = 'a'`);
        const columns = "job_id, task_id, schedule_id, outcome, expires_at, finished_at, details";
        const values = `'r', 't', NULL, 'success', ${T0 + 9}, ${T0}, ${text}`;
        await run(`INSERT INTO escapement_results (${columns}) VALUES (${values})`);
        const { due } = await look(store, { schedules: {} });
        expect(due.map(({ id, executor }) => [id, executor])).toEqual([
          ["a", ""],
          ["b", "inline"],
        ]);
        const page = { limit: 9, cursor: null };
        expect((await store.getSchedules(page)).items.map(({ metadata }) => metadata)).toEqual([{}, {}]);
        expect((await store.getTasks()).map(({ executor }) => executor)).toEqual(["", "inline"]);
        expect((await store.getJobResults(page, T0)).items.map(({ returnValue }) => returnValue)).toEqual([null]);
      });
    }

    test("a result whose details are damaged tells by its columns when its job ended", async () => {
      const columns = "job_id, task_id, schedule_id, outcome, expires_at, finished_at, details";
      await run(
        `INSERT INTO escapement_results (${columns}) VALUES ('r', 't', NULL, 'success', ${T0 + 9}, ${T0}, 'damaged')`,
      );
      const page = await store.getJobResults({ limit: 9, cursor: null }, T0);
      expect([page.items, await store.getJobResult("r", T0)].flat().map((result) => result?.finishedAt)).toEqual([
        T0,
        T0,
      ]);
    });
  });
}
