import { afterEach, beforeEach, expect, test } from "vitest";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { Connection } from "../../src/stores/sqlite/connection.ts";
import { migrate } from "../../src/stores/sqlite/migrations.ts";
import { SqlDataStore, type SqlValue } from "../../src/stores/sqlite/mod.ts";
import { MIGRATIONS, tableNames } from "../../src/stores/sqlite/schema.ts";
import { entriesOf, makeSkip, skipOf } from "../../src/testing/data-store-contract/ledger-makers.ts";
import {
  add,
  commit,
  finish,
  LEASE_MS,
  look,
  makeJob,
  makeResult,
  makeSchedule,
  makeTask,
  planOf,
  release,
  step,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { openWithTables } from "./local-stores.ts";

/** How long a process of version 1 leased a schedule. */
const OLD_LEASE_END = T0 + 30_000;

let driver: LibsqlDriver;
let store: SqlDataStore;

beforeEach(async () => {
  driver = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });
  await driver.open();
});
afterEach(() => driver.close());

async function run(sql: string, ...args: SqlValue[]): Promise<readonly unknown[]> {
  return driver.execute({ sql, args });
}

/** A store on the test's database, which it does not open, since a memory would be a new one. */
async function openStore(): Promise<void> {
  store = new SqlDataStore({
    isLocal: true,
    execute: (statement) => driver.execute(statement),
    batch: (statements) => driver.batch(statements),
    failureKind: driver.failureKind,
  });
  await openWithTables(store);
}

/** What a process of version 1 does to a schedule that is due. */
async function leaseAsVersion1(id: string): Promise<void> {
  await run(
    "UPDATE escapement_schedules SET acquired_by = 'old', acquired_until = ?1, acquisition_id = 'o', " +
      "fence = fence + 1 WHERE id = ?2",
    OLD_LEASE_END,
    id,
  );
}

/** Its commit, which leaves the fence alone. */
function commitAsVersion1(id: string, fence: number): Promise<readonly unknown[]> {
  return run(
    "UPDATE escapement_schedules SET next_fire_time = ?1, last_fire_time = ?2, acquired_by = NULL, " +
      "acquired_until = NULL, acquisition_id = NULL WHERE id = ?3 AND fence = ?4 AND acquired_by = 'old' RETURNING id",
    T0 + 60_000,
    T0,
    id,
    fence,
  );
}

test("a database of version 1 keeps all of its data, and its schedules lose their leases", async () => {
  const connection = new Connection(driver, { where: "the test", random: Math.random, timeoutMs: 1000 });
  await migrate(connection, tableNames("escapement_"), MIGRATIONS.slice(0, 1), T0);
  const details = JSON.stringify({
    ...{ payload: '"p"', executor: "inline", priority: 2, coalesce: "latest", misfireGraceMs: null, maxJitterMs: 0 },
    ...{ maxCatchUp: null, resultExpirationMs: 5, maxRecoveries: 3 },
  });
  const addSchedule =
    "INSERT INTO escapement_schedules (id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, " +
    "last_fire_time, acquired_by, acquired_until, acquisition_id, fence, metadata, details) " +
    `VALUES (?1, 'task', '{"type":"interval","start":1}', '{"type":"interval"}', ?2, ?3, ?3, NULL, ?4, ?5, ?6, 7, '{"m":null}', ?7)`;
  await run(addSchedule, "free", 0, T0, null, null, null, details);
  await run(addSchedule, "leased", 0, T0, "old", OLD_LEASE_END, "o", details);
  await run(addSchedule, "lost", 0, T0, "dead", T0 - 5, "d", details);
  await run(addSchedule, "paused", 1, T0, null, null, null, details);
  const addJob =
    "INSERT INTO escapement_jobs (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, " +
    "state, acquired_by, acquired_until, acquisition_id, fence, failed_attempts, recoveries, cancel_requested, details) " +
    "VALUES (?1, 'task', 'inline', NULL, NULL, ?2, 0, ?3, ?4, ?5, ?6, ?7, 4, 0, 0, 0, ?8)";
  const jobDetails = `{"createdAt":${T0},"resultExpirationMs":86400000,"maxRecoveries":3,"metadata":{}}`;
  await run(addJob, "delayed", null, T0 + 9, 0, null, null, null, jobDetails);
  await run(addJob, "ready", "key", T0, 1, null, null, null, jobDetails);
  await run(addJob, "leased", null, T0, 2, "scheduler-a", T0 + LEASE_MS, "acquisition", jobDetails);
  await run(addJob, "lost", null, T0, 2, "dead", T0 - 1, "acquisition", jobDetails);
  await run(
    "INSERT INTO escapement_results VALUES ('done', 'task', NULL, 'success', ?1, ?2)",
    T0 + 86_400_000,
    `{"startedAt":${T0},"finishedAt":${T0 + 5},"attempts":1,"returnValue":"\\"done\\""}`,
  );
  await run("INSERT INTO escapement_tasks VALUES ('task', 2, '{}')");

  await openStore();
  const schedule = makeSchedule({
    ...{ payload: '"p"', priority: 2, resultExpirationMs: 5, metadata: { m: null }, createdAt: T0, nextFireTime: T0 },
  });
  expect((await store.getSchedules({ limit: 9, cursor: null })).items).toEqual([
    { ...schedule, id: "free", fence: 7 },
    { ...schedule, id: "leased", fence: 8 },
    { ...schedule, id: "lost", fence: 8 },
    { ...schedule, id: "paused", paused: true, fence: 7 },
  ]);
  expect((await store.getJobs({ limit: 9, cursor: null })).items.map(({ id, fence }) => [id, fence])).toEqual([
    ["delayed", 4],
    ["leased", 4],
    ["lost", 4],
    ["ready", 4],
  ]);
  const { job: _unknown, ...result } = makeResult(makeJob({ id: "done" }));
  expect(await store.getJobResult("done", T0)).toEqual(result);

  const seen = await look(store, { schedules: {}, tasks: [makeTask({ maxRunningJobs: 2 })] });
  expect({ ...seen, due: seen.due.map(({ id, favourite }) => [id, favourite]) }).toEqual({
    due: ["free", "leased", "lost"].map((id) => [id, null]),
    nextFireAt: null,
    nextRunAt: T0 + 9,
    nextMissAt: null,
    leaseEndsAt: T0 - 1,
    hasReady: true,
    hasExpired: false,
    staleTaskIds: ["task"],
  });
  const report = await take(store, { plans: seen.due.slice(0, 2).map((one) => planOf(one)) });
  expect(report.plans.map(({ committed }) => committed)).toEqual([true, true]);
  expect(report.recovered.map(({ jobId }) => jobId)).toEqual(["lost"]);
  expect(report.acquired.map(({ id }) => id)).toEqual(["job of free"]);
  const leased = await store.getJob("leased");
  expect((await release(store, leased === null ? [] : [finish(leased)])).releases).toEqual(["released"]);
  expect(await run("SELECT version FROM escapement_schema ORDER BY version")).toMatchObject([
    { version: 1 },
    { version: 2 },
    { version: 3 },
    { version: 4 },
    { version: 5 },
    { version: 6 },
  ]);
});

test("a database of version 1 whose migration fails stays of version 1", async () => {
  const connection = new Connection(driver, { where: "the test", random: Math.random, timeoutMs: 1000 });
  await migrate(connection, tableNames("escapement_"), MIGRATIONS.slice(0, 1), T0);
  await run("CREATE TABLE escapement_steps (mine)");
  await expect(openStore()).rejects.toThrow(/escapement_steps/);
  expect(await run("SELECT version FROM escapement_schema")).toMatchObject([{ version: 1 }]);
  expect(await run("SELECT name FROM sqlite_master WHERE name LIKE '%schedulers'")).toEqual([]);
});

test("a schedule that a process of version 1 leases is not due, and its lease's end is told", async () => {
  await openStore();
  await store.addSchedules(add(makeSchedule()));
  const [seen] = (await look(store, { schedules: {} })).due;
  await leaseAsVersion1("schedule");
  const jobs = { nextRunAt: null, nextMissAt: null, leaseEndsAt: OLD_LEASE_END, hasReady: false };
  const expected = { due: [], nextFireAt: null, ...jobs };
  expect(await look(store, { schedules: {} })).toEqual({ ...expected, staleTaskIds: [], hasExpired: false });
  expect((await look(store, { schedules: {}, jobs: null })).leaseEndsAt).toBe(OLD_LEASE_END);
  if (seen === undefined) throw new Error("the schedule was not due");
  for (const fence of [seen.fence, seen.fence + 1]) {
    expect((await commit(store, [planOf({ ...seen, fence })])).plans).toEqual([{ committed: false, addedJobIds: [] }]);
  }
});

test("a schedule that a process of version 1 leases is in the lists, by its fire time too", async () => {
  await openStore();
  const ids = ["late", "leased", "paused"];
  await store.addSchedules(
    add(
      makeSchedule({ id: "late", nextFireTime: T0 + 9 }),
      makeSchedule({ id: "leased", nextFireTime: T0 + 5 }),
      makeSchedule({ id: "paused", nextFireTime: T0 + 1, paused: true }),
    ),
  );
  await leaseAsVersion1("leased");
  const listed = async (filter: object): Promise<string[]> => {
    const { items } = await store.getSchedules({ limit: 9, cursor: null, ...filter });
    return items.map(({ id }) => id);
  };
  expect(await listed({})).toEqual(ids);
  expect(await listed({ sort: "nextFireTime" })).toEqual(ids.toReversed());
  expect(await listed({ sort: "nextFireTime", state: "active" })).toEqual(["leased", "late"]);
});

test("the lease of a process of version 1 that died is recovered, and its late commit does not count", async () => {
  await openStore();
  await store.addSchedules(add(makeSchedule()));
  await leaseAsVersion1("schedule");
  const early = await take(store, { now: OLD_LEASE_END - 1, schedules: {} });
  expect([early.due, early.leaseEndsAt]).toEqual([[], OLD_LEASE_END]);
  const late = await take(store, { now: OLD_LEASE_END, schedules: {} });
  expect([late.due.map(({ id, fence }) => [id, fence]), late.leaseEndsAt]).toEqual([[["schedule", 2]], null]);
  expect(await commitAsVersion1("schedule", 1)).toEqual([]);
  const plans = late.due.map((schedule) => planOf(schedule));
  expect((await step(store, { now: OLD_LEASE_END, plans })).plans).toEqual([
    { committed: true, addedJobIds: ["job of schedule"] },
  ]);
});

test("a plan does not count when a process of version 1 has committed its own, which leaves the fence alone", async () => {
  await openStore();
  await store.addSchedules(add(makeSchedule()));
  await leaseAsVersion1("schedule");
  expect(await commitAsVersion1("schedule", 1)).toMatchObject([{ id: "schedule" }]);
  const stale = planOf({ id: "schedule", fence: 1, nextFireTime: T0 });
  expect((await commit(store, [stale])).plans).toEqual([{ committed: false, addedJobIds: [] }]);
  expect((await look(store, { schedules: {} })).nextFireAt).toBe(T0 + 60_000);
});

test("a change, and a scheduler that comes back, end the lease of a process of version 1", async () => {
  await openStore();
  const ids = ["updated", "replaced", "given up"];
  await store.addSchedules(add(...ids.map((id) => makeSchedule({ id }))));
  for (const id of ids) await leaseAsVersion1(id);
  await store.updateSchedule("updated", { priority: 1 });
  await store.addSchedules([{ schedule: makeSchedule({ id: "replaced" }), conflictPolicy: "replace" }]);
  await store.giveUpLeases({ now: T0, schedulerId: "old", incarnation: "new", aliveUntil: null });
  const { due, leaseEndsAt } = await look(store, { schedules: {} });
  expect([due.map(({ id, fence }) => [id, fence]), leaseEndsAt]).toEqual([
    [
      ["given up", 2],
      ["replaced", 2],
      ["updated", 2],
    ],
    null,
  ]);
});

/** Columns of a job, as every earlier version inserts it. */
const JOB_COLUMNS =
  "id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, acquired_by, " +
  "acquired_until, acquisition_id, fence, failed_attempts, recoveries, cancel_requested, details";

async function migrateTo(version: number): Promise<void> {
  const connection = new Connection(driver, { where: "the test", random: Math.random, timeoutMs: 1000 });
  await migrate(connection, tableNames("escapement_"), MIGRATIONS.slice(0, version), T0);
}

/** Adds rows as earlier versions did: text in JSON reaches the columns as it is. */
function addJob(...values: readonly (string | number | null)[]): Promise<readonly unknown[]> {
  const fields = values.map((_, index) => `value->>${index}`).join(", ");
  return run(
    `INSERT INTO escapement_jobs (${JOB_COLUMNS}) SELECT ${fields} FROM json_each(?1)`,
    JSON.stringify([values]),
  );
}

const JOB_DETAILS = `{"createdAt":${T0},"resultExpirationMs":86400000,"maxRecoveries":3,"metadata":{}}`;

test("a database of version 2 keeps all of its data, and its living schedulers their leases", async () => {
  await migrateTo(2);
  await run('INSERT INTO escapement_tasks VALUES (\'task\', 2, \'{"executor":"inline","metadata":{}}\')');
  await run("INSERT INTO escapement_schedulers VALUES ('scheduler-a', 'old/', ?1)", T0 + 60_000);
  await addJob("ready", "task", "inline", null, null, "key", 0, T0, 1, null, null, null, 4, 0, 0, 0, JOB_DETAILS);
  const lease = ["scheduler-a", T0 + LEASE_MS, "old/1", 4, 0, 1, 0, JOB_DETAILS];
  await addJob("leased", "task", "inline", "s", T0, null, 0, T0, 2, ...lease);
  await run("INSERT INTO escapement_results VALUES ('done', 'task', NULL, 'success', ?1, '{}')", T0 + 86_400_000);
  await run("INSERT INTO escapement_steps VALUES ('stamp', ?1)", T0);

  await openStore();
  const leased = { scheduleId: "s", fireTime: T0, acquiredBy: "scheduler-a", acquiredUntil: T0 + LEASE_MS };
  expect((await store.getJobs({ taskId: "task", limit: 9, cursor: null })).items).toEqual([
    makeJob({ id: "leased", fence: 4, recoveries: 1, ...leased }),
    makeJob({ id: "ready", fence: 4, idempotencyKey: "key" }),
  ]);
  expect((await store.getTask("task"))?.declaration).toBeUndefined();
  expect((await store.getJobResult("done", T0))?.outcome).toBe("success");
  expect(await store.getSchedulers(T0)).toEqual([
    {
      identity: "scheduler-a",
      incarnation: "old/",
      aliveUntil: T0 + 60_000,
      role: "both",
      isResident: true,
      tasks: [],
      executors: [],
    },
  ]);
  const surrender = { now: T0, schedulerId: "scheduler-a", incarnation: "new/", aliveUntil: null };
  expect((await store.giveUpLeases(surrender)).recovered).toEqual([]);
  const late = await store.giveUpLeases({ ...surrender, now: T0 + 60_000 });
  expect(late.recovered.map(({ jobId }) => jobId)).toEqual(["leased"]);
  const [mine, others] = await store.addJobs([
    makeJob({ id: "a", idempotencyKey: "key" }),
    makeJob({ id: "b", taskId: "other", idempotencyKey: "key" }),
  ]);
  expect([mine?.job.id, others?.job.id]).toEqual(["ready", "b"]);
});

const SCHEDULE_DETAILS = '{"payload":"\\"p\\"","executor":"inline","priority":2,"coalesce":"all","maxRecoveries":3}';

/** Adds a schedule as versions 2 and 3 did. */
function addSchedule(id: string, fence: number): Promise<readonly unknown[]> {
  return run(
    "INSERT INTO escapement_schedules (id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, " +
      `last_fire_time, fence, metadata, details) VALUES (?1, 'task', '{"type":"interval","start":1}', ` +
      `'{"type":"interval"}', 0, ?2, ?2, NULL, ?3, '{}', ?4)`,
    id,
    T0,
    fence,
    SCHEDULE_DETAILS,
  );
}

test("a database of version 3 keeps all of its data, and its schedules queue their jobs and were never declared", async () => {
  await migrateTo(3);
  await run(`INSERT INTO escapement_tasks VALUES ('task', 2, '{"executor":"inline","metadata":{}}', 'as declared', 7)`);
  await addSchedule("schedule", 7);
  const lease = [null, null, null, 4, 0, 0, 0, JOB_DETAILS];
  await addJob("waiting", "task", "inline", "schedule", T0 - 1, null, 0, T0, 1, ...lease);

  await openStore();
  expect(await store.getTask("task")).toMatchObject({ overlap: "queue", declaration: "as declared", version: 7 });
  const stored = makeSchedule({ payload: '"p"', priority: 2, coalesce: "all", resultExpirationMs: 0, fence: 7 });
  expect(await store.getSchedule("schedule")).toEqual(stored);

  const declared = { ...stored, declaration: "a", version: 1, overlap: "replaceQueued" as const, fence: 0 };
  expect(await store.addSchedules([{ schedule: declared, conflictPolicy: "update" }])).toMatchObject({
    results: [{ change: "updated", schedule: { ...declared, fence: 8 } }],
  });
  const [due] = (await look(store, { schedules: {} })).due;
  if (due === undefined) throw new Error("the schedule is not due");
  const overlap = { policy: "replaceQueued", passed: 0, lastPassedTime: null } as const;
  const report = await step(store, { plans: [planOf(due, { overlap })] });
  expect(report.plans[0]?.overlap?.replaced).toEqual([{ jobId: "waiting", fireTime: T0 - 1 }]);
  expect(report.acquired.map(({ id }) => id)).toEqual(["job of schedule"]);
});

test("a database of version 4 keeps all of its data, and what waits and runs in it can be given limits", async () => {
  await migrateTo(4);
  await run(
    "INSERT INTO escapement_tasks (id, max_running_jobs, details) VALUES ('task', 2, ?1)",
    '{"executor":"inline","metadata":{}}',
  );
  await addSchedule("schedule", 7);
  const waiting = [null, null, null, 4, 0, 0, 0, JOB_DETAILS];
  await addJob("delayed", "task", "inline", null, null, null, 0, T0 + 5, 0, ...waiting);
  await addJob("ready", "task", "inline", null, null, "key", 0, T0, 1, ...waiting);
  await addJob("later", "task", "inline", null, null, null, 0, T0 + 1, 1, ...waiting);
  const lease = ["scheduler-a", T0 + LEASE_MS, "scheduler-a 1#0", 4, 0, 0, 0, JOB_DETAILS];
  await addJob("leased", "task", "inline", null, null, null, 0, T0, 2, ...lease);

  await openStore();
  const task = await store.getTask("task");
  expect([task?.maxRunningJobs, task?.paused, await store.getTaskPauses()]).toEqual([2, undefined, []]);
  const leased = { acquiredBy: "scheduler-a", acquiredUntil: T0 + LEASE_MS };
  expect((await store.getJobs({ limit: 9, cursor: null })).items).toEqual([
    makeJob({ id: "delayed", fence: 4, runAt: T0 + 5 }),
    makeJob({ id: "later", fence: 4, runAt: T0 + 1 }),
    makeJob({ id: "leased", fence: 4, ...leased }),
    makeJob({ id: "ready", fence: 4, idempotencyKey: "key" }),
  ]);
  await store.putTasks([makeTask({ maxRunningJobs: 2, rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
  const first = await step(store, { now: T0 + 6 });
  expect([first.acquired.map(({ id }) => id), first.hasReady]).toEqual([["ready"], false]);
  const running = makeJob({ id: "leased", fence: 4, ...leased });
  const second = await step(store, { now: T0 + 7, releases: [finish(running)] });
  expect([second.releases, second.acquired, second.nextRunAt]).toEqual([["released"], [], T0 + 1006]);
  expect((await step(store, { now: T0 + 1006 })).acquired.map(({ id }) => id)).toEqual(["later"]);
});

test("a process of version 4 that still runs acquires no job of a task with limits, and its jobs run", async () => {
  await openStore();
  await store.putTasks([makeTask({ maxRunningJobs: 3, maxRunningPerKey: 1 })]);
  await addJob("old", "task", "inline", null, null, null, 0, T0, 1, null, null, null, 0, 0, 0, 0, JOB_DETAILS);
  // How such a process counts what it may acquire.
  expect(await run("SELECT max_running_jobs AS n FROM escapement_tasks")).toMatchObject([{ n: 0 }]);
  expect((await take(store)).acquired.map(({ id }) => id)).toEqual(["old"]);
});

test("a process of version 3 that still runs adds schedules and fires them, whatever their overlap is", async () => {
  await openStore();
  await addSchedule("old", 3);
  expect(await store.getSchedule("old")).toMatchObject({ overlap: "queue", skippedCount: 0, fence: 3 });
  await store.updateSchedule("old", { overlap: "skip" });
  // Its plans name no overlap.
  const [due] = (await look(store, { schedules: {} })).due;
  const report = await commit(store, due === undefined ? [] : [planOf(due)]);
  expect(report.plans).toEqual([{ committed: true, addedJobIds: ["job of old"] }]);
  expect(await store.getSchedule("old")).toMatchObject({ overlap: "skip", skippedCount: 0 });
});

test("a process of version 2 that still runs says that it is alive, and adds jobs", async () => {
  await openStore();
  await run(
    "INSERT INTO escapement_schedulers (identity, incarnation, alive_until) VALUES ('old', 'o', 5) " +
      "ON CONFLICT (identity) DO UPDATE SET alive_until = excluded.alive_until",
  );
  await addJob("job", "task", "inline", null, null, "key", 0, T0, 1, null, null, null, 0, 0, 0, 0, JOB_DETAILS);
  expect((await take(store)).acquired.map(({ id, startedFence }) => [id, startedFence])).toEqual([["job", 0]]);
});

test.each([1, 2, 3, 4, 5])("the bounds of catch-up of version %d are read, and can be lifted", async (version) => {
  await migrateTo(version);
  for (const [id, maxCatchUp] of [
    ["bounded", 3],
    ["unbounded", null],
  ] as const) {
    const details = JSON.stringify({ executor: "inline", coalesce: "all", maxCatchUp });
    await run(
      "INSERT INTO escapement_schedules (id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, " +
        "fence, metadata, details) VALUES (?1, 'task', '{}', '{}', 0, ?2, ?2, 1, '{}', ?3)",
      ...[id, T0, details],
    );
  }
  await openStore();
  const catchUp = { maxAgeMs: null, maxCount: 3, paceMs: null };
  const facts = async (): Promise<unknown[]> =>
    (await store.getSchedules({ limit: 9, cursor: null })).items.map((schedule) => schedule.catchUp);
  expect(await facts()).toEqual([catchUp, null]);
  const { due } = await look(store, { schedules: {} });
  expect(due.map((schedule) => [schedule.catchUp, schedule.paceUntil])).toEqual([
    [catchUp, null],
    [null, null],
  ]);
  await store.updateSchedule("bounded", { priority: 1 });
  expect(await facts()).toEqual([catchUp, null]);
  await store.updateSchedule("bounded", { catchUp: null });
  expect(await facts()).toEqual([null, null]);
});

test.each([1, 2])("texts of version %d that no client can read become readable", async (version) => {
  const half = "Zoe \ud83d";
  const nul = "a\0b\0";
  await migrateTo(version);
  for (const [place, text] of [half, nul].entries()) {
    const task = JSON.stringify([text, '{"executor":"inline","metadata":{}}']);
    await run("INSERT INTO escapement_tasks (id, details) SELECT ?1->>0, ?1->>1", task);
    const details = JSON.stringify({ executor: text, priority: 0, resultExpirationMs: 5, maxRecoveries: 3 });
    await run(
      "INSERT INTO escapement_schedules (id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, " +
        "fence, metadata, details) SELECT ?1->>0, ?1->>0, '{}', '{}', 0, ?2, ?2, 1, '{}', ?1->>1",
      JSON.stringify([text, details]),
      T0,
    );
    const lease = [null, null, null, 0, 0, 0, 0, JOB_DETAILS];
    await addJob(`job-${place}`, text, text, text, T0 + 5, text, 0, T0, 1, ...lease);
    const result = "SELECT ?1->>0, ?1->>0, ?1->>0, 'success', ?2, '{}'";
    await run(`INSERT INTO escapement_results ${result}`, JSON.stringify([text]), T0 + 86_400_000);
  }
  const lease = [null, null, null, 0, 0, 0, 0, JOB_DETAILS];
  await addJob("job-2", half, "inline", null, null, "Zoe \ud83c", 0, T0, 1, ...lease);
  await openStore();
  expect((await store.getJob("job-2"))?.idempotencyKey).toMatch(/^Zoe \ufffd( \d+)?$/);
  const neutral = ["Zoe \ufffd", "a\ufffdb\ufffd"];
  expect((await store.getTasks()).map(({ id }) => id)).toEqual(neutral);
  const { items: schedules } = await store.getSchedules({ limit: 9, cursor: null });
  expect(schedules.map(({ id, taskId, executor }) => [id, taskId, executor])).toEqual(
    neutral.map((text) => [text, text, text]),
  );
  const { items: jobs } = await store.getJobs({ limit: 2, cursor: null });
  expect(jobs.map((job) => [job.taskId, job.executor, job.scheduleId, job.idempotencyKey])).toEqual(
    neutral.map((text) => [text, text, text, text]),
  );
  const results = await store.getJobResults({ limit: 9, cursor: null, order: "oldest" }, T0);
  expect(results.items.map(({ jobId, taskId, scheduleId }) => [jobId, taskId, scheduleId])).toEqual(
    neutral.map((text) => [text, text, text]),
  );
  const queues = neutral.map((text) => ({ executor: text, taskId: text }));
  expect((await take(store, { queues })).acquired.map(({ id }) => id)).toEqual(["job-0", "job-1"]);
});

test.each([1, 2, 3])(
  "the unfinished jobs of version %d are counted, and so are those of its processes",
  async (version) => {
    await migrateTo(version);
    const lease = ["scheduler-a", T0 + LEASE_MS, "old/1", 4, 0, 1, 0, JOB_DETAILS];
    const noLease = [null, null, null, 0, 0, 0, 0, JOB_DETAILS];
    await addJob("ready", "task", "inline", null, null, null, 0, T0, 1, ...noLease);
    await addJob("leased", "task", "inline", null, null, null, 0, T0, 2, ...lease);
    await addJob("other", "other", "inline", null, null, null, 0, T0, 0, ...noLease);
    await openStore();
    const { tasks } = await store.inspect(T0);
    expect(tasks).toEqual([
      { taskId: "other", waiting: 1, running: 0 },
      { taskId: "task", waiting: 1, running: 1 },
    ]);
    await addJob("late", "new", "inline", null, null, null, 0, T0, 1, ...noLease);
    await run("DELETE FROM escapement_jobs WHERE id IN ('ready', 'leased')");
    expect((await store.inspect(T0)).tasks).toEqual([
      { taskId: "new", waiting: 1, running: 0 },
      { taskId: "other", waiting: 1, running: 0 },
    ]);
  },
);

test("a job that an earlier version puts back does not spoil the turns of a task that has become fair", async () => {
  await openStore();
  await store.putTasks([makeTask()]);
  await store.addJobs([makeJob({ id: "old" })]);
  await take(store);
  await store.putTasks([makeTask({ fair: true })]);
  await run("UPDATE escapement_jobs SET state = 1, acquired_by = NULL, acquired_until = NULL WHERE id = 'old'");
  const one = { limit: 1 };
  const order: string[] = [];
  let { acquired } = await take(store, one);
  await store.addJobs(["a1", "a2", "a3"].map((id) => makeJob({ id, concurrencyKey: "a" })));
  await store.addJobs(["b1", "b2", "b3"].map((id) => makeJob({ id })));
  while (acquired.length > 0) {
    order.push(...acquired.map(({ id }) => id));
    ({ acquired } = await take(store, { ...one, releases: acquired.map((job) => finish(job)) }));
  }
  expect(order).toEqual(["old", "a1", "b1", "a2", "b2", "a3", "b3"]);
});

test.each([1, 2, 3, 4, 5])(
  "a database of version %d gets a ledger, which begins where its schedules are",
  async (version) => {
    await migrateTo(version);
    await addSchedule("fresh", 1);
    await addSchedule("fired", 1);
    await run(
      "UPDATE escapement_schedules SET last_fire_time = ?1, next_fire_time = ?2 WHERE id = 'fired'",
      T0,
      T0 + 1000,
    );
    await addSchedule("ended", 1);
    await run("UPDATE escapement_schedules SET last_fire_time = ?1, next_fire_time = NULL WHERE id = 'ended'", T0 + 5);
    const waiting = [null, null, null, 0, 0, 0, 0, JOB_DETAILS];
    await addJob("waiting", "task", "inline", "fired", T0, null, 0, T0, 1, ...waiting);
    const lease = ["scheduler-a", T0 + LEASE_MS, "scheduler-a 1#0", 4, 0, 0, 0, JOB_DETAILS];
    await addJob("leased", "task", "inline", "fired", T0 - 1000, null, 0, T0, 2, ...lease);
    await addJob("asked for", "task", "inline", "fired", null, null, 0, T0, 1, ...waiting);
    await addJob("alone", "task", "inline", null, null, null, 0, T0, 1, ...waiting);

    await openStore();
    const ledger = ledgerOf(store);
    const starts = await Promise.all(["fresh", "fired", "ended", "none"].map((id) => ledger.getLedgerStart(id)));
    expect(starts).toEqual([T0, T0 + 1, T0 + 6, null]);
    expect((await ledger.getJobOfFireTime("fired", T0))?.id).toBe("waiting");
    const { acquired } = await step(store, { now: T0 + 10 });
    const jobs = [...acquired, makeJob({ id: "leased", fence: 4, scheduleId: "fired", fireTime: T0 - 1000 })];
    await step(store, { now: T0 + 20, releases: jobs.map((job) => finish(job, { startedAt: T0 + 11 })) });
    const entries = await entriesOf(ledger, { scheduleId: "fired" });
    expect(entries.map((entry) => entry.kind === "run" && [entry.fireTime, entry.jobId, entry.createdAt])).toEqual([
      [T0 - 1000, "leased", T0],
      [T0, "waiting", T0],
    ]);
    const [due] = (await look(store, { now: T0 + 1000, schedules: {} })).due.filter(({ id }) => id === "fired");
    const skips = [makeSkip(T0 + 1000)];
    const plan = due === undefined ? [] : [planOf(due, { fires: [], skips })];
    expect((await commit(store, plan, { now: T0 + 1000 })).plans).toMatchObject([{ committed: true }]);
    expect((await entriesOf(ledger, { scheduleId: "fired" })).at(-1)).toEqual(skipOf(T0 + 1000));
    await store.cleanup({ now: T0 + 2000, limit: 100 });
    expect(await entriesOf(ledger, { scheduleId: "fired" })).toHaveLength(3);
  },
);

test("a process of version 5 that still runs adds schedules and jobs, and ends jobs, which leave no trace", async () => {
  await openStore();
  const ledger = ledgerOf(store);
  await store.addSchedules(add(makeSchedule({ id: "known" })));
  await addSchedule("old", 3);
  const waiting = [null, null, null, 0, 0, 0, 0, JOB_DETAILS];
  await addJob("ended by it", "task", "inline", "known", T0, null, 0, T0, 1, ...waiting);
  await addJob("of its schedule", "task", "inline", "old", T0, null, 0, T0, 1, ...waiting);
  await addJob("of a known one", "task", "inline", "known", T0 + 1, null, 0, T0, 1, ...waiting);
  await run("DELETE FROM escapement_jobs WHERE id = 'ended by it'");
  const { acquired } = await take(store);
  await step(store, { releases: acquired.map((job) => finish(job)) });
  expect([await ledger.getLedgerStart("old"), await entriesOf(ledger, { scheduleId: "old" })]).toEqual([null, []]);
  const entries = await entriesOf(ledger, { scheduleId: "known" });
  expect(entries.map((entry) => entry.kind === "run" && entry.jobId)).toEqual(["of a known one"]);
  // Its clean-up knows no books.
  await run("DELETE FROM escapement_schedules WHERE id = 'known'");
  expect(await ledger.getLedgerStart("known")).toBe(T0);
});

function ledgerOf({ ledger }: SqlDataStore): NonNullable<SqlDataStore["ledger"]> {
  if (ledger === null) throw new Error("the store has no ledger");
  return ledger;
}
