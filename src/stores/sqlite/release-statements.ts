import { guardSql } from "./failures.ts";
import { wakeGates, wokenAt } from "./gate-sql.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready, leased, held: heldState } = JOB_STATE;

/** The statements that release jobs. A comment before each statement lists its arguments; `value` is a row of a JSON
 *  parameter. */
export interface ReleaseStatements {
  readonly releaseStatuses: string;
  readonly keepResults: string;
  readonly keepHeldResults: string;
  readonly removeHeld: string;
  readonly putBack: string;
  /** The same statements as the two above, for steps that heed flow control (see `Awareness`). */
  readonly removeHeldAware: string;
  readonly putBackAware: string;
  readonly wakeReleased: string;
  readonly markStarted: string;
  readonly guardChanges: string;
}

export function releaseStatements(names: TableNames): ReleaseStatements {
  const { jobs, results } = names;
  const intoResults =
    `INSERT OR REPLACE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, ` +
    "details) SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5, r.value->>6";
  /** The jobs of the rows `[jobId, ...]` in ?1 that ?2 holds with the fence of their row. The fence stands at place
   *  `fenceAt` of the row, counted from 0. */
  const held = (fenceAt: number): string =>
    `FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
    `WHERE j.fence = r.value->>${fenceAt} AND j.acquired_by = ?2`;
  const isLost = "(cancel_requested OR coalesce(r.value->>4, 0))";
  // A job that this step put back carries the step's id. If the step leased the job again, its fence is higher by one.
  const wasPutBack = "j.acquisition_id = ?4 AND j.fence - (r.value->>1) IN (0, 1)";

  // Others wait for the end of such jobs. A guard notices when one is among the releases.
  const isPlain = "concurrency_key IS NULL AND has_children = 0";
  const putBack = (isAware: boolean): string =>
    `UPDATE ${jobs} SET state = CASE WHEN ${isLost} THEN ${leased} ` +
    `WHEN coalesce(r.value->>2 > ?3, 0) THEN ${delayed} ` +
    `${isAware ? `WHEN concurrency_key IS NOT NULL THEN ${heldState} ` : ""}ELSE ${ready} END, ` +
    `run_at = coalesce(r.value->>2, ${isAware ? "due_at, run_at), due_at = NULL" : "run_at)"}, ` +
    "failed_attempts = coalesce(r.value->>3, failed_attempts), " +
    "attempt_history = coalesce(r.value->>5, attempt_history), " +
    "started_fence = CASE WHEN r.value->>4 THEN fence ELSE started_fence END, " +
    `acquired_by = CASE WHEN ${isLost} THEN acquired_by END, ` +
    `acquired_until = CASE WHEN ${isLost} THEN ?3 END, acquisition_id = ?4 ` +
    `FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 AND ${jobs}.fence = r.value->>1 ` +
    `AND ${jobs}.acquired_by = ?2${isAware ? "" : ` AND ${isPlain}`}`;

  return {
    // ?1 rows [jobId, fence, 0 for an end, 1 for a put-back or 2 for a start], ?2 schedulerId, ?3 whether this may be a
    // repetition, ?4 stepId.
    // Column: `letters`, one letter per row: r (released), f (fenced) or m (missing).
    releaseStatuses:
      "SELECT group_concat(CASE WHEN j.fence = r.value->>1 AND j.acquired_by = ?2 THEN 'r' " +
      `WHEN ?3 AND r.value->>2 = 1 AND ${wasPutBack} THEN 'r' WHEN j.id IS NOT NULL THEN 'f' ` +
      `WHEN ?3 AND r.value->>2 < 2 AND EXISTS (SELECT 1 FROM ${results} WHERE job_id = r.value->>0) THEN 'r' ` +
      `ELSE 'm' END, '') AS letters FROM json_each(?1) r LEFT JOIN ${jobs} j ON j.id = r.value->>0`,
    // ?1 rows of resultRow
    keepResults: `${intoResults} FROM json_each(?1) r`,
    // ?1 rows of resultRow, each with the fence at its end, ?2 schedulerId
    keepHeldResults: `${intoResults} ${held(7)}`,
    // ?1 rows [jobId, fence], ?2 schedulerId
    removeHeld: `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq ${held(1)} AND ${isPlain})`,
    removeHeldAware: `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq ${held(1)})`,
    // ?1 rows [jobId, fence, runAt or null, failedAttempts or null, whether the job started, attemptHistory as JSON or
    // null], ?2 schedulerId, ?3 now, ?4 stepId. A job that is to be cancelled, or that had started, gets a lease that
    // has ended, so that recovery, which follows, ends the job or takes it back.
    putBack: putBack(false),
    putBackAware: putBack(true),
    // ?1 rows [jobId, fence, ...], ?2 schedulerId, ?3 now. Precedes the statements that remove jobs or put them back.
    wakeReleased: wakeGates(
      names,
      `SELECT DISTINCT j.task_id, j.concurrency_key, ${wokenAt("?3")} ${held(1)} AND j.concurrency_key IS NOT NULL`,
    ),
    // ?1 rows [jobId, fence], ?2 schedulerId
    markStarted:
      `UPDATE ${jobs} SET started_fence = fence FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2`,
    // ?1 how many rows the statement before this one must have changed
    guardChanges: `SELECT ${guardSql("changes() = ?1")} AS guard`,
  };
}
