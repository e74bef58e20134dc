import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreRefusedError, StoreUnavailableError } from "../../src/core/errors.ts";
import type { JobRecord } from "../../src/records/job.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import {
  DEAD_SCHEDULER_MS,
  FIRES_PER_COMMIT_MAX,
  PLANS_PER_COMMIT_MAX,
  TOMBSTONE_MS,
} from "../../src/stores/shared/limits.ts";
import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { PARAMETER_BYTES_MAX, RECOVERIES_PER_COMMIT_MAX, STAMPED_BY_JOB_MAX } from "../../src/stores/sql/limits.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import {
  add,
  cancel,
  commit,
  commitPlans,
  extend,
  finish,
  fireOf,
  LEASE_MS,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  makeSchedule,
  numbered,
  planOf,
  release,
  T0,
  take,
  updateSchedule,
} from "../../src/testing/data-store-contract/makers.ts";
import { openWithTables } from "./local-stores.ts";

/** A database in memory. What becomes of its next batches can be said before. */
class TestDriver implements SqlDriver {
  readonly isLocal: boolean;
  readonly failureKind: SqlDriver["failureKind"];
  readonly sent: SqlStatement[] = [];
  readonly #inner = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });
  readonly #fates: ((statements: readonly SqlStatement[]) => Promise<Row[][]>)[] = [];

  constructor(isLocal: boolean) {
    this.isLocal = isLocal;
    this.failureKind = (error) => this.#inner.failureKind(error);
  }

  /** The next batch counts, but its answer gets lost after something else has happened. */
  loseAnswer(meanwhile: () => Promise<unknown> = async () => undefined): void {
    this.#fates.push(async (statements) => {
      await this.#inner.batch(statements);
      await meanwhile();
      throw new TypeError("fetch failed");
    });
  }

  /** The next batch does not arrive, and something else happens. */
  loseRequest(meanwhile: () => Promise<unknown>): void {
    this.#fates.push(async () => {
      await meanwhile();
      throw new TypeError("fetch failed");
    });
  }

  /** The next batches fail. */
  fail(times: number, message: string, code: string): void {
    for (let time = 0; time < times; time++) {
      this.#fates.push(() => Promise.reject(Object.assign(new Error(message), { code })));
    }
  }

  /** How many failures are left. */
  get failuresLeft(): number {
    return this.#fates.length;
  }

  open(): Promise<void> {
    return this.#inner.open();
  }

  execute(statement: SqlStatement): Promise<Row[]> {
    return this.#inner.execute(statement);
  }

  batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.sent.push(...statements);
    const fate = this.#fates.shift();
    return fate === undefined ? this.#inner.batch(statements) : fate(statements);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  async column(sql: string): Promise<unknown[]> {
    return (await this.execute({ sql, args: [] })).map((row) => Object.values(row)[0]);
  }

  async run(sql: string): Promise<void> {
    await this.execute({ sql, args: [] });
  }
}

let driver: TestDriver;
let store: SqlDataStore;

async function openStore(isLocal: boolean): Promise<void> {
  driver = new TestDriver(isLocal);
  store = new SqlDataStore(driver);
  await openWithTables(store);
  driver.sent.length = 0;
}

beforeEach(() => openStore(true));
afterEach(() => store.close());

async function dueIds(): Promise<string[]> {
  return (await look(store, { schedules: {} })).due.map(({ id }) => id);
}

describe("a damaged row", () => {
  test("of a schedule stops no look and no commit, and its fields are those that a missing one has", async () => {
    await store.addSchedules(add(...["a", "b", "c"].map((id) => makeSchedule({ id, metadata: { id } }))));
    await driver.run("UPDATE escapement_schedules SET metadata = '{bad' WHERE id = 'a'");
    await driver.run("UPDATE escapement_schedules SET details = '{bad' WHERE id = 'b'");
    const { due } = await look(store, { schedules: {} });
    expect(due.map(({ id, executor }) => [id, executor])).toEqual([
      ["a", "inline"],
      ["b", ""],
      ["c", "inline"],
    ]);
    const { plans } = await commitPlans(
      store,
      due.map((schedule) => planOf(schedule)),
    );
    expect(plans.map(({ committed, addedJobIds }) => [committed, addedJobIds.length])).toEqual([
      [true, 1],
      [true, 1],
      [true, 1],
    ]);
    const jobs = (await store.getJobs({ limit: 9, cursor: null })).items;
    expect(jobs.map(({ executor, metadata, maxRecoveries }) => [executor, metadata, maxRecoveries])).toEqual([
      ["inline", {}, 3],
      ["", { id: "b" }, 0],
      ["inline", { id: "c" }, 3],
    ]);
    expect((await updateSchedule(store, "b", { executor: "inline" }))?.executor).toBe("inline");
  });

  test("of a job stops no commit: it is given out with a payload that cannot be read, put back and recovered", async () => {
    await store.addJobs(makeJobs(3, { startDeadline: T0 + 9 }));
    await driver.run("UPDATE escapement_jobs SET details = '{bad' WHERE id = 'job-00001'");
    const { acquired } = await take(store);
    expect(acquired.map(({ id, payload, metadata }) => [id, payload, metadata])).toEqual([
      ["job-00000", null, {}],
      ["job-00001", "this row is damaged", {}],
      ["job-00002", null, {}],
    ]);
    expect(() => store.serializer.deserialize(acquired[1]?.payload ?? "null")).toThrow();
    const giveUp = { kind: "giveUp", hasStarted: true, fence: 1 } as const;
    const { recovered, ended } = await release(
      store,
      acquired.map(({ id }) => ({ ...giveUp, jobId: id })),
    );
    expect(recovered.map(({ jobId }) => jobId)).toEqual(["job-00000", "job-00002"]);
    expect(ended.map(({ jobId, outcome }) => [jobId, outcome])).toEqual([["job-00001", "abandoned"]]);
  });

  test("is not taken for a release that does not count", async () => {
    const job = await leasedJob(store);
    driver.fail(1, "malformed JSON", "SQLITE_ERROR");
    await expect(release(store, [finish(job)])).rejects.toBeInstanceOf(StoreRefusedError);
    expect(await store.getJob("job")).toEqual(job);
  });
});

describe("a payload comes out of a fire as it went into the schedule:", () => {
  const payloads = [
    null,
    "null",
    '""',
    '"a\u0000b\\u0000"',
    "not JSON at all { \u0000 '; --",
    '"\u2028\u2029\\"\\\\/"',
    '{"a":[1,null,{"b":null}],"ü":1e21}',
    "\ud83d\ude00 \ud83d alone",
    "x".repeat(100_000),
  ];
  for (const payload of payloads) {
    test(JSON.stringify(payload)?.slice(0, 40) ?? "", async () => {
      const metadata = { text: payload, nothing: null, list: [null, { nothing: null }], "": 1e-7 };
      const fields = { payload, metadata, priority: -2.5, resultExpirationMs: 31_557_600_000_000, maxRecoveries: 0 };
      await store.addSchedules(add(makeSchedule({ ...fields, fence: 12 })));
      const times = { scheduledFireTime: T0 + 3, runAt: T0 + 3, startDeadline: T0 + 9 };
      const missed = { missedCount: 2, firstMissedTime: T0 - 9, lastMissedTime: T0 - 3 };
      const fires = [
        fireOf("schedule", T0, { jobId: "full", ...times, ...missed }),
        fireOf("schedule", T0 - 1, { jobId: "plain" }),
      ];
      await commitPlans(store, [planOf({ id: "schedule", fence: 12, nextFireTime: T0 }, { fires })]);
      const expected = makeJob({ ...fields, scheduleId: "schedule", createdAt: T0, fireTime: T0 });
      const plain = { createdAt: T0 - 1, fireTime: T0 - 1, scheduledFireTime: T0 - 1, runAt: T0 - 1 };
      expect(await store.getJob("full")).toEqual({ ...expected, id: "full", ...times, ...missed });
      expect(await store.getJob("plain")).toEqual({ ...expected, id: "plain", ...plain });
    });
  }
});

describe("a commit that the database refuses", () => {
  const good = { id: "good" };

  test("rejects with something else than an outage, and nothing of it happened", async () => {
    const job = await leasedJob(store);
    await store.addSchedules(add(makeSchedule()));
    const [due] = (await look(store, { schedules: {} })).due;
    if (due === undefined) throw new Error("nothing is due");
    // NaN is no JSON, so the rows lack a value that the tables need.
    const refusals = [
      { additions: [makeJob(good), makeJob({ id: "bad", priority: Number.NaN })] },
      { plans: [planOf(due, { fires: [fireOf("schedule", T0, { runAt: Number.NaN })] })] },
      { releases: [{ jobId: "job", fence: 1, kind: "retry", runAt: T0, failedAttempts: 0.5 }] as const },
    ];
    await driver.run(
      "CREATE TRIGGER whole BEFORE UPDATE ON escapement_jobs WHEN NEW.failed_attempts = 0.5 " +
        "BEGIN SELECT raise(ABORT, 'not a whole number'); END",
    );
    for (const refusal of refusals) {
      const failure = await commit(store, { releases: [finish(job)], ...refusal }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreRefusedError);
    }
    expect(await store.getJob("good")).toBeNull();
    expect(await store.getJob("job")).toEqual(job);
    expect(await dueIds()).toEqual(["schedule"]);
  });

  test("is an outage when the disk is full or others hold the lock", async () => {
    driver.fail(1, "database or disk is full", "SQLITE_FULL");
    await expect(commit(store)).rejects.toBeInstanceOf(StoreUnavailableError);
    // The lock is waited for.
    driver.fail(1, "database is locked", "SQLITE_BUSY");
    expect((await commit(store)).acquired).toEqual([]);
  });

  test("for its size is tried with fewer jobs, and then refused", async () => {
    await store.addJobs(makeJobs(20));
    driver.fail(1, "too large", "RESPONSE_TOO_LARGE");
    expect((await take(store, { limit: 16 })).acquired.length).toBe(4);
    driver.fail(9, "too large", "RESPONSE_TOO_LARGE");
    const failure = await take(store, { limit: 16 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreRefusedError);
    expect(driver.failuresLeft).toBe(6);
  });

  test("for its number of plans or fires says how many may be", async () => {
    const plan = { id: "schedule", fence: 0, nextFireTime: T0 };
    const plans = Array.from({ length: PLANS_PER_COMMIT_MAX + 1 }, (_, index) => planOf({ ...plan, id: `s${index}` }));
    await expect(commit(store, { plans })).rejects.toThrow(new RegExp(`may have ${PLANS_PER_COMMIT_MAX}`));
    const fires = Array.from({ length: FIRES_PER_COMMIT_MAX + 1 }, (_, index) =>
      fireOf("s", T0, { jobId: `j${index}` }),
    );
    await expect(commit(store, { plans: [planOf(plan, { fires })] })).rejects.toThrow(
      new RegExp(`may have ${FIRES_PER_COMMIT_MAX}`),
    );
    expect(driver.sent).toEqual([]);
  });
});

describe("what is large", () => {
  test("is leased in parts from the second commit on, because few databases hold such jobs and the bound costs", async () => {
    const payload = JSON.stringify("x".repeat(300_000));
    await store.addJobs(makeJobs(12, { payload }));
    const counts: number[] = [];
    for (let left = 3; left > 0; left--) counts.push((await take(store, { limit: 4 })).acquired.length);
    expect(counts).toEqual([4, 3, 3]);
    await store.addJobs(makeJobs(12, { taskId: "small" }).map((job) => ({ ...job, id: `small ${job.id}` })));
    await take(store, { limit: 4 });
    for (let left = 2; left > 0; left--) {
      const { acquired } = await take(store, { limit: 4, queues: [{ executor: "inline", taskId: "small" }] });
      expect(acquired.length).toBe(4);
    }
  });

  test("number of leases is given up in several writes", async () => {
    await store.addJobs(makeJobs(RECOVERIES_PER_COMMIT_MAX + 500, { maxRecoveries: 1 }));
    await take(store, { limit: 10_000 });
    driver.sent.length = 0;
    const surrender = { now: T0, schedulerId: "scheduler-a", instanceId: "later", aliveUntil: null };
    const report = await store.giveUpLeases(surrender);
    expect([report.recovered.length, report.ended.length]).toEqual([RECOVERIES_PER_COMMIT_MAX + 500, 0]);
    expect(new Set(report.recovered.map(({ jobId }) => jobId)).size).toBe(RECOVERIES_PER_COMMIT_MAX + 500);
    expect(driver.sent.filter(({ sql }) => sql.includes("recoveries = recoveries + ")).length).toBe(2);
  });

  function largestParameter(): number {
    const texts = driver.sent.flatMap(({ args }) => args).filter((arg) => typeof arg === "string");
    return Math.max(...texts.map((text) => new TextEncoder().encode(text).length));
  }

  test("travels in several parameters", async () => {
    const payload = "ü".repeat(20_000);
    const jobs = makeJobs(60, { payload });
    driver.sent.length = 0;
    expect((await store.addJobs(jobs)).every(({ isNew }) => isNew)).toBe(true);
    await store.addSchedules(add(...jobs.map(({ id }) => makeSchedule({ id, payload }))));
    const held: JobRecord[] = [];
    while (held.length < jobs.length) held.push(...(await take(store)).acquired);
    const { releases } = await commit(store, {
      releases: held.map((job) => finish(job, { returnValue: payload })),
      additions: jobs.map((job) => ({ ...job, id: `again ${job.id}`, idempotencyKey: job.id })),
    });
    expect(releases).toEqual(jobs.map(() => "released"));
    const second = await commit(store, {
      isRepetition: true,
      releases: held.map((job) => finish(job, { returnValue: payload })),
      additions: jobs.map((job) => ({ ...job, id: `third ${job.id}`, idempotencyKey: job.id })),
    });
    expect(second.releases).toEqual(jobs.map(() => "released"));
    expect(second.additions.map(({ job, isNew }) => [job.id, isNew])).toEqual(
      jobs.map(({ id }) => [`again ${id}`, false]),
    );
    expect((await store.getJobResult("job-00059", T0))?.returnValue).toBe(payload);
    expect((await store.getSchedule("job-00059"))?.payload).toBe(payload);
    expect(largestParameter()).toBeLessThanOrEqual(PARAMETER_BYTES_MAX);
  });

  test("is leased up to a megabyte at once where answers travel, and the first job whatever its size", async () => {
    await store.close();
    await openStore(false);
    await store.addJobs(makeJobs(8, { payload: "x".repeat(300_000) }));
    await store.addJobs([makeJob({ id: "huge", priority: 1, payload: "x".repeat(2_000_000) })]);
    const first = await take(store);
    expect([first.acquired.map(({ id }) => id), first.hasReady]).toEqual([["huge"], true]);
    expect((await take(store)).acquired.map(({ id }) => id)).toEqual(["job-00000", "job-00001", "job-00002"]);
    const queues = Array.from({ length: 9 }, (_, index) => ({ executor: "inline", taskId: `task${index || ""}` }));
    expect((await take(store, { queues })).acquired.length).toBe(3);
    expect((await take(store)).acquired.length).toBe(2);
  });

  test("shows schedules up to the bytes that were asked for, whose payloads are not read beyond", async () => {
    const payload = "ü".repeat(10_000);
    const ids = Array.from({ length: 9 }, (_, index) => numbered("s", index));
    await store.addSchedules(add(...ids.map((id) => makeSchedule({ id, payload }))));
    const page = await look(store, { schedules: { bytesMax: 70_000 } });
    expect(page.due.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(page.due.every(({ bytes }) => bytes > 20_000 && bytes < 21_000)).toBe(true);
    expect(page.nextFireAt).toBe(T0);
    const after = [T0, "s-00006"] as const;
    const rest = await look(store, { schedules: { bytesMax: 70_000, after } });
    expect([rest.due.map(({ id }) => id), rest.nextFireAt]).toEqual([["s-00007", "s-00008"], null]);
  });
});

test("many lost leases are recovered over several commits, and nothing is leased in between", async () => {
  const count = RECOVERIES_PER_COMMIT_MAX + 10;
  await store.addJobs(makeJobs(count));
  expect((await take(store, { limit: count })).acquired.length).toBe(count);
  await store.addJobs([makeJob({ id: "fresh", priority: 1 })]);
  const now = T0 + LEASE_MS;
  const first = await take(store, { now });
  expect([first.recovered.length, first.acquired, first.leaseEndsAt]).toEqual([RECOVERIES_PER_COMMIT_MAX, [], now]);
  const second = await take(store, { now });
  expect([second.recovered.length, second.acquired.length, second.acquired[0]?.id]).toEqual([10, 100, "fresh"]);
});

test("a put-back of a job that is to be cancelled recovers nothing but that job", async () => {
  await store.addJobs(makeJobs(2));
  await take(store);
  await cancel(store, "job-00000", T0);
  const now = T0 + LEASE_MS;
  const putBack = { jobId: "job-00000", fence: 1, kind: "giveUp" } as const;
  const report = await commit(store, { now, releases: [putBack] });
  expect([report.releases, report.recovered, report.ended.map(({ jobId }) => jobId)]).toEqual([
    ["released"],
    [],
    ["job-00000"],
  ]);
});

test("a look finds due jobs of its queues among very many that others have not made ready", async () => {
  const late = { runAt: T0 + 5, taskId: "other" };
  await store.addJobs([...makeJobs(900, late), makeJob({ id: "ours", runAt: T0 + 6 })]);
  const view = { now: T0 + 6 };
  expect(await look(store, view)).toMatchObject({ hasReady: true, nextRunAt: null });
  expect((await look(store, { now: T0 + 5 })).hasReady).toBe(false);
  // Beyond what it searches it says so at once, and the commit that follows makes them ready.
  await store.addJobs(Array.from({ length: 200 }, (_, index) => makeJob({ ...late, id: numbered("more", index) })));
  expect((await look(store, { now: T0 + 5 })).hasReady).toBe(true);
  expect((await commit(store, { now: T0 + 5 })).hasReady).toBe(false);
  expect((await look(store, { now: T0 + 5 })).hasReady).toBe(false);
});

describe("a change of a schedule whose answer is lost", () => {
  beforeEach(async () => {
    await store.addSchedules(add(makeSchedule({ fence: 5 })));
  });

  test("is told when it stands, and counts once", async () => {
    const { revision } = makeSchedule();
    driver.loseAnswer();
    expect(await updateSchedule(store, "schedule", { paused: true }, 5)).toEqual(
      makeSchedule({ paused: true, fence: 6, revision: revision + 1 }),
    );
    driver.loseAnswer();
    expect(await updateSchedule(store, "schedule", { priority: 1 })).toEqual(
      makeSchedule({ paused: true, priority: 1, fence: 7, revision: revision + 2 }),
    );
  });

  test("is not told of one that did not arrive when somebody else changed it, though the fence is as expected", async () => {
    driver.loseRequest(() => driver.run("UPDATE escapement_schedules SET fence = 6, changed_by = 'b#1'"));
    expect(await updateSchedule(store, "schedule", { paused: true }, 5)).toBeNull();
    expect((await store.getSchedule("schedule"))?.paused).toBe(false);
  });

  test("does not undo what others changed since, where it names a fence", async () => {
    driver.loseAnswer(() => driver.run("UPDATE escapement_schedules SET paused = 0, fence = 7, changed_by = 'other'"));
    expect(await updateSchedule(store, "schedule", { paused: true }, 5)).toBeNull();
    expect((await store.getSchedule("schedule"))?.paused).toBe(false);
  });
});

describe("additions that leave no result, where answers can get lost,", () => {
  /** A store of another process on the same database. */
  let other: SqlDataStore;

  beforeEach(async () => {
    await store.close();
    await openStore(false);
    const { isLocal, failureKind } = driver;
    other = new SqlDataStore({
      ...{ isLocal, failureKind },
      execute: (statement) => driver.execute(statement),
      batch: (statements) => driver.batch(statements),
    });
    await other.open(T0);
  });

  const stamps = (): Promise<unknown[]> => driver.column("SELECT count(*) FROM escapement_commits");

  /** Runs everything that is ready elsewhere, and keeps no results. */
  async function runAll(): Promise<number> {
    const { acquired } = await take(other, { limit: 1000, by: "b" });
    const releases = acquired.map((job) => finish(job, { expiresAt: T0 }));
    await release(other, releases, { by: "b" });
    return acquired.length;
  }

  for (const count of [1, STAMPED_BY_JOB_MAX, STAMPED_BY_JOB_MAX + 1, 300]) {
    test(`are not made again by the repetition of a batch of ${count}`, async () => {
      let ran = 0;
      driver.loseAnswer(async () => {
        ran = await runAll();
      });
      const additions = await store.addJobs(makeJobs(count, { resultExpirationMs: 0 }));
      expect(additions.every(({ isNew }) => isNew)).toBe(true);
      expect([ran, await runAll()]).toEqual([count, 0]);
      expect(await stamps()).toEqual([count <= STAMPED_BY_JOB_MAX ? count : 1]);
    });
  }

  test("are tried again where another job stood for them, and not where they ran", async () => {
    const keyed = { resultExpirationMs: 0, idempotencyKey: "key" };
    await store.addJobs([makeJob({ id: "first", ...keyed })]);
    const additions = [makeJob({ id: "second", ...keyed }), makeJob({ id: "third", resultExpirationMs: 0 })];
    const answers = async (isRepetition: boolean): Promise<unknown[]> => {
      const report = await commit(store, { commitId: "a#1", jobs: null, additions, isRepetition });
      return report.additions.map(({ job, isNew }) => [job.id, isNew]);
    };
    expect(await answers(false)).toEqual([
      ["first", false],
      ["third", true],
    ]);
    expect(await runAll()).toBe(2);
    const bothNew = [
      ["second", true],
      ["third", true],
    ];
    expect(await answers(true)).toEqual(bothNew);
    expect(await runAll()).toBe(1);
    expect(await answers(true)).toEqual(bothNew);
    expect(await runAll()).toBe(0);
  });

  test("are all made when a commit is sent in parts under one id", async () => {
    const jobs = makeJobs(40, { resultExpirationMs: 0 });
    for (const additions of [jobs.slice(0, 20), jobs.slice(20)]) {
      await commit(store, { commitId: "a#1", jobs: null, additions });
    }
    expect(await runAll()).toBe(40);
  });

  test("leave a stamp that the clean-up removes after ten minutes", async () => {
    await store.addJobs([makeJob({ resultExpirationMs: 0 })]);
    await store.addJobs([makeJob({ id: "kept" })]);
    await store.cleanup({ now: T0 + TOMBSTONE_MS - 1, limit: 1 });
    expect(await stamps()).toEqual([1]);
    await store.cleanup({ now: T0 + TOMBSTONE_MS, limit: 1 });
    expect(await stamps()).toEqual([0]);
  });

  test("leave no stamp where none can get lost", async () => {
    await store.close();
    await openStore(true);
    await store.addJobs([makeJob({ resultExpirationMs: 0 })]);
    await commit(store, { additions: [makeJob({ id: "a", resultExpirationMs: 0 })] });
    expect(await stamps()).toEqual([0]);
  });
});

test("resident schedulers that are dead for a day are forgotten, and those that tick at once", async () => {
  await extend(store, [], { schedulerId: "dead", aliveUntil: T0 });
  await extend(store, [], { schedulerId: "alive", aliveUntil: T0 + 1 });
  const profile = { role: "both", isResident: false, tasks: [], executors: [] } as const;
  await extend(store, [], { schedulerId: "tick", aliveUntil: T0 + 1, profile });
  const identities = (): Promise<unknown[]> => driver.column("SELECT identity FROM escapement_schedulers ORDER BY 1");
  await store.cleanup({ now: T0 + DEAD_SCHEDULER_MS - 1, limit: 10 });
  expect(await identities()).toEqual(["alive", "dead"]);
  await store.cleanup({ now: T0 + DEAD_SCHEDULER_MS, limit: 10 });
  expect(await identities()).toEqual(["alive"]);
});

describe("a cancellation whose first answer gets lost", () => {
  beforeEach(() => openStore(false));

  test("still says that it ended a queued job, whether its result is kept or not", async () => {
    for (const resultExpirationMs of [86_400_000, 0]) {
      await store.addJobs([makeJob({ resultExpirationMs, scheduleId: "s", scheduledFireTime: T0 })]);
      driver.loseAnswer();
      const report = await cancel(store, "job", T0 + 5);
      expect(report).toMatchObject({
        status: "cancelled",
        result: { jobId: "job", scheduleId: "s", scheduledFireTime: T0, outcome: "cancelled", finishedAt: T0 + 5 },
      });
      expect(await store.getJob("job")).toBeNull();
      await driver.run("DELETE FROM escapement_results");
    }
  });

  test("still says who was asked, also when the job has ended since", async () => {
    const job = await leasedJob(store);
    driver.loseAnswer(() => driver.run("DELETE FROM escapement_jobs"));
    expect(await cancel(store, "job", T0)).toEqual({
      status: "requested",
      taskId: "task",
      acquiredBy: job.acquiredBy,
    });
  });

  test("still says that there was no such job", async () => {
    driver.loseAnswer();
    expect(await cancel(store, "job", T0)).toEqual({ status: "missing" });
  });
});
