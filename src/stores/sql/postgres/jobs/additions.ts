import type { AdditionStatements, InsertionStatements } from "../../jobs/insertion-statements.ts";
import type { WindowStatements } from "../../jobs/throttle-and-debounce.ts";
import { STAMPS_PER_CLEANUP_MAX } from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { type Stored, storedWrite } from "../schema/stored.ts";
import { counted, instantMembers, rowsOf } from "../sql-and-json.ts";
import { hasMissedStart, jobAsJson } from "./job-rows.ts";
import { NEW_JOB_COLUMNS, newJobValues } from "./new-job-columns.ts";

const { delayed, ready, dependent } = JOB_STATE;

/** The arguments are those of the statements on SQLite's SQL. */
export function additionStatements(names: PostgresNames): AdditionStatements {
  const { jobs, commits, inSchema } = names;
  const { isJob, hasResult, isStamped } = existenceChecks(names);
  const existing =
    "id text, idempotency_key text, schedule_id text, fire_time bigint, place bigint, task_id text, now bigint";
  const hasMissedKey = `j.idempotency_key = a.idempotency_key AND ${hasMissedStart("a.now", "j")}`;
  return lazily<AdditionStatements>({
    insert: () => insertionStatements(names, true),
    insertPlainly: () => insertionStatements(names, false),
    freeKeys: () =>
      `UPDATE ${jobs} AS k SET idempotency_key = NULL, ` +
      `details = ${inSchema}merged(k.details, json_build_object('idempotencyKey', k.idempotency_key)) ` +
      "WHERE k.seq IN (SELECT j.seq FROM " +
      `${rowsOf("?1", "a", "id text, task_id text, idempotency_key text, now bigint")} ` +
      `JOIN ${jobs} j ON j.task_id = a.task_id AND j.idempotency_key = a.idempotency_key ` +
      `WHERE j.id <> a.id AND ${hasMissedStart("a.now", "j")})`,
    findExistingJobs: () =>
      `SELECT ${jobAsJson(names, "j")} AS record, a.place AS place, ` +
      `${guardSql(names, `(${hasMissedKey}) IS NOT TRUE`)} AS guard FROM ${rowsOf("?1", "a", existing)} ` +
      `JOIN ${jobs} j ON j.seq = coalesce((SELECT k.seq FROM ${jobs} k WHERE k.task_id = a.task_id ` +
      `AND k.idempotency_key = a.idempotency_key), (SELECT k.seq FROM ${jobs} k WHERE k.schedule_id = a.schedule_id ` +
      "AND k.fire_time = a.fire_time)) " +
      `WHERE j.id <> a.id AND NOT ${isJob("a.id")} AND NOT ${isStamped("a.id")} AND NOT ${hasResult("a.id")}`,
    findOutdated: () =>
      `SELECT a.place AS place FROM ${rowsOf("?1", "a", "id text, place bigint")} ` +
      `WHERE NOT ${isJob("a.id")} AND NOT ${hasResult("a.id")}`,
    stampAdditions: () => storedStamps(names).statement,
    removeStamps: () =>
      `DELETE FROM ${commits} WHERE id IN (SELECT id FROM ${commits} WHERE at <= ?1 ` +
      `ORDER BY at LIMIT ${STAMPS_PER_CLEANUP_MAX})`,
  });
}

const TEXT = "text";
/** The parameters of jobs that are alike, with those of a batch's stamp. */
const ALIKE = ["json", TEXT, TEXT, "double precision", "bigint"];

interface StoredInsertions extends Readonly<Record<"jobs" | "stampedJobs" | "alikeJobs" | "stampedAlikeJobs", Stored>> {
  /** SQL, because a batch of a stamp has one job in an array. */
  readonly oneJob: string;
}

/** @param hasKeys whether jobs have keys, or get those of their tasks */
export function storedInsertions(names: PostgresNames, hasKeys: boolean): StoredInsertions {
  const { jobs, tasks } = names;
  const { hasResult, isStamped } = existenceChecks(names);
  // A job without a key of its own that is admitted nevertheless is delayed until a commit with flow control finds it
  // due,
  // and marks its limiter. A job that repeats another needs the result of that one.
  const state =
    `CASE WHEN v->>13 IS NULL AND t.own_key IS NOT NULL AND v->>8 <> '${dependent}' THEN ${delayed} ` +
    `ELSE (v->>8)::integer END`;
  const newJobs = (isNotStamped = ""): string =>
    `INSERT INTO ${jobs} (${NEW_JOB_COLUMNS}${hasKeys ? ", concurrency_key" : ""}) ` +
    `SELECT ` +
    `${newJobValues(names, hasKeys ? state : "(v->>8)::integer")}${hasKeys ? ", coalesce(v->>13, t.own_key)" : ""} ` +
    "FROM json_array_elements(?1::json) WITH ORDINALITY AS a(v, place) " +
    `${hasKeys ? `LEFT JOIN ${tasks} t ON t.id = v->>1 ` : ""}` +
    `WHERE (v->>14 IS NULL OR ${hasResult("v->>14")}) AND NOT ${hasResult("v->>0")} ${isNotStamped}` +
    "ORDER BY a.place ON CONFLICT DO NOTHING";
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = ?2)`;
  const columns =
    "(id, task_id, executor, priority, run_at, state, fence, failed_attempts, recoveries, cancel_requested, " +
    `details${hasKeys ? ", concurrency_key" : ""})`;
  const stateOfAlike = hasKeys
    ? `CASE WHEN ?5::integer = ${dependent} OR ${ownKey} IS NULL THEN ?5::integer ELSE ${delayed} END`
    : "?5::integer";
  const values = (id: string, runAt: string, details: string): string =>
    `SELECT ${id}, ?2::text, ?3::text, ?4::double precision, ${runAt}, ${stateOfAlike}, 0, 0, 0, 0, ` +
    `${details}${hasKeys ? `, ${ownKey}` : ""} `;
  const newAlikeJobs = (isNotStamped = ""): string =>
    `INSERT INTO ${jobs} ${columns} ${values("a.id", "a.instant", "a.value")}FROM ${instantMembers("?1", "a")} ` +
    `WHERE NOT ${hasResult("a.id")} ${isNotStamped}ORDER BY a.key ON CONFLICT DO NOTHING`;
  const write = (name: string, types: readonly string[], sql: string): Stored =>
    storedWrite(names, { name: `${name}${hasKeys ? "_with_keys" : ""}`, types, sql });
  return lazily<StoredInsertions>({
    jobs: () => write("insert_jobs", ["json"], newJobs()),
    stampedJobs: () =>
      write(
        "insert_stamped_jobs",
        ["json", TEXT],
        newJobs(`AND NOT ${isStamped("v->>0")} AND (coalesce(v->>4, v->>5) IS NOT NULL OR NOT ${isStamped("?2")}) `),
      ),
    alikeJobs: () => write("insert_alike_jobs", ALIKE, newAlikeJobs()),
    stampedAlikeJobs: () =>
      write(
        "insert_stamped_alike_jobs",
        [...ALIKE, TEXT],
        newAlikeJobs(`AND NOT ${isStamped("?6")} AND NOT ${isStamped("a.id")} `),
      ),
    oneJob: () =>
      `INSERT INTO ${jobs} ${columns} ${values("?1::text", "?6::bigint", "?7::json")}WHERE NOT ${hasResult("?1")} ` +
      "ON CONFLICT DO NOTHING",
  });
}

function insertionStatements(names: PostgresNames, hasKeys: boolean): InsertionStatements {
  const stored = storedInsertions(names, hasKeys);
  return lazily<InsertionStatements>({
    jobs: () => stored.jobs.statement,
    stampedJobs: () => stored.stampedJobs.statement,
    alikeJobs: () => stored.alikeJobs.statement,
    stampedAlikeJobs: () => stored.stampedAlikeJobs.statement,
    oneJob: () => stored.oneJob,
  });
}

/** The statement that stamps additions. */
export function storedStamps(names: PostgresNames): Stored {
  const { isJob } = existenceChecks(names);
  return storedWrite(names, {
    name: "stamp_additions",
    types: ["json", "bigint"],
    sql:
      `INSERT INTO ${names.commits} (id, at) SELECT a.stamp, ?2 FROM ${rowsOf("?1", "a", "stamp text, job_id text")} ` +
      `WHERE a.job_id IS NULL OR ${isJob("a.job_id")} ON CONFLICT DO NOTHING`,
  });
}

/** The statements of additions that may run beside each other: those of jobs without any key, which can neither be
 *  there already nor keep others out. One that runs twice, because its answer got lost, is held up by its own ids. */
export function plainAdditions(names: PostgresNames): ReadonlySet<string> {
  const insertions = [true, false].flatMap((hasKeys) => {
    const { alikeJobs, stampedAlikeJobs } = storedInsertions(names, hasKeys);
    return [alikeJobs, stampedAlikeJobs];
  });
  return new Set([...insertions, storedStamps(names)].map(({ statement }) => statement));
}

/** SQL conditions by which a repeated addition finds what became of the job that it added before. Each takes the SQL of
 *  the job's id. They are no EXISTS, because for many rows the planner would rather read a whole table once. */
function existenceChecks({
  jobs,
  results,
  commits,
}: TableNames): Readonly<Record<"isJob" | "hasResult" | "isStamped", (id: string) => string>> {
  return {
    isJob: (id) => `((SELECT true FROM ${jobs} x WHERE x.id = ${id}) IS TRUE)`,
    hasResult: (id) => `((SELECT true FROM ${results} x WHERE x.job_id = ${id}) IS TRUE)`,
    isStamped: (id) => `((SELECT true FROM ${commits} x WHERE x.id = ${id}) IS TRUE)`,
  };
}

/** The condition of the index of bursts: a job that was acquired once is no longer debounced. */
function isBurst(job: string, taskId: string, key: string): string {
  return (
    `${job}.task_id = ${taskId} AND ${job}.debounce_key = ${key} ` +
    `AND ${job}.debounce_key IS NOT NULL AND ${job}.fence = 0`
  );
}

/** The arguments are those of the statements on SQLite's SQL. */
export function windowStatements(names: PostgresNames): WindowStatements {
  const { jobs, commits, windows, inSchema } = names;
  const { isJob, hasResult, isStamped } = existenceChecks(names);
  const record = (id: string): string => `(SELECT ${jobAsJson(names, "j")} FROM ${jobs} j WHERE j.id = ${id})`;
  return lazily<WindowStatements>({
    openWindows: () => `SELECT ${inSchema}open_windows(?1::json)`,
    markBursts: () =>
      markDirty(
        names,
        `SELECT j.task_id, j.concurrency_key, ?2::bigint FROM ${rowsOf("?1", "a", "task_id text, burst text")} ` +
          `JOIN ${jobs} j ON ${isBurst("j", "a.task_id", "a.burst")} ` +
          `WHERE j.state = ${ready} AND j.concurrency_key IS NOT NULL`,
      ),
    insertWindowedJobs: () => `SELECT ${inSchema}insert_windowed_jobs(?1::json)`,
    stampBursts: () =>
      `INSERT INTO ${commits} (id, at, answer) SELECT a.id, ?2::bigint, j.id ` +
      `FROM ${rowsOf("?1", "a", "id text, task_id text, burst text")} ` +
      `JOIN ${jobs} j ON ${isBurst("j", "a.task_id", "a.burst")} ON CONFLICT DO NOTHING`,
    findOpeners: () =>
      `SELECT a.place AS place, w.job_id AS id, ${record("w.job_id")} AS record ` +
      `FROM ${rowsOf("?1", "a", "place bigint, id text, task_id text, kind text, window_key text, now bigint")} ` +
      `JOIN ${windows} w ON w.task_id = a.task_id AND w.kind = a.kind AND w.key = a.window_key ` +
      `WHERE w.job_id <> a.id AND w.until > a.now AND NOT ${hasResult("a.id")} ` +
      `AND NOT ${isStamped("a.id")} AND NOT ${isJob("a.id")}`,
    findBursts: () =>
      "SELECT b.place AS place, b.id AS id, " +
      `${record("b.id")} AS record FROM (SELECT a.place, coalesce((SELECT s.answer FROM ${commits} s WHERE s.id = ` +
      `a.id), ` +
      `(SELECT j.id FROM ${jobs} j WHERE j.id = a.id), CASE WHEN ${hasResult("a.id")} THEN a.id ` +
      `ELSE (SELECT j.id FROM ${jobs} j WHERE ${isBurst("j", "a.task_id", "a.burst")}) END) AS id ` +
      `FROM ${rowsOf("?1", "a", "place bigint, id text, task_id text, burst text")}) b WHERE b.id IS NOT NULL`,
    removeWindows: () =>
      counted(
        `DELETE FROM ${windows} WHERE (task_id, kind, key) IN (SELECT task_id, kind, key FROM ${windows} ` +
          "WHERE until <= ?1 ORDER BY until LIMIT ?2)",
      ),
  });
}
