import { TWINS_MAX } from "./limits.ts";
import { KEY_ID, KEY_INSTANT } from "./parameters.ts";
import { jobAsJson, NEW_JOB_ROW_LENGTH } from "./rows.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";
import { type WindowStatements, windowStatements } from "./window-statements.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The statements about jobs, except release, recovery and acquisition. */
export interface JobStatements extends WindowStatements {
  readonly insertJobs: string;
  readonly insertStampedJobs: string;
  readonly insertAlikeJobs: string;
  readonly insertOneJob: string;
  readonly insertStampedAlikeJobs: string;
  readonly findRivals: string;
  readonly stampAdditions: string;
  readonly getJob: string;
  readonly getJobs: string;
  readonly getJobsOfTask: string;
  readonly getJobsOfSchedule: string;
  readonly extend: string;
  readonly giveUpStrays: string;
  readonly keepAlive: string;
  readonly findTwins: string;
  readonly forgetOthers: string;
  readonly getSchedulers: string;
}

/** A comment before each statement lists its arguments; `value` is a row of a JSON parameter. */
export function jobStatements(names: TableNames): JobStatements {
  const { jobs, tasks, results, steps, incarnations } = names;
  const record = `${jobAsJson(jobs)} AS record`;
  const columnsAnd = (more = ""): string =>
    "(id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, " +
    `fence, failed_attempts, recoveries, cancel_requested, details, concurrency_key${more})`;
  const intoJobs = (more = ""): string => `INSERT INTO ${jobs} ${columnsAnd(more)}`;
  // A job that has a result has run already, because an earlier try added the job. A job that ran and left no result
  // has a stamp.
  const fromRows = `FROM json_each(?1) a LEFT JOIN ${tasks} t ON t.id = a.value->>1 `;
  const newJobs = (id: string, isNotStamped = "", rows = fromRows): string =>
    `${rows}WHERE NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = ${id}) ` +
    `${isNotStamped}ON CONFLICT DO NOTHING`;
  const stamped = (id: string): string => `EXISTS (SELECT 1 FROM ${steps} WHERE id = ${id})`;
  const anyJobs = (columns = "", values = ""): string =>
    `${intoJobs(columns)} SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, ` +
    `value->>7, CASE WHEN value->>13 IS NULL AND t.own_key IS NOT NULL AND value->>8 <> ${blocked} THEN ${delayed} ` +
    "ELSE value->>8 END, value->>9, value->>10, value->>11, 0, value->>12, " +
    `coalesce(value->>13, t.own_key)${values} `;
  // Nobody knows here whether jobs without a key of their own are admitted. If so, they are delayed until a step that
  // heeds flow control finds them due, and wakes their gate.
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = ?2)`;
  const stateOfAlike = `CASE WHEN ?5 = ${blocked} OR ${ownKey} IS NULL THEN ?5 ELSE ${delayed} END`;
  const alikeValues =
    `${KEY_ID}, ?2, ?3, NULL, NULL, NULL, ?4, ${KEY_INSTANT}, ${stateOfAlike}, ` + `0, 0, 0, 0, value, ${ownKey}`;
  const alikeJobs = `${intoJobs()} SELECT ${alikeValues} `;
  const alikeRows = "FROM json_each(?1) a ";

  return {
    // ?1 rows of newJobRow. The statements for batches without a stamp are shorter, because a client that prepares a
    // statement anew each time spends most of its time on that.
    insertJobs: anyJobs() + newJobs("a.value->>0"),
    // and ?2 the batch's stamp. A job that can have rivals (it has a fire time or an idempotency key) is stamped by its
    // own id alone, never by the batch's stamp.
    insertStampedJobs:
      anyJobs() +
      newJobs(
        "a.value->>0",
        `AND NOT ${stamped("a.value->>0")} ` +
          `AND (coalesce(value->>4, value->>5) IS NOT NULL OR NOT ${stamped("?2")}) `,
      ),
    // ?1 members: runAt and id, then the details; the values that all rows share: ?2 taskId, ?3 executor, ?4 priority,
    // ?5 state
    insertAlikeJobs: alikeJobs + newJobs(KEY_ID, "", alikeRows),
    // ?1 id, ?2 taskId, ?3 executor, ?4 priority, ?5 state, ?6 runAt, ?7 details; none is null. One job alone costs a
    // quarter less by this statement than by insertAlikeJobs.
    insertOneJob:
      `INSERT OR IGNORE INTO ${jobs} ${columnsAnd()} SELECT ?1, ?2, ?3, NULL, NULL, NULL, ?4, ?6, ` +
      `${stateOfAlike}, 0, 0, 0, 0, ?7, ${ownKey} ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = ?1)`,
    // insertAlikeJobs, and ?6 the batch's stamp
    insertStampedAlikeJobs:
      alikeJobs + newJobs(KEY_ID, `AND NOT ${stamped("?6")} AND NOT ${stamped(KEY_ID)} `, alikeRows),
    // ?1 rows [id, idempotencyKey, scheduleId, fireTime, place, taskId]. Finds the rivals: existing jobs that stand for
    // the jobs of the rows, with the places of those rows. A job of the rows that has run already has no rival.
    findRivals:
      `SELECT ${jobAsJson("j")} AS record, a.value->>4 AS place FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.seq = ` +
      `coalesce((SELECT seq FROM ${jobs} WHERE task_id = a.value->>5 AND idempotency_key = a.value->>1), ` +
      `(SELECT seq FROM ${jobs} WHERE schedule_id = a.value->>2 AND fire_time = a.value->>3)) ` +
      `WHERE j.id <> a.value->>0 AND NOT ${stamped("a.value->>0")} ` +
      `AND NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = a.value->>0)`,
    // ?1 rows [stamp, jobId or null], ?2 now. A row with a jobId leaves its stamp only if that job was added.
    stampAdditions:
      `INSERT INTO ${steps} (id, at) SELECT value->>0, ?2 FROM json_each(?1) a ` +
      `WHERE a.value->>1 IS NULL OR EXISTS (SELECT 1 FROM ${jobs} WHERE id = a.value->>1) ON CONFLICT DO NOTHING`,

    // ?1 id
    getJob: `SELECT ${record} FROM ${jobs} WHERE id = ?1`,
    // ?1 id to start after, ?2 limit
    getJobs: `SELECT ${record} FROM ${jobs} WHERE id > ?1 ORDER BY id LIMIT +?2`,
    // the arguments of getJobs, and ?3 taskId
    getJobsOfTask: `SELECT ${record} FROM ${jobs} WHERE task_id = ?3 AND id > ?1 ORDER BY id LIMIT +?2`,
    // the arguments of getJobs, and ?3 taskId or null, ?4 scheduleId
    getJobsOfSchedule:
      `SELECT ${record} FROM ${jobs} WHERE schedule_id = ?4 AND id > ?1 AND (?3 IS NULL OR task_id = ?3) ` +
      "ORDER BY id LIMIT +?2",

    // ?1 rows [jobId, fence, whether the job has started, progress as JSON or nothing], ?2 schedulerId, ?3 until. An
    // extension that arrives late shortens no lease.
    extend:
      `UPDATE ${jobs} SET acquired_until = max(acquired_until, ?3), ` +
      "started_fence = CASE WHEN r.value->>2 THEN fence ELSE started_fence END, " +
      `progress = coalesce(r.value->>3, progress) FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2 RETURNING id, cancel_requested`,
    // ?1 rows [jobId, fence, ...] of the jobs that run, ?2 schedulerId, ?3 now, ?4 incarnation, ?5 the last step whose
    // answer is known, or null. A job that is to be cancelled does not go back to the queue: its lease ends at ?3, so
    // that recovery ends the job.
    // A job with a key is delayed, so that a step that heeds flow control makes it held, and wakes its gate.
    giveUpStrays:
      `UPDATE ${jobs} SET state = CASE WHEN cancel_requested THEN ${leased} ` +
      `WHEN concurrency_key IS NULL THEN ${ready} ELSE ${delayed} END, ` +
      "run_at = coalesce(due_at, run_at), due_at = NULL, " +
      "acquired_by = CASE WHEN cancel_requested THEN acquired_by END, " +
      "acquired_until = CASE WHEN cancel_requested THEN ?3 END, acquisition_id = NULL " +
      `WHERE seq IN (SELECT seq FROM ${jobs} WHERE state = ${leased} AND acquired_until > 0 ` +
      "AND substr(acquisition_id, 1, length(?4)) = ?4 AND acquisition_id <= ?5 AND acquired_by = ?2 " +
      "AND (id, fence) NOT IN (SELECT value->>0, value->>1 FROM json_each(?1)))",
    // ?1 identity, ?2 incarnation, ?3 role, ?4 whether resident, ?5 tasks, ?6 executors, ?7 until when it counts as
    // alive
    keepAlive:
      `INSERT OR REPLACE INTO ${incarnations} (identity, incarnation, role, resident, tasks, executors, alive_until) ` +
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    // ?1 identity, ?2 incarnation, ?3 now
    findTwins:
      `SELECT incarnation, alive_until FROM ${incarnations} WHERE identity = ?1 AND incarnation <> ?2 ` +
      `AND resident = 1 AND alive_until > ?3 ORDER BY incarnation LIMIT ${TWINS_MAX}`,
    // ?1 identity, ?2 incarnation
    forgetOthers: `DELETE FROM ${incarnations} WHERE identity = ?1 AND incarnation <> ?2`,
    // ?1 now
    getSchedulers:
      `SELECT identity, incarnation, role, resident, tasks, executors, alive_until FROM ${incarnations} ` +
      "WHERE alive_until > ?1 ORDER BY +identity, incarnation",
    ...windowStatements(names, { anyJobs, fromRows, rowLength: NEW_JOB_ROW_LENGTH }),
  };
}
