import { PROMOTIONS_PER_TURN_MAX } from "./limits.ts";
import { jobAsJson } from "./rows.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready, leased } = JOB_STATE;

/** The statements about jobs, but for their acquisition. */
export interface JobStatements {
  readonly insertJobs: string;
  readonly insertAlikeJobs: string;
  readonly findRivals: string;
  readonly getJob: string;
  readonly getJobs: string;
  readonly getJobsOfSchedule: string;
  readonly releaseStatuses: string;
  readonly keepResults: string;
  readonly keepHeldResults: string;
  readonly removeHeld: string;
  readonly putBack: string;
  readonly guardChanges: string;
  readonly keepLost: string;
  readonly removeLost: string;
  readonly putBackLost: string;
  readonly promote: string;
  readonly extend: string;
  readonly requestCancel: string;
  readonly keepCancelled: string;
  readonly removeCancelled: string;
}

/** The arguments of each statement are listed before it; `value` is a row of a JSON parameter. */
export function jobStatements({ jobs, results }: TableNames): JobStatements {
  const record = `${jobAsJson(jobs)} AS record`;
  const intoResults = `INSERT OR REPLACE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, details)`;
  const intoJobs =
    `INSERT INTO ${jobs} (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, ` +
    "fence, failed_attempts, recoveries, cancel_requested, details)";
  const newJobs =
    `FROM json_each(?1) a WHERE NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = a.value->>0) ON ` +
    `CONFLICT DO NOTHING`;
  /** Jobs of the rows `[jobId, fence]` in ?1 that are held by ?2. */
  const held =
    `FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
    "WHERE j.fence = r.value->>1 AND j.acquired_by = ?2";
  /** Leases that ended by ?1 and, unless ?2 is null, are ?2's. */
  const lost = `state = ${leased} AND acquired_until <= ?1 AND (?2 IS NULL OR acquired_by = ?2)`;
  const lostForGood = `${lost} AND (cancel_requested OR recoveries >= details->>'maxRecoveries')`;

  return {
    // ?1 rows of newJobRow. A job that has a result ran already: an earlier try added it.
    insertJobs:
      `${intoJobs} SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, ` +
      `value->>8, value->>9, value->>10, value->>11, 0, value->>12 ${newJobs}`,
    // ?1 rows [id, runAt, details], and what they share: ?2 taskId, ?3 executor, ?4 priority, ?5 state
    insertAlikeJobs:
      `${intoJobs} SELECT value->>0, ?2, ?3, NULL, NULL, NULL, ?4, value->>1, ?5, 0, 0, 0, 0, ` +
      `value->>2 ${newJobs}`,

    // ?1 rows [id, idempotencyKey, scheduleId, fireTime]. The jobs that stand for these, with the row's index as
    // `place`.
    findRivals:
      `SELECT ${jobAsJson("j")} AS record, a.key AS place FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.seq = ` +
      `coalesce(` +
      `(SELECT seq FROM ${jobs} WHERE idempotency_key = a.value->>1), ` +
      `(SELECT seq FROM ${jobs} WHERE schedule_id = a.value->>2 AND fire_time = a.value->>3)) WHERE j.id <> ` +
      `a.value->>0`,

    // ?1 id
    getJob: `SELECT ${record} FROM ${jobs} WHERE id = ?1`,
    // ?1 id to start after, ?2 limit, ?3 taskId or null
    getJobs: `SELECT ${record} FROM ${jobs} WHERE id > ?1 AND (?3 IS NULL OR task_id = ?3) ORDER BY id LIMIT ?2`,
    // and ?4 scheduleId
    getJobsOfSchedule:
      `SELECT ${record} FROM ${jobs} WHERE schedule_id = ?4 AND id > ?1 AND (?3 IS NULL OR task_id = ?3) ` +
      "ORDER BY id LIMIT ?2",

    // ?1 rows [jobId, fence], ?2 schedulerId, ?3 whether this may be a repetition. `letters`, one per row.
    releaseStatuses:
      "SELECT group_concat(CASE WHEN j.fence = r.value->>1 AND j.acquired_by = ?2 THEN 'r' " +
      `WHEN j.id IS NOT NULL THEN 'f' WHEN ?3 AND EXISTS (SELECT 1 FROM ${results} WHERE job_id = r.value->>0) ` +
      `THEN 'r' ` +
      `ELSE 'm' END, '') AS letters FROM json_each(?1) r LEFT JOIN ${jobs} j ON j.id = r.value->>0`,
    // ?1 rows of resultRow
    keepResults:
      `${intoResults} SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 FROM ` + `json_each(?1)`,
    // ?1 rows of resultRow with the fence behind, ?2 schedulerId
    keepHeldResults:
      `${intoResults} SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5 ` +
      `${held.replace("value->>1", "value->>6")}`,
    // ?1 rows [jobId, fence], ?2 schedulerId
    removeHeld: `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq ${held})`,
    // ?1 rows [jobId, fence, runAt or null, failedAttempts or null, whether it started], ?2 schedulerId, ?3 now. A job
    // that is to be cancelled gets a lease that has ended, so that recovery, which follows, ends it.
    putBack:
      `UPDATE ${jobs} SET state = CASE WHEN cancel_requested THEN ${leased} ` +
      `WHEN coalesce(r.value->>2, run_at) <= ?3 THEN ${ready} ELSE ${delayed} END, ` +
      "run_at = coalesce(r.value->>2, run_at), failed_attempts = coalesce(r.value->>3, failed_attempts), " +
      "details = CASE WHEN r.value->>4 THEN json_remove(details, '$.startDeadline') ELSE details END, " +
      "acquired_by = NULL, acquired_until = CASE WHEN cancel_requested THEN ?3 ELSE NULL END, acquisition_id = NULL " +
      `FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 AND ${jobs}.fence = r.value->>1 AND ` +
      `${jobs}.acquired_by = ?2`,
    // ?1 how many rows the statement before must have changed. When it were others, this fails and so undoes the whole
    // batch: a batch has no other way to branch.
    guardChanges: "SELECT CASE WHEN changes() = ?1 THEN 1 ELSE json('mismatch') END",

    // ?1 latest end of the leases, ?2 their holder or null, ?3 now
    keepLost:
      `${intoResults} ${endedResult(jobs, "CASE WHEN cancel_requested THEN 'cancelled' ELSE 'abandoned' END", "?3")} ` +
      `WHERE ${lostForGood} AND details->>'resultExpirationMs' > 0`,
    removeLost: `DELETE FROM ${jobs} WHERE ${lostForGood} RETURNING ${record}`,
    putBackLost:
      `UPDATE ${jobs} SET state = CASE WHEN run_at <= ?3 THEN ${ready} ELSE ${delayed} END, recoveries = ` +
      `recoveries + 1, ` +
      `acquired_by = NULL, acquired_until = NULL, acquisition_id = NULL WHERE ${lost} ` +
      "RETURNING id, task_id, schedule_id, failed_attempts + recoveries AS attempt",
    // ?1 now
    promote:
      `UPDATE ${jobs} SET state = ${ready} WHERE seq IN (SELECT seq FROM ${jobs} ` +
      `WHERE state = ${delayed} AND run_at <= ?1 ORDER BY run_at LIMIT ${PROMOTIONS_PER_TURN_MAX})`,

    // ?1 rows [jobId, fence], ?2 schedulerId, ?3 until
    extend:
      `UPDATE ${jobs} SET acquired_until = ?3 FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2 RETURNING id, cancel_requested`,

    // ?1 id
    requestCancel:
      `UPDATE ${jobs} SET cancel_requested = 1 WHERE id = ?1 AND state = ${leased} RETURNING ` + `task_id, acquired_by`,
    // ?1 id, ?2 now
    keepCancelled:
      `${intoResults} ${endedResult(jobs, "'cancelled'", "?2")} WHERE id = ?1 AND state <> ${leased} ` +
      "AND details->>'resultExpirationMs' > 0",
    // ?1 id
    removeCancelled: `DELETE FROM ${jobs} WHERE id = ?1 AND state <> ${leased} RETURNING ${record}`,
  };
}

/** The result of a job that ends without a run, as `endedWithoutRun` makes it. Merging into `{}` leaves null out. */
function endedResult(jobs: string, outcome: string, now: string): string {
  return (
    `SELECT id, task_id, schedule_id, ${outcome}, ${now} + (details->>'resultExpirationMs'), json_patch('{}', ` +
    `json_object(` +
    `'scheduledFireTime', details->>'scheduledFireTime', 'finishedAt', CAST(${now} AS INTEGER), ` +
    `'attempts', failed_attempts + recoveries + (acquired_by IS NOT NULL))) FROM ${jobs}`
  );
}
