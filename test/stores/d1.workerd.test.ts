import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { type D1Answer, type D1Binding, D1DataStore, type D1StoreOptions } from "../../src/stores/d1/mod.ts";
import { makeJob, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { withCloudApplication } from "./cloud-application.ts";
import { sampleOf, titleOf } from "./contract-title.ts";
import { LARGE_RECORD_CASES } from "./large-records.ts";
import { PREPARED_JOB_CASES } from "./prepared-jobs.ts";
import { PREPARED_STEP_CASES } from "./prepared-steps.ts";
import { expectPortable, StatementRecord } from "./statement-rules.ts";

const opened: D1DataStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function openStore(binding: D1Binding, options: D1StoreOptions = {}): Promise<D1DataStore> {
  const store = new D1DataStore(binding, options);
  opened.push(store);
  await store.open(T0);
  return store;
}

/** The binding, with something else in place of its batches. */
function withBatch(batch: D1Binding["batch"]): D1Binding {
  return { prepare: (sql) => env.DB.prepare(sql), batch };
}

describe("D1DataStore keeps the contract", () => {
  const record = new StatementRecord();
  const recorded: D1Binding = {
    prepare(sql) {
      const statement = env.DB.prepare(sql);
      return {
        bind(...args) {
          record.note({ sql, args });
          return statement.bind(...args);
        },
        all: () => statement.all(),
      };
    },
    batch: (statements) => env.DB.batch(statements),
  };
  const tablePrefix = "contract_";
  /** Empties the tables, which is quicker than to make them anew for every case. */
  const openEmpty = async (): Promise<D1DataStore> => {
    const { results } = await env.DB.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'contract_*' AND name <> 'contract_schema'",
    ).all();
    const deletions = results.map(({ name }) => env.DB.prepare(`DELETE FROM ${name}`));
    if (deletions.length > 0) await env.DB.batch(deletions);
    return openStore(recorded, { tablePrefix });
  };
  // A row of D1 holds two megabytes.
  const cases = dataStoreContract.filter(({ isAboutLargeRows }) => isAboutLargeRows !== true);
  // The same SQLite keeps the whole contract in Durable Objects.
  for (const { name, rules, run } of sampleOf(cases, 4)) {
    test(titleOf(rules, name), () =>
      run({
        open: openEmpty,
        reopen: () => openStore(recorded, { tablePrefix }),
      }),
    );
  }

  test("and every statement that ran is one that D1 takes", () => expectPortable(record));
});

describe("prepared jobs and commits in a batch of D1:", () => {
  const prepare = (statements: readonly { sql: string; args: (string | number | null)[] }[]) =>
    statements.map(({ sql, args }) => env.DB.prepare(sql).bind(...args));
  const application = {
    async commit(statements: Parameters<typeof prepare>[0]) {
      await env.DB.batch(prepare(statements));
    },
    async rollBack(statements: Parameters<typeof prepare>[0]) {
      const broken = [...statements, { sql: "INSERT INTO no_such_table VALUES (1)", args: [] }];
      await expect(env.DB.batch(prepare(broken))).rejects.toThrow("no such table");
    },
    async read(sql: string) {
      const { results } = await env.DB.prepare(sql).all();
      return results.map((row) => Object.values(row)[0]);
    },
    close() {},
  };
  for (const { name, run } of PREPARED_JOB_CASES) {
    test(name, () => withCloudApplication(application, new D1DataStore(env.DB, { reset: true }), run));
  }
  for (const { name, run } of PREPARED_STEP_CASES) {
    test(`of a step: ${name}`, () =>
      withCloudApplication(application, new D1DataStore(env.DB, { reset: true }), async (own, _, store) => {
        await store.open(T0);
        await run(own, store);
      }));
  }
});

describe("what is too large for a row of D1:", () => {
  for (const { name, run } of LARGE_RECORD_CASES) {
    test(name, () => run(new D1DataStore(env.DB, { reset: true })));
  }
});

describe("a failure of D1", () => {
  const retry = { maxAttempts: 3, backoff: { initial: { milliseconds: 1 }, max: { milliseconds: 1 } } };

  test("that is full is one of its health while it still takes updates, until an insertion succeeds", async () => {
    let isFull = false;
    let inserts = 0;
    const store = await openStore(
      {
        prepare(sql) {
          if (/\bINSERT\b/.test(sql)) inserts++;
          return env.DB.prepare(sql);
        },
        async batch(statements) {
          if (isFull && inserts > 0) throw new Error("D1_ERROR: Exceeded maximum DB size");
          return env.DB.batch(statements);
        },
      },
      { tablePrefix: "full_" },
    );
    const whole = async <T>(call: () => Promise<T>): Promise<T> => {
      inserts = 0;
      return call();
    };
    const look = () => whole(() => store.inspect(T0, { checksWrites: true }));
    await look();
    isFull = true;
    await expect(whole(() => store.addJobs([makeJob()]))).rejects.toThrow(/the account is full; remove what is not/);
    for (let again = 0; again < 3; again++) {
      await whole(() => store.removeTask("none"));
      await expect(look()).rejects.toThrow(StoreUnavailableError);
    }
    isFull = false;
    expect((await look()).oldestDueJob).toBeNull();
  });

  test("that loses the answer is repeated, and adds no job twice", async () => {
    let losses = 0;
    const losing = withBatch(async (statements) => {
      const answers = await env.DB.batch(statements);
      if (losses++ < 2) throw new Error("D1_ERROR: Network connection lost.");
      return answers;
    });
    await (await openStore(env.DB, { reset: true })).getTasks();
    const store = await openStore(losing, { retry });
    const [added] = await store.addJobs([makeJob()]);
    expect([losses, added?.isNew]).toEqual([3, true]);
    expect((await store.getJobs({ limit: 10, cursor: null })).items.map(({ id }) => id)).toEqual(["job"]);
  });

  test("that lasts is told in the end, with the database's name", async () => {
    let tries = 0;
    const lost = withBatch(async () => {
      tries++;
      throw new Error("D1_ERROR: D1 DB reset because its code was updated.");
    });
    const store = await openStore(lost, { retry });
    const failure = await store.addJobs([makeJob()]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toContain("writing to the D1 database failed: D1_ERROR: D1 DB reset because");
    expect(tries).toBe(3);
  });

  test("for want of requests is told at once, with advice", async () => {
    let tries = 0;
    const spent = withBatch(async () => {
      tries++;
      throw new Error("Too many subrequests.");
    });
    const store = await openStore(spent, { retry });
    const failure = await store.addJobs([makeJob()]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toContain("; the invocation has used up its requests; do less in one invocation");
    expect(tries).toBe(1);
  });
});

test("a tick on D1 fires the schedule that is due, and an idle one is one read that writes nothing", async () => {
  let requests = 0;
  let rowsWritten = 0;
  const count = (answer: D1Answer): D1Answer => {
    rowsWritten += Number(Reflect.get(Reflect.get(answer, "meta"), "rows_written"));
    return answer;
  };
  const counting: D1Binding = {
    prepare(sql) {
      const statement = env.DB.prepare(sql);
      return {
        all: statement.all,
        bind(...args) {
          const bound = statement.bind(...args);
          const all = bound.all.bind(bound);
          bound.all = async () => {
            requests++;
            return count(await all());
          };
          return bound;
        },
      };
    },
    async batch(statements) {
      requests++;
      return (await env.DB.batch(statements)).map(count);
    },
  };
  const clock = new VirtualClock("2030-01-01T00:00:00Z");
  const scheduler = new Scheduler({ dataStore: new D1DataStore(counting, { reset: true }), clock });
  const fired: string[] = [];
  const task = scheduler.task("report", (_, { job }) => void fired.push(String(job.fireTime)));
  await scheduler.addSchedule(task, new IntervalTrigger({ minutes: 5 }), { id: "reports" });
  expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1 });
  expect(fired).toEqual(["2030-01-01T00:00:00Z"]);
  requests = 0;
  rowsWritten = 0;
  expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 0, jobsAdded: 0, jobsRun: 0 });
  expect({ requests, rowsWritten }).toEqual({ requests: 1, rowsWritten: 0 });
  await scheduler.stop();
});
