import { expect } from "vitest";
import type { DataStore, JobStepSave, SqlStatement } from "../../src/contracts.ts";
import { leasedJob, makeTask, T0, take } from "../../src/testing/data-store-contract/makers.ts";
import type { Application } from "./application.ts";
import { expectPortable } from "./prepared-jobs.ts";

const ORDER: SqlStatement = { sql: "INSERT INTO orders VALUES (?)", args: ["order-1"] };

function saveOf(fields: Partial<JobStepSave> = {}): JobStepSave {
  const nothing = { wakeAt: null, version: null, cursor: null };
  const step = { name: `"'?1`, startedAt: T0, endedAt: T0, attempts: 1, value: '"?"', ...nothing };
  const lease = { now: T0, schedulerId: "scheduler-a", jobId: "job", fence: 1, until: T0 };
  return { ...lease, number: 1, isFirst: true, step, ...fields };
}

async function prepared(store: DataStore, save: JobStepSave): Promise<SqlStatement[]> {
  const statements = (await store.prepareJobStep?.(save)) ?? [];
  for (const { sql, args } of statements) expectPortable(sql, args);
  return statements;
}

/** What holds for prepared steps, however the application writes. */
export const PREPARED_STEP_CASES: readonly {
  readonly name: string;
  run(application: Application, store: DataStore): Promise<void>;
}[] = [
  {
    name: "a commit has the step with the application's row, and a repeated one changes nothing",
    async run(application, store) {
      await leasedJob(store);
      const save = saveOf();
      const statements = await prepared(store, save);
      expect(await store.getJobSteps("job", T0)).toEqual([]);
      await application.commit([ORDER, ...statements]);
      expect(await store.getJobSteps("job", T0)).toEqual([save.step]);
      await application.commit(statements);
      expect(await store.getJobSteps("job", T0)).toEqual([save.step]);
      expect(await application.read("SELECT id FROM orders")).toEqual(["order-1"]);
    },
  },
  {
    name: "a rollback leaves neither the row nor the step",
    async run(application, store) {
      await leasedJob(store);
      await application.rollBack([ORDER, ...(await prepared(store, saveOf()))]);
      expect(await store.getJobSteps("job", T0)).toEqual([]);
      expect(await application.read("SELECT id FROM orders")).toEqual([]);
    },
  },
  {
    name: "a transaction fails where the lease is lost, has ended, or never was",
    async run(application, store) {
      await store.putTasks([makeTask()]);
      await leasedJob(store);
      const [early, late, other] = [saveOf(), saveOf({ now: T0 + 60_000 }), saveOf({ jobId: "another" })];
      await take(store, { now: T0 + 60_000, by: "scheduler-b" });
      for (const save of [early, late, other]) {
        const commit = application.commit([...(await prepared(store, save)), ORDER]);
        await expect(commit).rejects.toThrow("escapement: the lease of the job was lost");
      }
      expect(await store.getJobSteps("job", T0)).toEqual([]);
      expect(await application.read("SELECT id FROM orders")).toEqual([]);
    },
  },
  {
    name: "a step that ended under an earlier lease fails the transaction, because it was done",
    async run(application, store) {
      await leasedJob(store);
      await application.commit(await prepared(store, saveOf()));
      await take(store, { now: T0 + 60_000 });
      const again = saveOf({ now: T0 + 60_000, fence: 2 });
      const commit = application.commit([...(await prepared(store, again)), ORDER]);
      await expect(commit).rejects.toThrow("the lease of the job was lost");
      expect(await application.read("SELECT id FROM orders")).toEqual([]);
    },
  },
];
