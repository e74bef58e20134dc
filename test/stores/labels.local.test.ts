import { createClient } from "@libsql/client";
import { afterEach, describe, expect, test } from "vitest";
import { type LibsqlClient, LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { SCANNED_ROWS_MAX } from "../../src/stores/sql/limits.ts";
import {
  add,
  cancel,
  finish,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  release,
  removeSchedule,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";

const BILLING = { team: "billing" };

describe("the index of labels", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function open() {
    const client = createClient({ url: ":memory:" });
    const sent: string[] = [];
    const counting: LibsqlClient = {
      protocol: "file",
      execute(statement) {
        sent.push(statement.sql);
        return client.execute(statement);
      },
      batch(statements, mode) {
        sent.push(...statements.map(({ sql }) => sql));
        return client.batch(statements, mode);
      },
      close: () => client.close(),
    };
    const store = new LibsqlDataStore({ client: counting });
    closing.push(() => client.close());
    await store.open(T0);
    await store.getTasks();
    const count = async (from: string): Promise<number> =>
      Number((await client.execute(`SELECT count(*) FROM ${from}`)).rows[0]?.[0]);
    return { store, client, sent, count };
  }

  test("costs who has no labels nothing: no trigger, no row, no statement", async () => {
    const { store, sent, count } = await open();
    sent.length = 0;
    await store.putTasks([makeTask({ labels: BILLING })]);
    await store.addSchedules(add(makeSchedule()));
    await store.addJobs(makeJobs(3));
    const { acquired } = await take(store);
    await release(
      store,
      acquired.map((job) => finish(job)),
    );
    await store.removeJobResults({}, 9);
    expect(await count("sqlite_master WHERE type = 'trigger'")).toBe(0);
    expect(await count("escapement_labels")).toBe(0);
    expect(sent.filter((sql) => sql.startsWith("CREATE"))).toEqual([]);
  });

  test("is made once, by the first record with labels, and loses its rows with what they are about", async () => {
    const { store, sent, count } = await open();
    await Promise.all([
      store.addJobs([makeJob({ labels: { ...BILLING, region: "eu" } })]),
      store.addSchedules(add(makeSchedule({ labels: BILLING, nextFireTime: null }))),
    ]);
    const made = sent.filter((sql) => sql.startsWith("CREATE TRIGGER")).length;
    expect(made).toBe(await count("sqlite_master WHERE type = 'trigger'"));
    expect(await count("escapement_labels")).toBe(3);
    await store.addJobs([makeJob({ id: "other", labels: BILLING })]);
    expect(sent.filter((sql) => sql.startsWith("CREATE TRIGGER"))).toHaveLength(made);
    await cancel(store, "other", T0);
    const { acquired } = await take(store);
    await release(
      store,
      acquired.map((job) => finish(job)),
    );
    // Two of the result of the first job, one of the other's, and one of the schedule.
    expect(await count("escapement_labels")).toBe(4);
    await removeSchedule(store, "schedule");
    expect(await store.removeJobResults({ labels: { region: "eu" } }, 9)).toBe(1);
    expect(await count("escapement_labels")).toBe(1);
    await store.cleanup({ now: T0 + 90_000_000, limit: 9 });
    expect(await count("escapement_labels")).toBe(0);
  });

  test("has a result once, also where a commit writes it again", async () => {
    const { store, client, count } = await open();
    await store.addJobs([makeJob({ labels: BILLING })]);
    const { acquired } = await take(store);
    await release(
      store,
      acquired.map((job) => finish(job)),
    );
    const columns = "job_id, task_id, schedule_id, outcome, finished_at, expires_at, details";
    await client.execute(
      `INSERT OR REPLACE INTO escapement_results (${columns}) SELECT job_id, task_id, schedule_id, outcome, ` +
        "finished_at + 7, expires_at, details FROM escapement_results",
    );
    expect(await count("escapement_labels")).toBe(1);
    const { items } = await store.getJobResults({ labels: BILLING, limit: 9, cursor: null }, T0);
    expect(items.map(({ finishedAt }) => finishedAt)).toEqual([T0 + 12]);
  });

  test("keeps no statement from removing a damaged row", async () => {
    const { store, client, count } = await open();
    await store.addJobs([makeJob({ labels: BILLING }), makeJob({ id: "other", labels: BILLING })]);
    for (const details of ['{"labels":{"team":', '{"labels":["a"]}', '{"labels":7}', "x''"]) {
      await client.execute({ sql: "UPDATE escapement_jobs SET details = ? WHERE id = 'job'", args: [details] });
    }
    const { items } = await store.getJobs({ labels: BILLING, limit: 9, cursor: null });
    expect(items.map(({ id }) => id)).toEqual(["other"]);
    await client.execute("DELETE FROM escapement_jobs");
    expect(await count("escapement_labels")).toBe(0);
  });

  test("comes with a job that an application adds in a transaction of its own", async () => {
    const { store, client } = await open();
    const statements = await store.prepareAddition(makeJob({ labels: BILLING }));
    await client.batch(statements, "write");
    const { items } = await store.getJobs({ labels: BILLING, limit: 9, cursor: null });
    expect(items.map(({ id, labels }) => [id, labels])).toEqual([["job", BILLING]]);
  });

  test("is there after a reset too, where another process may count on it", async () => {
    const { store, client } = await open();
    await store.addJobs([makeJob({ labels: BILLING })]);
    const other = new LibsqlDataStore({ client }, { reset: true });
    await other.open(T0);
    await store.addJobs([makeJob({ id: "after", labels: BILLING })]);
    const { items } = await other.getJobs({ labels: BILLING, limit: 9, cursor: null });
    expect(items.map(({ id }) => id)).toEqual(["after"]);
  });

  test("reads no more rows for a page, however many records have other labels, or none", async () => {
    const { store, sent } = await open();
    for (let start = 0; start < 20_000; start += 1000) {
      const jobs = makeJobs(1000).map((job, index) => ({
        ...job,
        id: `job-${String(start + index).padStart(6, "0")}`,
        ...(index === 999 ? { labels: BILLING } : index % 2 === 0 ? { labels: { team: "mail" } } : {}),
      }));
      await store.addJobs(jobs);
    }
    sent.length = 0;
    const page = await store.getJobs({ labels: BILLING, limit: 50, cursor: null });
    expect([page.items.length, page.cursor, sent.length]).toEqual([20, null, 1]);
    const sorted = await store.getJobs({ labels: BILLING, sort: "runAt", limit: 50, cursor: null });
    expect([sorted.items.length, sorted.cursor]).toEqual([20, null]);
    expect(20_000).toBeGreaterThan(SCANNED_ROWS_MAX);
  });

  test("removes the labels of a job by their key, however many there are", async () => {
    const { store, client } = await open();
    await store.addJobs([makeJob({ labels: BILLING })]);
    const { rows } = await client.execute(
      "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%DELETE FROM escapement_labels%'",
    );
    expect(rows).toHaveLength(6);
    for (const { sql } of rows) {
      const [removal = ""] = /DELETE FROM escapement_labels [^;]*/.exec(String(sql)) ?? [];
      const ofTables = removal
        .replaceAll(/(OLD|NEW)\.(job_id|id|details)/g, "'x'")
        .replaceAll(/(OLD|NEW)\.finished_at/g, "1");
      const plan = await client.execute(`EXPLAIN QUERY PLAN ${ofTables}`);
      const key = "SEARCH escapement_labels USING PRIMARY KEY (kind=? AND name=? AND value=? AND at=? AND id=?)";
      expect(plan.rows.map(({ detail }) => detail)).toContain(key);
    }
  });

  test("of more jobs than are sorted leaves the order to an index", async () => {
    const { store } = await open();
    for (let start = 0; start < 11_000; start += 1000) {
      await store.addJobs(
        makeJobs(1000).map((job, index) => ({
          ...job,
          ...{ id: `job-${start + index}`, labels: BILLING, runAt: T0 + 99_999 - start - index },
        })),
      );
    }
    const { items } = await store.getJobs({ labels: BILLING, sort: "runAt", limit: 2, cursor: null });
    expect(items.map(({ id }) => id)).toEqual(["job-10999", "job-10998"]);
  });
});
