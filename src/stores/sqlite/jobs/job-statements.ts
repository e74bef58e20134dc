import { HEARTBEATS_MAX } from "../../../core/limits.ts";
import type { JobFilter } from "../../data-store.ts";
import { guardSql } from "../driver/failures.ts";
import { KEY_ID, KEY_INSTANT } from "../driver/parameters.ts";
import { joined, lazily } from "../lazily.ts";
import { FEW_JOBS_MAX } from "../limits.ts";
import { foundIn, type Walk, walkStatement } from "../lists.ts";
import { existenceChecks, jobAsJson, NEW_JOB_ROW_LENGTH } from "../rows.ts";
import { hasMissedStart, JOB_STATE, type TableNames } from "../schema/schema.ts";
import { isJobOfTask } from "./jobs-of-task.ts";
import { type WindowStatements, windowStatements } from "./windows.ts";

const { delayed, ready, leased, blocked, dependent } = JOB_STATE;

/** The statements that add jobs which are neither debounced nor added once in a time. */
export interface InsertionStatements {
  readonly jobs: string;
  readonly stampedJobs: string;
  readonly alikeJobs: string;
  readonly oneJob: string;
  readonly stampedAlikeJobs: string;
}

/** The statements about jobs, except release, recovery and acquisition. */
export interface JobStatements extends WindowStatements {
  readonly insert: InsertionStatements;
  /** The same for jobs without a key in a database that needs no flow control, as far as the store knows. If it needs
   *  flow control nevertheless, `backfillKeys` gives their keys to these jobs. */
  readonly insertPlainly: InsertionStatements;
  readonly freeKeys: string;
  readonly findExistingJobs: string;
  readonly findOutdated: string;
  readonly stampAdditions: string;
  readonly getJob: string;
  /** By the walk that reads a page. See {@link jobWalkOf}. */
  readonly getJobs: Readonly<Record<string, string>>;
  readonly extend: string;
  readonly giveUpStrays: string;
  readonly keepAlive: string;
  readonly getHeartbeats: string;
  readonly forgetOthers: string;
  readonly getSchedulers: string;
}

/** The columns of which `newJobRow` has the values. */
const NEW_JOB_COLUMNS =
  "id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, " +
  "fence, failed_attempts, recoveries, cancel_requested, details, start_deadline";

function newJobValues(state: string): string {
  return (
    "value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, " +
    `value->>7, ${state}, value->>9, value->>10, value->>11, 0, value->>12, value->>15`
  );
}

/** Whether a job of `fromRows` has no key of its own, and is admitted nevertheless. Then it is delayed until a step
 *  with flow control finds it due, and marks its limiter. */
const isAdmitted = `value->>13 IS NULL AND t.own_key IS NOT NULL AND value->>8 <> ${dependent}`;

/** A comment before each statement lists its arguments; `value` is a row of a JSON parameter. */
export function jobStatements(names: TableNames): JobStatements {
  const { jobs, tasks, steps, schedulers } = names;
  const record = `${jobAsJson(jobs)} AS record`;
  const { isJob, hasResult, isStamped } = existenceChecks(names);
  const hasMissedKey = `j.idempotency_key = a.value->>1 AND ${hasMissedStart("a.value->>6", "j")}`;
  // A job that repeats another needs the result of that one.
  const where = `WHERE (a.value->>14 IS NULL OR ${hasResult("a.value->>14")}) AND `;
  const fromRows = `FROM json_each(?1) a LEFT JOIN ${tasks} t ON t.id = a.value->>1 ${where}`;
  const anyJobs = (columns = "", values = ""): string =>
    `INSERT INTO ${jobs} (${NEW_JOB_COLUMNS}, concurrency_key${columns}) ` +
    `SELECT ${newJobValues(`CASE WHEN ${isAdmitted} THEN ${delayed} ELSE value->>8 END`)}, ` +
    `coalesce(value->>13, t.own_key)${values} `;
  const ofJobs = lazily<Omit<JobStatements, keyof WindowStatements>>({
    insert: () =>
      insertionStatements(names, {
        anyJobs: anyJobs(),
        fromRows,
        ownKey: `(SELECT own_key FROM ${tasks} WHERE id = ?2)`,
      }),
    insertPlainly: () =>
      insertionStatements(names, {
        anyJobs: `INSERT INTO ${jobs} (${NEW_JOB_COLUMNS}) SELECT ${newJobValues("value->>8")} `,
        fromRows: `FROM json_each(?1) a ${where}`,
        ownKey: null,
      }),
    // ?1 rows [id, taskId, idempotencyKey, createdAt]. Precedes the insertions: jobs that have missed their start leave
    // their keys to them, and a step ends those jobs later.
    freeKeys: () =>
      `UPDATE ${jobs} SET idempotency_key = NULL, details = CASE WHEN json_valid(details) ` +
      "THEN json_set(details, '$.idempotencyKey', idempotency_key) ELSE details END " +
      `WHERE seq IN (SELECT j.seq FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.task_id = a.value->>1 ` +
      `AND j.idempotency_key = a.value->>2 WHERE j.id <> a.value->>0 AND ${hasMissedStart("a.value->>3", "j")})`,
    // ?1 rows [id, idempotencyKey, scheduleId, fireTime, place, taskId, createdAt]. Finds the existing jobs
    // that were there in the place of the jobs of the rows, with the places of those rows. None is found for a job of
    // the rows that was added, whichever job has its key by now. Undoes the batch when an existing job has missed its
    // start and has a key that freeKeys would free.
    findExistingJobs: () =>
      `SELECT ${jobAsJson("j")} AS record, a.value->>4 AS place, ` +
      `${guardSql(`(${hasMissedKey}) IS NOT TRUE`)} AS guard ` +
      `FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.seq = ` +
      `coalesce((SELECT seq FROM ${jobs} WHERE task_id = a.value->>5 AND idempotency_key = a.value->>1), ` +
      `(SELECT seq FROM ${jobs} WHERE schedule_id = a.value->>2 AND fire_time = a.value->>3)) ` +
      `WHERE j.id <> a.value->>0 AND NOT ${isJob("a.value->>0")} AND NOT ${isStamped("a.value->>0")} ` +
      `AND NOT ${hasResult("a.value->>0")}`,
    // ?1 rows [id, place] of jobs that repeat others. Finds those that were not added, because the others have no
    // result, with the places of their rows.
    findOutdated: () =>
      "SELECT a.value->>1 AS place FROM json_each(?1) a " +
      `WHERE NOT ${isJob("a.value->>0")} AND NOT ${hasResult("a.value->>0")}`,
    // ?1 rows [stamp, jobId or null], ?2 now. A row with a jobId leaves its stamp only if that job was added.
    stampAdditions: () =>
      `INSERT INTO ${steps} (id, at) SELECT value->>0, ?2 FROM json_each(?1) a ` +
      `WHERE a.value->>1 IS NULL OR EXISTS (SELECT 1 FROM ${jobs} WHERE id = a.value->>1) ON CONFLICT DO NOTHING`,

    // ?1 id
    getJob: () => `SELECT ${record} FROM ${jobs} WHERE id = ?1`,
    getJobs: () => jobLists(names),

    // ?1 rows [jobId, fence, whether the job has started, progress as JSON or nothing], ?2 schedulerId, ?3 until. An
    // extension that arrives late shortens no lease.
    extend: () =>
      `UPDATE ${jobs} SET acquired_until = max(acquired_until, ?3), ` +
      "started_fence = CASE WHEN r.value->>2 THEN fence ELSE started_fence END, " +
      `progress = coalesce(r.value->>3, progress) FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2 RETURNING id, cancel_requested`,
    // ?1 rows [jobId, fence, ...] of the jobs that run, ?2 schedulerId, ?3 now, ?4 instance id, ?5 the last step whose
    // answer is known, or null. A job that is to be cancelled does not go back to the queue: its lease ends at ?3, so
    // that recovery ends the job.
    // A job with a key is delayed, so that a step with flow control blocks it, and marks its limiter.
    giveUpStrays: () =>
      `UPDATE ${jobs} SET state = CASE WHEN cancel_requested THEN ${leased} ` +
      `WHEN concurrency_key IS NULL THEN ${ready} ELSE ${delayed} END, ` +
      "turn = NULL, " +
      "acquired_by = CASE WHEN cancel_requested THEN acquired_by END, " +
      "acquired_until = CASE WHEN cancel_requested THEN ?3 END, acquisition_id = NULL " +
      `WHERE seq IN (SELECT seq FROM ${jobs} WHERE state = ${leased} AND acquired_until > 0 ` +
      "AND substr(acquisition_id, 1, length(?4)) = ?4 AND acquisition_id <= ?5 AND acquired_by = ?2 " +
      "AND (id, fence) NOT IN (SELECT value->>0, value->>1 FROM json_each(?1)))",
    // ?1 identity, ?2 instance id, ?3 role, ?4 whether resident, ?5 tasks, ?6 executors, ?7 until when it counts as
    // alive, ?8 now
    keepAlive: () =>
      `INSERT OR REPLACE INTO ${schedulers} (identity, instance_id, role, resident, tasks, executors, alive_until, ` +
      "heartbeat_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    // ?1 instance id. Whoever signs off says that it is alive until now.
    getHeartbeats: () =>
      `SELECT identity, instance_id, resident, heartbeat_at, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > 0 AND instance_id <> ?1 AND alive_until > heartbeat_at " +
      `ORDER BY alive_until DESC LIMIT ${HEARTBEATS_MAX}`,
    // ?1 identity, ?2 instance id
    forgetOthers: () => `DELETE FROM ${schedulers} WHERE identity = ?1 AND instance_id <> ?2`,
    // ?1 now
    getSchedulers: () =>
      `SELECT identity, instance_id, role, resident, tasks, executors, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > ?1 ORDER BY +identity, instance_id",
  });
  return joined(ofJobs, windowStatements(names, { anyJobs, fromRows, rowLength: NEW_JOB_ROW_LENGTH }));
}

/** How jobs are added: `anyJobs` takes rows of `fromRows`, whose condition further ones follow, and `ownKey` is the key
 *  of jobs of the task ?2 without a key of their own, or null where they get none. */
interface InsertionForm {
  readonly anyJobs: string;
  readonly fromRows: string;
  readonly ownKey: string | null;
}

function insertionStatements(names: TableNames, { anyJobs, fromRows, ownKey }: InsertionForm): InsertionStatements {
  const { jobs, results } = names;
  const { hasResult, isStamped } = existenceChecks(names);
  // A job that has a result has run already, because an earlier try added the job. A job that ran and left no result
  // has a stamp.
  const newJobs = (isNotStamped = ""): string =>
    `${anyJobs}${fromRows}NOT ${hasResult("a.value->>0")} ${isNotStamped}ON CONFLICT DO NOTHING`;
  const [keyColumn, keyValue] = ownKey === null ? ["", ""] : [", concurrency_key", `, ${ownKey}`];
  // Nobody knows here whether jobs without a key of their own are admitted, see `isAdmitted`.
  const state = ownKey === null ? "?5" : `CASE WHEN ?5 = ${dependent} OR ${ownKey} IS NULL THEN ?5 ELSE ${delayed} END`;
  // Columns that stay null are left out, because a client that prepares a statement anew each time pays for each.
  const columns =
    "(id, task_id, executor, priority, run_at, state, fence, failed_attempts, recoveries, cancel_requested, " +
    `details${keyColumn})`;
  const values = (id: string, runAt: string, details: string): string =>
    `SELECT ${id}, ?2, ?3, ?4, ${runAt}, ${state}, 0, 0, 0, 0, ${details}${keyValue} `;
  // The ids of new jobs nearly always come after those of all results, which takes a third less time to see.
  const newAlikeJobs = (isNotStamped = ""): string =>
    `INSERT INTO ${jobs} ${columns} ${values(KEY_ID, KEY_INSTANT, "value")}FROM json_each(?1) a WHERE ` +
    `(${KEY_ID} > ifnull((SELECT max(job_id) FROM ${results}), '') OR NOT ${hasResult(KEY_ID)}) ` +
    `${isNotStamped}ON CONFLICT DO NOTHING`;
  return lazily<InsertionStatements>({
    // ?1 rows of newJobRow. The statements for batches without a stamp are shorter, because a client that prepares a
    // statement anew each time spends most of its time on that.
    jobs: () => newJobs(),
    // and ?2 the batch's stamp. A job in whose place another may exist (it has a fire time or an idempotency key) is
    // stamped by its own id alone, never by the batch's stamp.
    stampedJobs: () =>
      newJobs(
        `AND NOT ${isStamped("a.value->>0")} ` +
          `AND (coalesce(value->>4, value->>5) IS NOT NULL OR NOT ${isStamped("?2")}) `,
      ),
    // ?1 members: runAt and id, then the details; the values that all rows share: ?2 taskId, ?3 executor, ?4 priority,
    // ?5 state
    alikeJobs: () => newAlikeJobs(),
    // ?1 id, ?2 taskId, ?3 executor, ?4 priority, ?5 state, ?6 runAt, ?7 details; none is null. One job alone costs a
    // quarter less by this statement than by alikeJobs.
    oneJob: () => `INSERT OR IGNORE INTO ${jobs} ${columns} ${values("?1", "?6", "?7")}WHERE NOT ${hasResult("?1")}`,
    // alikeJobs, and ?6 the batch's stamp
    stampedAlikeJobs: () => newAlikeJobs(`AND NOT ${isStamped("?6")} AND NOT ${isStamped(KEY_ID)} `),
  });
}

/** The conditions of the walks, and the ids of their rows. The jobs of a schedule, and those that run, are sorted,
 *  because no index has them in the order of ids; the sign keeps SQLite from the index of all ids. The walk of a task
 *  is of another kind, see {@link walkOfTask}. */
const WALKS: Readonly<Record<string, readonly [condition: string, id: string]>> = {
  all: ["", "id"],
  schedule: ["schedule_id = ?5 AND ", "+id"],
  running: [`state = ${leased} AND acquired_until > 0 AND `, "+id"],
};

/** The walk that fits a filter best, and whether the filter takes every row of the walk. */
export function jobWalkOf(filter: JobFilter): [name: string, boolean] {
  const { taskId, scheduleId, state, runAfter, runBefore, search, order = "oldest" } = filter;
  const name =
    scheduleId !== undefined ? "schedule" : state === "running" ? state : taskId !== undefined ? "task" : "all";
  const others = [runAfter, runBefore, search, taskId, name === "running" ? undefined : state];
  return [`${name} ${order}`, others.every((part) => part === undefined)];
}

/**
 * By walk. ?3 id to start after, or null, ?4 taskId or null, ?5 scheduleId or null, ?6 state or null, ?7 runAfter or
 * null, ?8 runBefore or null, ?9 search or null.
 */
function jobLists({ jobs }: TableNames): Readonly<Record<string, string>> {
  const state = `CASE WHEN t.state = ${leased} THEN 'running' WHEN t.state >= ${blocked} THEN 'held' ELSE 'queued' END`;
  const texts = ["id", "task_id", "schedule_id", "idempotency_key", "concurrency_key"];
  const list = {
    table: jobs,
    key: "seq",
    record: jobAsJson("t"),
    isTaken:
      `(?4 IS NULL OR t.task_id = ?4) AND (?5 IS NULL OR t.schedule_id = ?5) AND (?6 IS NULL OR ?6 = ${state}) ` +
      `AND (?7 IS NULL OR t.run_at >= ?7) AND (?8 IS NULL OR t.run_at < ?8) ` +
      `AND ${foundIn(
        "?9",
        texts.map((column) => `t.${column}`),
      )}`,
  };
  // A BLOB is greater than any text.
  const range = { oldest: "> coalesce(?3, '')", newest: "< coalesce(?3, x'')" } as const;
  const walk = ([condition, id]: readonly [string, string], order: "oldest" | "newest"): Walk => ({
    rows:
      `SELECT seq, id FROM ${jobs} WHERE ${condition}${id} ${range[order]} ` +
      `ORDER BY ${id}${order === "newest" ? " DESC" : ""}`,
    place: ["id"],
    isBackwards: order === "newest",
  });
  const statements = (["oldest", "newest"] as const).flatMap((order) => [
    ...Object.entries(WALKS).map(([name, rows]) => [`${name} ${order}`, walkStatement(list, walk(rows, order))]),
    [`task ${order}`, walkStatement(list, walkOfTask(jobs, walk(["", "id"], order), `id ${range[order]}`))],
  ]);
  return Object.fromEntries(statements);
}

/** If the task ?4 has few jobs, the walk is along these, otherwise along all jobs: then the task has many of them, or a
 *  page takes several statements. */
function walkOfTask(jobs: string, all: Walk, isInRange: string): Walk {
  const isFew = `(SELECT count(*) FROM few) < ${FEW_JOBS_MAX}`;
  return {
    ...all,
    given: `few AS MATERIALIZED (SELECT seq, id FROM ${jobs} WHERE ${isJobOfTask("?4")} LIMIT ${FEW_JOBS_MAX})`,
    rows:
      `SELECT seq, id FROM few WHERE ${isFew} AND ${isInRange} UNION ALL ` +
      `SELECT seq, id FROM (${all.rows.replace(" WHERE ", ` WHERE NOT ${isFew} AND `)} LIMIT +?2)`,
  };
}
