import { booksOf, intoRuns, placeOf, runColumns } from "./entries.ts";
import { guardSql } from "./failures.ts";
import { wakeGates, wokenAt } from "./gate-sql.ts";
import { lazily } from "./lazily.ts";
import { KEY_ID, KEY_INSTANT } from "./parameters.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";

const { delayed, ready, leased, held } = JOB_STATE;

/** The statements that release jobs. A comment before each statement lists its arguments; `value` is a row of a JSON
 *  parameter. */
export interface ReleaseStatements {
  readonly releaseStatuses: string;
  readonly keepResults: string;
  readonly keepAlikeResults: string;
  readonly keepHeldResults: string;
  readonly enterRuns: string;
  readonly enterHeldRuns: string;
  readonly removeHeld: string;
  readonly removeHeldParents: string;
  readonly putBack: string;
  /** The same statements as the two above, for steps that heed flow control (see `Awareness`). */
  readonly removeHeldAware: string;
  readonly putBackAware: string;
  readonly wakeReleased: string;
  readonly markStarted: string;
  readonly guardChanges: string;
}

export function releaseStatements(names: TableNames): ReleaseStatements {
  const { jobs, results, books } = names;
  const columns = "job_id, task_id, schedule_id, outcome, expires_at, finished_at, details";
  const intoResults = `INSERT OR REPLACE INTO ${results} (${columns})`;
  const resultRows = "SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5, r.value->>6";
  const alikeValues = `${KEY_ID}, ?2, ?3, ?4, ${KEY_INSTANT} + ?5, ${KEY_INSTANT}, value`;
  const removeHeld =
    `DELETE FROM ${jobs} WHERE seq IN (SELECT j.seq FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.key ` +
    "WHERE j.fence = r.value AND j.acquired_by = ?2";
  const isLost = "(cancel_requested OR coalesce(r.value->>4, 0))";
  // A job that this step put back carries the step's id. If the step leased the job again, its fence is higher by one.
  const wasPutBack = "j.acquisition_id = ?4 AND j.fence - (r.value->>1) IN (0, 1)";

  // Others may wait for the release of a job with a key. A guard notices when one is among the releases.
  const putBack = (isAware: boolean): string =>
    `UPDATE ${jobs} SET state = CASE WHEN ${isLost} THEN ${leased} ` +
    `WHEN coalesce(r.value->>2 > ?3, 0) THEN ${delayed} ` +
    `${isAware ? `WHEN concurrency_key IS NOT NULL THEN ${held} ` : ""}ELSE ${ready} END, ` +
    `run_at = coalesce(r.value->>2, run_at), ${isAware ? "turn = NULL, " : ""}` +
    "failed_attempts = coalesce(r.value->>3, failed_attempts), " +
    "attempt_history = coalesce(r.value->>5, attempt_history), " +
    "started_fence = CASE WHEN r.value->>4 THEN fence ELSE started_fence END, " +
    `acquired_by = CASE WHEN ${isLost} THEN acquired_by END, ` +
    `acquired_until = CASE WHEN ${isLost} THEN ?3 END, acquisition_id = ?4 ` +
    `FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 AND ${jobs}.fence = r.value->>1 ` +
    `AND ${jobs}.acquired_by = ?2${isAware ? "" : " AND concurrency_key IS NULL"}`;

  return lazily<ReleaseStatements>({
    // ?1 rows [jobId, fence, 0 for an end, 1 for a put-back or 2 for a start], ?2 schedulerId, ?3 whether this may be a
    // repetition, ?4 stepId.
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
    keepHeldResults: () =>
      `${intoResults} ${resultRows} FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>7 AND j.acquired_by = ?2",
    // ?1 members: fireTime and the text of the run, then the scheduleId; ?2 the verdict that they share. For jobs
    // without a concurrency key that are released for sure.
    enterRuns: () =>
      `${intoRuns(names)} SELECT ${placeOf("b.seq")}, ${KEY_INSTANT}, ?2, ${KEY_ID} ` +
      `FROM json_each(?1) r CROSS JOIN ${books} b ON b.schedule_id = r.value`,
    // ?1 rows [jobId, fence, verdict, startedAt, finishedAt, attempts], ?2 schedulerId. Precedes the statements that
    // remove the jobs.
    enterHeldRuns: () =>
      `${intoRuns(names)} SELECT ${runColumns(names, {
        verdict: "r.value->>2",
        startedAt: "(r.value->>3)",
        finishedAt: "(r.value->>4)",
        attempts: "r.value->>5",
      })} FROM json_each(?1) r CROSS JOIN ${jobs} ON ${jobs}.id = r.value->>0 CROSS JOIN ${booksOf(names)} ` +
      "WHERE fence = r.value->>1 AND acquired_by = ?2",
    // ?1 members jobId: fence, ?2 schedulerId. Leaves jobs with a key, and those that have children, to the next two.
    removeHeld: () => `${removeHeld} AND j.concurrency_key IS NULL AND j.has_children = 0)`,
    // the arguments of removeHeld. Leaves jobs that have children to the next one.
    removeHeldAware: () => `${removeHeld} AND j.has_children = 0)`,
    // the arguments of removeHeld
    removeHeldParents: () => `${removeHeld})`,
    // ?1 rows [jobId, fence, runAt or null, failedAttempts or null, whether the job started, attemptHistory as JSON or
    // null], ?2 schedulerId, ?3 now, ?4 stepId. A job that is to be cancelled, or that had started, gets a lease that
    // has ended, so that recovery, which follows, ends the job or takes it back.
    putBack: () => putBack(false),
    putBackAware: () => putBack(true),
    // ?1 rows [jobId, fence, ...], ?2 schedulerId, ?3 now. Precedes the statements that remove jobs or put them back.
    wakeReleased: () =>
      wakeGates(
        names,
        `SELECT DISTINCT j.task_id, j.concurrency_key, ${wokenAt("?3")} FROM json_each(?1) r ` +
          `CROSS JOIN ${jobs} j ON j.id = r.value->>0 WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 ` +
          "AND j.concurrency_key IS NOT NULL",
      ),
    // ?1 rows [jobId, fence], ?2 schedulerId
    markStarted: () =>
      `UPDATE ${jobs} SET started_fence = fence FROM json_each(?1) r WHERE ${jobs}.id = r.value->>0 ` +
      `AND ${jobs}.fence = r.value->>1 AND ${jobs}.acquired_by = ?2`,
    // ?1 how many rows the statement before this one must have changed
    guardChanges: () => `SELECT ${guardSql("changes() = ?1")} AS guard`,
  });
}
