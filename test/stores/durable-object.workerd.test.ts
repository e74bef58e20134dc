import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import {
  DurableObjectDataStore,
  type DurableObjectSqlStorage,
  type SqlStatement,
} from "../../src/stores/durable-object/mod.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import type { ObjectState } from "../support/workerd-env.ts";
import type { Application } from "./application.ts";
import { withCloudApplication } from "./cloud-application.ts";
import { sampleOf, titleOf } from "./contract-title.ts";
import { LARGE_RECORD_CASES } from "./large-records.ts";
import { PREPARED_JOB_CASES } from "./prepared-jobs.ts";
import { PREPARED_STEP_CASES } from "./prepared-steps.ts";
import { expectPortable, StatementRecord } from "./statement-rules.ts";

type Storage = ObjectState["storage"];

/** Runs a function within an object of this name. */
function inObject<T>(name: string, run: (storage: Storage) => Promise<T>): Promise<T> {
  const stub = env.SQL_OBJECT.get(env.SQL_OBJECT.idFromName(name));
  return runInDurableObject(stub, (_, { storage }) => run(storage));
}

// No answer gets lost within an object, and a row of its database holds two megabytes.
// Its half of the cases has the same SQL as the other half in local-stores.local.test.ts.
const cases = sampleOf(dataStoreContract, 2).filter(
  ({ isAboutLostAnswers, isAboutLargeRows }) => isAboutLostAnswers !== true && isAboutLargeRows !== true,
);

describe("DurableObjectDataStore keeps the contract", () => {
  const record = new StatementRecord();

  function recorded(storage: Storage): DurableObjectSqlStorage {
    const exec: DurableObjectSqlStorage["sql"]["exec"] = (sql, ...args) => {
      record.note({ sql, args });
      const cursor = storage.sql.exec(sql, ...args);
      record.note({ sql, args }, cursor.columnNames);
      return cursor;
    };
    return { sql: { exec }, transactionSync: (run) => storage.transactionSync(run) };
  }

  for (const { name, rules, run } of cases) {
    test(titleOf(rules, name), () =>
      inObject("contract", async (storage) => {
        const openStore = async (reset: boolean): Promise<DurableObjectDataStore> => {
          const store = new DurableObjectDataStore(recorded(storage), { reset });
          await store.open(T0);
          return store;
        };
        await run({ open: () => openStore(true), reopen: () => openStore(false) });
      }),
    );
  }

  test("and every statement that ran is one that a Durable Object takes", () => expectPortable(record));
});

describe("prepared jobs and commits in a transaction of a Durable Object:", () => {
  function applicationOf(storage: Storage): Application {
    const runAll = (statements: readonly SqlStatement[]): void => {
      // A cursor that is not read to its end keeps its table locked.
      for (const { sql, args } of statements) storage.sql.exec(sql, ...args).toArray();
    };
    return {
      commit: async (statements) => storage.transactionSync(() => runAll(statements)),
      async rollBack(statements) {
        const broken = [...statements, { sql: "INSERT INTO no_such_table VALUES (1)", args: [] }];
        expect(() => storage.transactionSync(() => runAll(broken))).toThrow("no such table");
      },
      read: async (sql) =>
        storage.sql
          .exec(sql)
          .toArray()
          .map((row) => Object.values(row)[0]),
      close() {},
    };
  }

  for (const { name, run } of PREPARED_JOB_CASES) {
    test(name, () =>
      inObject("prepared", (storage) =>
        withCloudApplication(applicationOf(storage), new DurableObjectDataStore(storage, { reset: true }), run),
      ),
    );
  }
  for (const { name, run } of PREPARED_STEP_CASES) {
    test(`of a step: ${name}`, () =>
      inObject("prepared", (storage) => {
        const opened = new DurableObjectDataStore(storage, { reset: true });
        return withCloudApplication(applicationOf(storage), opened, async (application, _, store) => {
          await store.open(T0);
          await run(application, store);
        });
      }));
  }
});

describe("what is too large for a row of a Durable Object:", () => {
  for (const { name, run } of LARGE_RECORD_CASES) {
    test(name, () => inObject("large", (storage) => run(new DurableObjectDataStore(storage, { reset: true }))));
  }
});

test("a tick in a Durable Object fires the schedule that is due, and an idle one writes nothing", () =>
  inObject("tick", async (storage) => {
    let rowsWritten = 0;
    const counting: DurableObjectSqlStorage = {
      sql: {
        exec(sql, ...args) {
          const cursor = storage.sql.exec(sql, ...args);
          const rows = cursor.toArray();
          rowsWritten += cursor.rowsWritten;
          return { toArray: () => rows };
        },
      },
      transactionSync: (run) => storage.transactionSync(run),
    };
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    const scheduler = new Scheduler({ dataStore: new DurableObjectDataStore(counting, { reset: true }), clock });
    const fired: string[] = [];
    const task = scheduler.task("report", (_, { job }) => void fired.push(String(job.fireTime)));
    await scheduler.addSchedule(task, new IntervalTrigger({ minutes: 5 }), { id: "reports" });
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1 });
    expect(fired).toEqual(["2030-01-01T00:00:00Z"]);
    rowsWritten = 0;
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 0, jobsAdded: 0, jobsRun: 0 });
    expect(rowsWritten).toBe(0);
    await scheduler.stop();
  }));
