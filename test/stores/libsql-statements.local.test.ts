import { createClient, type ResultSet } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StoreRefusedError } from "../../src/core/errors.ts";
import { type LibsqlClient, LibsqlDataStore, type SqlStatement } from "../../src/stores/libsql/mod.ts";
import { LEASE_GUARD } from "../../src/stores/sql/driver/driver-and-failures.ts";
import {
  ACQUISITION_ARMS_MAX,
  INSPECTED_COUNT_MAX,
  SCANNED_ROWS_MAX,
  SCANS_PER_PAGE_MAX,
} from "../../src/stores/sql/limits.ts";
import type { LookForm } from "../../src/stores/sql/look/look-for-work.ts";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { makeStatements } from "../../src/stores/sql/sqlite/all-statements.ts";
import { FEW_JOBS_MAX } from "../../src/stores/sql/sqlite/limits.ts";
import { lookStatement } from "../../src/stores/sql/sqlite/look/look-for-work.ts";
import {
  add,
  cancel,
  commit,
  extend,
  finish,
  look,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  release,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { openWithTables } from "./local-stores.ts";

/** A client that counts its round trips. */
function counting(inner: LibsqlClient): LibsqlClient & { trips: number; batches: number; statements: SqlStatement[] } {
  const counter = {
    trips: 0,
    batches: 0,
    statements: [] as SqlStatement[],
    protocol: "file",
    execute(statement: SqlStatement) {
      counter.trips++;
      counter.statements.push(statement);
      return inner.execute(statement);
    },
    batch(statements: SqlStatement[], mode: "write") {
      counter.trips++;
      counter.batches++;
      counter.statements.push(...statements);
      return inner.batch(statements, mode);
    },
    close: () => inner.close(),
  };
  return counter;
}

describe("statements of LibsqlDataStore", () => {
  const names = tableNames("escapement_");
  const statements = Object.entries(makeStatements(names)).flatMap(([name, sql]) =>
    typeof sql === "string"
      ? [{ name, sql }]
      : Object.entries<string | readonly string[]>(sql).flatMap(([key, texts]) =>
          typeof texts === "string"
            ? [{ name: `${name}[${key}]`, sql: texts }]
            : texts.map((text, place) => ({ name: `${name}[${key}][${place}]`, sql: text })),
        ),
  );
  for (const form of lookForms()) {
    statements.push({ name: `look ${JSON.stringify(form)}`, sql: lookStatement(names, form) });
  }
  const client = createClient({ url: ":memory:" });
  let tables: string[] = [];

  beforeAll(async () => {
    const store = new LibsqlDataStore({ client });
    await openWithTables(store);
    const found = await client.execute("SELECT name FROM sqlite_master WHERE type = 'table'");
    tables = found.rows.map((row) => String(row[0]));
  });
  afterAll(() => client.close());

  /** Steps of the plan that read a table, or an index, from end to end. */
  async function fullScans(sql: string): Promise<string[]> {
    const plan = await client.execute(`EXPLAIN QUERY PLAN ${sql}`);
    // The plan names a table by its alias.
    const aliases = [...sql.matchAll(/\bescapement_\w+ (?:AS )?([a-z])\b/g)].map((match) => match[1]);
    const names = [...tables, ...aliases];
    return plan.rows
      .map((row) => String(row.detail))
      .filter((step) => names.includes(/^SCAN (\w+)/.exec(step)?.[1] ?? ""));
  }

  test("the test sees a full scan, also of an aliased table and of an index", async () => {
    expect(await fullScans("SELECT * FROM escapement_jobs WHERE fence = 1")).not.toEqual([]);
    expect(await fullScans("SELECT * FROM json_each('[]') e JOIN escapement_jobs j ON j.fence = e.value")).not.toEqual(
      [],
    );
    expect(await fullScans("SELECT id FROM escapement_jobs")).not.toEqual([]);
  });

  /** The steps of a plan that read the jobs of a task, a state each. */
  const OF_TASK = [
    "escapement_jobs_ready (task_id=?)",
    "escapement_jobs_task (task_id=?)",
    "escapement_jobs_keyed (task_id=? AND state>?)",
    "escapement_jobs_leased (acquired_until>?)",
  ];

  test("whether a task is in use is found by the indexes of states", async () => {
    const { isTaskInUse, removeTask } = makeStatements(names);
    for (const sql of [isTaskInUse, removeTask]) {
      const plan = await client.execute(`EXPLAIN QUERY PLAN ${sql}`);
      const steps = plan.rows.map((row) => String(row.detail)).filter((step) => step.includes("escapement_jobs"));
      expect(steps.map((step) => step.replace(/^SEARCH escapement_jobs USING (COVERING )?INDEX /, ""))).toEqual(
        OF_TASK,
      );
    }
  });

  /** The steps of the plan of a page that find the rows of its scan, and whether these rows are sorted. */
  async function scanOf(sql: string): Promise<string[]> {
    const plan = await client.execute(`EXPLAIN QUERY PLAN ${sql}`);
    const details = plan.rows.map((row) => String(row.detail));
    // What comes after reads the rows of the scan, by their keys.
    const end = details.findIndex((step) => /^SCAN w\b/.test(step));
    return details
      .slice(0, end)
      .filter((step) => /^(SCAN|SEARCH) (escapement_|[ljs] )|TEMP B-TREE FOR/.test(step))
      .map((step) => step.replace(/^SEARCH (escapement_\w+|[ljs]) USING (COVERING )?(INDEX )?/, ""));
  }

  const { getResults, getJobs, getSchedules } = makeStatements(names);

  for (const [key, sql] of Object.entries(getResults)) {
    test(`the results of "${key}" come from an index in the order of the ends, and are not sorted`, async () => {
      const [index] = key.split(" ");
      if (index === "label") {
        const ofLabel = "PRIMARY KEY (kind=? AND name=? AND value=? AND at>? AND at<?)";
        // Those of one instant are sorted.
        const steps = [
          ofLabel,
          "sqlite_autoindex_escapement_results_1 (job_id=?)",
          expect.stringMatching(/^USE TEMP B-TREE FOR (LAST TERM|RIGHT PART) OF ORDER BY$/),
        ];
        expect(await scanOf(sql)).toEqual(steps);
        return;
      }
      const parts = index === "unsuccessful" ? 5 : 1;
      const suffix = { all: "finished", task: "task", schedule: "schedule" }[index ?? ""] ?? "unsuccessful";
      const equal = index === "all" ? "" : "\\w+=\\? AND ";
      const range = `\\(${equal}finished_at>\\? AND finished_at<\\?\\)`;
      const part = expect.stringMatching(new RegExp(`^escapement_results_${suffix} ${range}$`));
      expect(await scanOf(sql)).toEqual(Array(parts).fill(part));
    });
  }

  const OF_ID = "sqlite_autoindex_escapement_jobs_1 (id=?)";
  const SORTED = "USE TEMP B-TREE FOR ORDER BY";

  for (const [key, sql] of Object.entries(getJobs)) {
    test(`the jobs of "${key}" come from an index, and few of them are sorted`, async () => {
      const isByTime = key.includes(" by time ");
      const [index = "", order] = key.replace(" by time", "").split(" ");
      const id = order === "oldest" ? "id>?" : "id<?";
      const plans: Record<string, string[]> = {
        all: [`sqlite_autoindex_escapement_jobs_1 (${id})`],
        task: [...OF_TASK, `sqlite_autoindex_escapement_jobs_1 (${id})`],
        schedule: ["escapement_jobs_schedule (schedule_id=?)", SORTED],
        running: ["escapement_jobs_leased (acquired_until>?)", SORTED],
        label: [`PRIMARY KEY (kind=? AND name=? AND value=? AND at=? AND ${id})`, OF_ID],
        backfill: ["sqlite_autoindex_escapement_jobs_1 (id>? AND id<?)"],
      };
      const time = order === "oldest" ? "run_at>?" : "run_at<?";
      const others = (ofTask: string): string[] => [
        `escapement_jobs_delayed (${time})`,
        // The rows that are read, which are sorted already.
        SORTED,
        `escapement_jobs_ready (task_id${ofTask}?)`,
        "escapement_jobs_keyed (task_id=? AND state>?)",
        "escapement_jobs_leased (acquired_until>?)",
        SORTED,
      ];
      const nextKeyed = "escapement_jobs_keyed (task_id>?)";
      const byTime: Record<string, string[]> = {
        ...plans,
        all: [nextKeyed, nextKeyed, ...others(">")],
        task: others("="),
        label: ["PRIMARY KEY (kind=? AND name=? AND value=? AND at=?)", OF_ID, SORTED],
        backfill: [...(plans.backfill ?? []), SORTED],
      };
      const expected = isByTime ? byTime[index] : plans[index];
      expect((await scanOf(sql)).toSorted()).toEqual(expected?.toSorted());
    });
  }

  for (const [key, sql] of Object.entries(getSchedules)) {
    test(`the schedules of "${key}" come from indexes, and few of them are sorted`, async () => {
      const waiting = ["escapement_schedules_due (next_fire_time>?)"];
      const paused = ["escapement_schedules_paused (id>?)", SORTED];
      const ended = ["escapement_schedules_exhausted (id>?)"];
      const plans: Record<string, string[]> = {
        "all by id": ["sqlite_autoindex_escapement_schedules_1 (id>?)"],
        "task by id": ["escapement_schedules_task (task_id=? AND id>?)"],
        "paused by id": ["escapement_schedules_paused (id>?)"],
        "failing by id": ["escapement_schedules_failing (id>?)"],
        "ended by id": ended,
        "all by time": [...waiting, ...paused, ...ended, SORTED],
        "active by time": waiting,
        "paused by time": paused,
        "named by id": ["sqlite_autoindex_escapement_schedules_1 (id=?)"],
        "ended by time": [...ended, SORTED],
        "label by id": [
          "PRIMARY KEY (kind=? AND name=? AND value=? AND at=? AND id>?)",
          "sqlite_autoindex_escapement_schedules_1 (id=?)",
        ],
      };
      expect((await scanOf(sql)).toSorted()).toEqual(plans[key]?.toSorted());
    });
  }

  for (const { name, sql } of statements) {
    test(`${name} reads no table from end to end`, async () => {
      expect(await fullScans(sql)).toEqual([]);
    });

    test(`${name} stays prepared whatever its limit is`, () => {
      expect(sql).not.toMatch(/LIMIT \?/);
    });

    // What D1 and Durable Objects take: a hundred parameters, 100 KB of text, 32 arguments of a function, 5 parts of a
    // compound select. Clients that give rows as objects need a name for each column.
    test(`${name} is one that the databases of clouds take`, async () => {
      const parameters = [...sql.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]));
      const count = Math.max(0, ...parameters);
      expect(count).toBeLessThanOrEqual(100);
      expect(new TextEncoder().encode(sql).length).toBeLessThan(20_000);
      expect(partsMax(sql)).toBeLessThanOrEqual(5);
      const run = (value: null | 0): Promise<ResultSet> =>
        client.execute({ sql, args: Array.from({ length: count }, () => value) });
      if (name === "guardStep") {
        // It fails where the step is not there, and names its columns where it is.
        await expect(run(null)).rejects.toThrow(LEASE_GUARD);
        expect(sql).toMatch(/ AS guard$/);
        return;
      }
      // No rows at all, or where a limit is needed none either.
      const { columns } = await run(null).catch(() => run(0));
      expect(columns).toEqual([...new Set(columns)]);
      expect(columns.filter((column) => !/^[a-z_]+$/.test(column))).toEqual([]);
    });
  }
});

test("the parts of a compound select are counted at every depth", () => {
  expect(partsMax("SELECT (SELECT 1 UNION SELECT max(2) UNION ALL SELECT 3) UNION ALL SELECT 4")).toBe(3);
});

/** How many parts the largest compound select of a statement has. */
function partsMax(sql: string): number {
  let most = 0;
  // From the innermost parentheses outwards.
  for (let rest = sql, last = ""; rest !== last; ) {
    last = rest;
    rest = rest.replace(/\([^()]*\)/g, (text) => {
      most = Math.max(most, text.split(/UNION(?: ALL)?/).length);
      return "";
    });
    most = Math.max(most, rest.includes("(") ? 0 : rest.split(/UNION(?: ALL)?/).length);
  }
  return most;
}

/** Every form that looks have. */
function lookForms(): LookForm[] {
  return (["off", "on"] as const).flatMap((flow) => formsOf(flow));
}

function formsOf(flow: LookForm["flow"]): LookForm[] {
  const few = Array.from({ length: ACQUISITION_ARMS_MAX }, (_, index) => index + 1);
  const forms: LookForm[] = [];
  for (const queues of [null, "many" as const, ...few]) {
    for (const schedules of [false, true]) {
      for (const tasks of [false, true]) {
        const more = { ledger: true, overdue: true, zoneRules: false, declared: false, uptime: false, now: true };
        const form = { queues, schedules, tasks, acquired: false, expired: false, ...more, flow };
        if (queues !== null || schedules || tasks) forms.push(form);
        forms.push({ ...form, expired: true }, { ...form, zoneRules: true }, { ...form, declared: true });
        forms.push({ ...form, uptime: true });
      }
      const commit = { tasks: false, acquired: true, expired: false, ledger: true, overdue: true, uptime: false };
      const now = false;
      if (queues !== null) forms.push({ queues, schedules, flow, now, ...commit, zoneRules: false, declared: false });
    }
  }
  return forms;
}

describe("round trips of LibsqlDataStore", () => {
  async function openCounting(): Promise<{ store: LibsqlDataStore; client: ReturnType<typeof counting> }> {
    const client = counting(createClient({ url: ":memory:" }));
    const store = new LibsqlDataStore({ client });
    await openWithTables(store);
    return { store, client };
  }

  /** Round trips of one call. */
  async function tripsOf(client: { trips: number }, call: () => Promise<unknown>): Promise<number> {
    const before = client.trips;
    await call();
    return client.trips - before;
  }

  for (const count of [1, 200]) {
    test(`firing ${count} due schedules, and running their jobs, takes a look and two commits`, async () => {
      const { store, client } = await openCounting();
      await store.putTasks([makeTask()]);
      const schedules = Array.from({ length: count }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      expect(await tripsOf(client, () => store.addSchedules(add(...schedules)))).toBe(1);
      const { batches } = client;
      const trips = await tripsOf(client, async () => {
        const { due } = await look(store, { schedules: { limit: count } });
        expect(due.length).toBe(count);
        const { acquired } = await commit(store, { limit: count, plans: due.map((schedule) => planOf(schedule)) });
        expect(acquired.length).toBe(count);
        const last = await commit(store, { releases: acquired.map((job) => finish(job)), schedules: {} });
        expect(last.releases.every((status) => status === "released")).toBe(true);
      });
      expect([trips, client.batches - batches]).toEqual([3, 2]);
    });
  }

  test("a look is one statement outside of any transaction, in any view", async () => {
    const { store, client } = await openCounting();
    const queues = Array.from({ length: 9 }, (_, index) => ({ executor: "inline", taskId: `task-${index}` }));
    const views = [{}, { queues }, { schedules: {} }, { schedules: {}, jobs: null }, { tasks: [makeTask()] }];
    for (const view of views) {
      client.statements.length = 0;
      const { batches } = client;
      await look(store, view);
      expect([client.statements.length, client.batches]).toEqual([1, batches]);
    }
  });

  test("every other call takes one, a commit whose releases are fenced two", async () => {
    const { store, client } = await openCounting();
    expect(await tripsOf(client, () => store.putTasks([makeTask()]))).toBe(1);
    expect(await tripsOf(client, () => store.addJobs(makeJobs(1000)))).toBe(1);
    expect(await tripsOf(client, () => store.getJob("job-00000"))).toBe(1);
    expect(await tripsOf(client, () => store.getJobs({ limit: 10, cursor: null }))).toBe(1);
    expect(await tripsOf(client, () => cancel(store, "job-00000", T0))).toBe(1);
    const { acquired } = await take(store);
    const jobs = acquired.map(({ id, fence }) => ({ jobId: id, fence }));
    expect(await tripsOf(client, () => extend(store, jobs, { until: T0 + 1, aliveUntil: T0 + 1 }))).toBe(1);
    expect(await tripsOf(client, () => take(store, { now: T0 + 1 }))).toBe(1);
    expect(await tripsOf(client, () => release(store, [finish(makeJob())]))).toBe(2);
    expect(await tripsOf(client, () => release(store, [finish(makeJob())], { isRepetition: true }))).toBe(1);
    const surrender = { now: T0, schedulerId: "x", instanceId: "x#", aliveUntil: null };
    expect(await tripsOf(client, () => store.giveUpLeases(surrender))).toBe(1);
    expect(await tripsOf(client, () => store.cleanup({ now: T0, limit: 10 }))).toBe(1);
  });

  test("additions to a local database are one statement, without a transaction around it", async () => {
    const { store, client } = await openCounting();
    const { batches } = client;
    client.statements.length = 0;
    await store.addJobs([makeJob()]);
    await store.addJobs(makeJobs(1000));
    expect([client.statements.length, client.batches - batches]).toEqual([2, 0]);
    expect((await store.getJobs({ limit: 2000, cursor: null })).items.length).toBe(1001);
  });

  test("additions that are asked for at once, and while one is in flight, travel together", async () => {
    const { store, client } = await openCounting();
    const trips = await tripsOf(client, () =>
      Promise.all(Array.from({ length: 200 }, (_, index) => store.addJobs([makeJob({ id: numbered("a", index) })]))),
    );
    expect(trips).toBe(1);
  });

  test("a job that the database refuses does not fail the additions that travel with it", async () => {
    const { store } = await openCounting();
    // NaN is no JSON, so the row has no priority, which the table refuses.
    const bad = store.addJobs([makeJob({ id: "bad", priority: Number.NaN })]);
    const good = store.addJobs([makeJob({ id: "good" })]);
    await expect(bad).rejects.toBeInstanceOf(StoreRefusedError);
    expect((await good)[0]?.isNew).toBe(true);
  });
});

/** The most steps of SQLite's virtual machine that one of the statements took. They are listed until collected. */
async function stepsMax(client: Pick<LibsqlClient, "execute">, statements: readonly SqlStatement[]): Promise<number> {
  const sql = "SELECT max(nstep) AS most FROM sqlite_stmt WHERE sql IN (SELECT value FROM json_each(?1))";
  // A client that keeps its statements keeps this one, too, which takes more steps the more statements are listed.
  const texts = JSON.stringify(statements.map((one) => one.sql).filter((text) => text !== sql));
  return Number((await client.execute({ sql, args: [texts] })).rows[0]?.most);
}

describe("twenty thousand schedules", () => {
  const client = counting(createClient({ url: ":memory:" }));
  const store = new LibsqlDataStore({ client });
  beforeAll(async () => {
    await store.open(T0);
    for (let round = 0; round < 20; round++) {
      // Half of them are due, all at one instant, and the others later.
      const schedules = Array.from({ length: 1000 }, (_, index) =>
        makeSchedule({ id: numbered(`s-${round}`, index), nextFireTime: T0 + (index % 2) * 60_000 }),
      );
      await store.addSchedules(add(...schedules));
    }
  });
  afterAll(() => client.close());

  test("cost a page by fire time no more than the page", async () => {
    client.statements.length = 0;
    const { items, cursor } = await store.getSchedules({ limit: 5, cursor: null, sort: "nextFireTime" });
    const next = await store.getSchedules({ limit: 5, cursor, sort: "nextFireTime", state: "active" });
    expect([...items, ...next.items].map(({ id }) => id)).toEqual(
      [0, 2, 4, 6, 8, 10, 12, 14, 16, 18].map((index) => numbered("s-0", index)),
    );
    expect(await stepsMax(client, client.statements)).toBeLessThan(2500);
  });

  test("cost a look and a commit no more than those that they show and plan", async () => {
    for (let round = 0; round < 3; round++) {
      client.statements.length = 0;
      const { due } = await look(store, { schedules: { limit: 5 } });
      expect(due.length).toBe(5);
      const { plans } = await commit(store, {
        plans: due.map((schedule) => planOf(schedule)),
        schedules: { limit: 5 },
      });
      expect(plans.filter(({ committed }) => committed).length).toBe(5);
      expect(await stepsMax(client, client.statements)).toBeGreaterThan(0);
      expect(await stepsMax(client, client.statements)).toBeLessThan(2500);
    }
  });
});

describe("a hundred thousand delayed jobs of high priority", () => {
  const client = counting(createClient({ url: ":memory:" }));
  const store = new LibsqlDataStore({ client });
  beforeAll(async () => {
    await store.open(T0);
    const late = { priority: 100, runAt: T0 + 1_000_000 };
    for (let round = 0; round < 20; round++) {
      await store.addJobs(
        Array.from({ length: 5000 }, (_, index) => makeJob({ id: numbered(`late-${round}`, index), ...late })),
      );
    }
  });
  afterAll(() => client.close?.());

  test("cost an acquisition nothing", async () => {
    for (let round = 0; round < 5; round++) {
      await store.addJobs([makeJob({ id: `ready-${round}` })]);
      client.statements.length = 0;
      const { acquired } = await take(store);
      expect(acquired.map(({ id }) => id)).toEqual([`ready-${round}`]);
      expect(await stepsMax(client, client.statements)).toBeGreaterThan(0);
      expect(await stepsMax(client, client.statements)).toBeLessThan(3000);
    }
  });

  test("are looked through in statements of bounded length, and in pages of bounded length", async () => {
    client.statements.length = 0;
    const page = { limit: 10, search: "late-9-04999" };
    const first = await store.getJobs({ ...page, cursor: null });
    expect([first.items, client.statements.length]).toEqual([[], SCANS_PER_PAGE_MAX]);
    expect(await stepsMax(client, client.statements)).toBeLessThan(100 * SCANNED_ROWS_MAX);
    const found: string[] = [];
    for (let { cursor } = first; cursor !== null; ) {
      const next = await store.getJobs({ ...page, cursor });
      found.push(...next.items.map(({ id }) => id));
      ({ cursor } = next);
    }
    expect(found).toEqual(["late-9-04999"]);
  });

  test("cost a page of the newest no more than the page", async () => {
    client.statements.length = 0;
    const { items } = await store.getJobs({ limit: 2, cursor: "late-9-05", order: "newest" });
    expect(items.map(({ id }) => id)).toEqual(["late-9-04999", "late-9-04998"]);
    expect(await stepsMax(client, client.statements)).toBeLessThan(1000);
  });

  test("cost a page of a task with few jobs no more than these, and one of their own task no more than twice a bound", async () => {
    await store.addJobs([1, 2, 3].map((index) => makeJob({ id: `rare-${index}`, taskId: "rare" })));
    client.statements.length = 0;
    const rare = await store.getJobs({ limit: 2, cursor: "rare-1", taskId: "rare" });
    expect([rare.items.map(({ id }) => id), rare.cursor]).toEqual([["rare-2", "rare-3"], null]);
    expect(await stepsMax(client, client.statements)).toBeLessThan(1000);
    client.statements.length = 0;
    const { items } = await store.getJobs({ limit: 2, cursor: "late-9-05", order: "newest", taskId: "task" });
    expect(items.map(({ id }) => id)).toEqual(["late-9-04999", "late-9-04998"]);
    expect(client.statements.length).toBe(1);
    expect(await stepsMax(client, client.statements)).toBeLessThan(100 * FEW_JOBS_MAX);
    for (const { id } of [...rare.items, { id: "rare-1" }]) await cancel(store, id, T0);
  });

  test("are counted to a bound", async () => {
    client.statements.length = 0;
    const { tasks } = await store.inspect(T0);
    expect(tasks).toEqual([{ taskId: "task", waiting: INSPECTED_COUNT_MAX, running: 5, isQueuedCapped: true }]);
    expect(await stepsMax(client, client.statements)).toBeLessThan(20 * INSPECTED_COUNT_MAX);
    const whole = await store.inspect(T0, { countMax: 20 * INSPECTED_COUNT_MAX });
    expect(whole.tasks).toEqual([{ taskId: "task", waiting: 100_000, running: 5 }]);
  });

  test("would be seen if they were read", async () => {
    const statement = { sql: "SELECT count(*) FROM escapement_jobs WHERE fence = 1", args: [] };
    await client.execute(statement);
    expect(await stepsMax(client, [statement])).toBeGreaterThan(100_000);
  });
});
