import { guardSql } from "./failures.ts";
import { validJson } from "./rows.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready, leased } = JOB_STATE;

/** How jobs are released. The arguments of each statement are listed before it; `value` is a row of a JSON
 *  parameter. */
export interface ReleaseStatements {
  readonly releaseStatuses: string;
  readonly keepResults: string;
  readonly keepHeldResults: string;
  readonly removeHeld: string;
  readonly putBack: string;
  readonly guardChanges: string;
}

export function releaseStatements({ jobs, results }: TableNames): ReleaseStatements {
  const intoResults =
    `INSERT OR REPLACE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, details) ` +
    "SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5";
  /** Jobs of the rows `[jobId, ...]` in ?1 that are held by ?2, with the fence in one of the row's places. */
  const held = (fenceAt: number): string =>
    `FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
    `WHERE j.fence = r.value->>${fenceAt} AND j.acquired_by = ?2`;
  // What this step put back carries its stamp, and one fence more if it leased it again.
  const wasPutBack = "j.acquisition_id = ?4 AND j.fence - (r.value->>1) IN (0, 1)";

  return {
    // ?1 rows [jobId, fence], ?2 schedulerId, ?3 whether this may be a repetition, ?4 stepId. `letters`, one per row.
    releaseStatuses:
      "SELECT group_concat(CASE WHEN j.fence = r.value->>1 AND j.acquired_by = ?2 THEN 'r' " +
      `WHEN ?3 AND ${wasPutBack} THEN 'r' WHEN j.id IS NOT NULL THEN 'f' ` +
      `WHEN ?3 AND EXISTS (SELECT 1 FROM ${results} WHERE job_id = r.value->>0) THEN 'r' ` +
      `ELSE 'm' END, '') AS letters FROM json_each(?1) r LEFT JOIN ${jobs} j ON j.id = r.value->>0`,
    // ?1 rows of resultRow
    keepResults: `${intoResults} FROM json_each(?1) r`,
    // ?1 rows of resultRow with the fence behind, ?2 schedulerId
    keepHeldResults: `${intoResults} ${held(6)}`,
    // ?1 rows [jobId, fence], ?2 schedulerId
    removeHeld: `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq ${held(1)})`,
    // ?1 rows [jobId, fence, runAt or null, failedAttempts or null, whether it started], ?2 schedulerId, ?3 now,
    // ?4 stepId. A job that is to be cancelled gets a lease that has ended, so that recovery, which follows, ends it.
    putBack:
      `UPDATE ${jobs} SET state = CASE WHEN cancel_requested THEN ${leased} ` +
      `WHEN coalesce(r.value->>2, run_at) <= ?3 THEN ${ready} ELSE ${delayed} END, ` +
      "run_at = coalesce(r.value->>2, run_at), failed_attempts = coalesce(r.value->>3, failed_attempts), " +
      `details = CASE WHEN r.value->>4 THEN json_remove(${validJson("details")}, '$.startDeadline') ` +
      "ELSE details END, " +
      "acquired_by = NULL, acquired_until = CASE WHEN cancel_requested THEN ?3 ELSE NULL END, acquisition_id = ?4 " +
      `FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 AND ${jobs}.fence = r.value->>1 ` +
      `AND ${jobs}.acquired_by = ?2`,
    // ?1 how many rows the statement before must have changed
    guardChanges: `SELECT ${guardSql("changes() = ?1")} AS guard`,
  };
}
