import type { ReleaseStatements } from "../../jobs/releases.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { KEY_ID, KEY_INSTANT } from "../sql-and-json.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

export function releaseStatements(names: TableNames): ReleaseStatements {
  const { jobs, results } = names;
  const columns = "job_id, task_id, schedule_id, outcome, expires_at, finished_at, details";
  const intoResults = `INSERT OR REPLACE INTO ${results} (${columns})`;
  const resultRows = "SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5, r.value->>6";
  const alikeValues = `${KEY_ID}, ?2, ?3, ?4, ${KEY_INSTANT} + ?5, ${KEY_INSTANT}, value`;
  const isLost = "(cancel_requested OR coalesce(r.value->>4, 0))";
  // A job that this commit put back carries the commit's id. If the commit leased the job again, its fence is higher by
  // one.
  const wasPutBack = "j.acquisition_id = ?4 AND j.fence - (r.value->>1) IN (0, 1)";

  return lazily<ReleaseStatements>({
    // ?1 rows [jobId, fence, 0 for an end, 1 for a put-back or 2 for a start], ?2 schedulerId, ?3 whether this may be a
    // repetition, ?4 commitId.
    // Column: `letters`, one letter per row: r (released), f (fenced) or m (missing).
    releaseStatuses: () =>
      "SELECT group_concat(CASE WHEN j.fence = r.value->>1 AND j.acquired_by = ?2 THEN 'r' " +
      `WHEN ?3 AND r.value->>2 = 1 AND ${wasPutBack} THEN 'r' WHEN j.id IS NOT NULL THEN 'f' ` +
      `WHEN ?3 AND r.value->>2 < 2 AND EXISTS (SELECT 1 FROM ${results} WHERE job_id = r.value->>0) THEN 'r' ` +
      `ELSE 'm' END, '') AS letters FROM json_each(?1) r LEFT JOIN ${jobs} j ON j.id = r.value->>0`,
    // ?1 rows of resultRow
    keepResults: () => `${intoResults} ${resultRows} FROM json_each(?1) r`,
    // ?1 members: finishedAt and jobId, then the details; the values that all rows share: ?2 taskId, ?3 scheduleId,
    // ?4 outcome, ?5 for how many milliseconds the results are kept
    keepAlikeResults: () => `${intoResults} SELECT ${alikeValues} FROM json_each(?1)`,
    // ?1 rows of resultRow, each with the fence at its end, ?2 schedulerId
    keepResultsOfLeased: () =>
      `${intoResults} ${resultRows} FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>7 AND j.acquired_by = ?2",
    // ?1 members jobId: fence, ?2 schedulerId, ?3 whether to remove jobs with a key, ?4 whether to remove jobs that
    // have children. A guard notices a job that was left.
    removeFinished: () =>
      `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.key ` +
      "WHERE j.fence = r.value AND j.acquired_by = ?2 AND (?3 OR j.concurrency_key IS NULL) " +
      "AND (?4 OR j.has_children = 0))",
    // ?1 rows [jobId, fence, runAt or null, failedAttempts or null, whether the job started, attemptHistory as JSON or
    // null, sleep as JSON or nothing], ?2 schedulerId, ?3 now, ?4 commitId, ?5 whether to put jobs with
    // a key back. A job that is to be cancelled, or that had started, gets a lease that has ended, so that
    // recovery, which follows, ends the job or takes it back.
    putBack: () =>
      `UPDATE ${jobs} SET state = CASE WHEN ${isLost} THEN ${leased} ` +
      `WHEN coalesce(r.value->>2 > ?3, 0) THEN ${delayed} WHEN concurrency_key IS NULL THEN ${ready} ` +
      `ELSE ${blocked} END, run_at = coalesce(r.value->>2, run_at), virtual_time = NULL, ` +
      // The result of a job that ends here counts its last attempt as one without an end.
      "failed_attempts = CASE WHEN cancel_requested THEN failed_attempts " +
      "ELSE coalesce(r.value->>3, failed_attempts) END, " +
      "attempt_history = coalesce(r.value->>5, attempt_history), " +
      "started_fence = CASE WHEN r.value->>4 OR r.value->>6 IS NOT NULL THEN fence ELSE started_fence END, " +
      "details = CASE WHEN r.value->>6 IS NOT NULL AND json_valid(details) " +
      "THEN json_set(details, '$.sleep', json(r.value->>6)) ELSE details END, " +
      `acquired_by = CASE WHEN ${isLost} THEN acquired_by END, ` +
      `acquired_until = CASE WHEN ${isLost} THEN ?3 END, acquisition_id = ?4 ` +
      `FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 AND ${jobs}.fence = r.value->>1 ` +
      `AND ${jobs}.acquired_by = ?2 AND (?5 OR concurrency_key IS NULL)`,
    // ?1 rows [jobId, fence, ...], ?2 schedulerId, ?3 now. Precedes the statements that remove jobs or put them back.
    markReleased: () =>
      markDirty(
        names,
        "SELECT DISTINCT j.task_id, j.concurrency_key, CAST(?3 AS INTEGER) FROM json_each(?1) r " +
          `CROSS JOIN ${jobs} j ON j.id = r.value->>0 WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 ` +
          "AND j.concurrency_key IS NOT NULL",
      ),
    // ?1 rows [jobId, fence], ?2 schedulerId
    markStarted: () =>
      `UPDATE ${jobs} SET started_fence = fence FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2`,
    // ?1 rows [jobId, fence, finishedAt, ScheduleFailure as JSON], ?2 schedulerId. Precedes the statements that remove
    // the jobs. SQLite takes the failure of the row with the last end.
    recordFailed: () =>
      `UPDATE ${names.schedules} SET last_failure = f.failure FROM (SELECT j.schedule_id AS schedule, ` +
      `max(r.value->>2), r.value->>3 AS failure FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 AND j.schedule_id IS NOT NULL GROUP BY j.schedule_id) f " +
      `WHERE ${names.schedules}.id = f.schedule`,
    // ?1 how many rows the statement before this one must have changed
    guardChanges: () => `SELECT ${guardSql("changes() = ?1")} AS guard`,
  });
}
