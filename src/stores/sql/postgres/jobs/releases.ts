import type { ReleaseStatements } from "../../jobs/releases.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { type Stored, storedWrite } from "../schema/stored.ts";
import { CHANGES, counted, instantMembers, keptJson, rowsOf } from "../sql-and-json.ts";
import { intoResults } from "./ended-jobs.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

const RESULT =
  "job_id text, task_id text, schedule_id text, outcome text, expires_at bigint, finished_at bigint, details text";

/** SQL of the columns of a result out of a row `r` of `resultRow`. */
export function resultOfRow(names: PostgresNames): string {
  const columns = "r.job_id, r.task_id, r.schedule_id, r.outcome, r.expires_at, r.finished_at";
  return `${columns}, ${keptJson(names, "r.details")}`;
}

/** The rows of `resultRow`, for FROM. */
export function resultRows(more = ""): string {
  return rowsOf("?1", "r", RESULT + more);
}

const TEXT = "text";

/** What nearly all commits release. */
export function storedReleases(
  names: PostgresNames,
): Readonly<Record<"keepResults" | "keepAlikeResults" | "removeFinished" | "markStarted", Stored>> {
  const { jobs } = names;
  const isBlocked = "j.id = r.id AND j.fence = r.fence AND j.acquired_by = ?2";
  return {
    keepResults: storedWrite(names, {
      name: "keep_results",
      types: ["json"],
      sql: intoResults(names, `SELECT ${resultOfRow(names)} FROM ${resultRows()} ORDER BY r.key`),
    }),
    keepAlikeResults: storedWrite(names, {
      name: "keep_alike_results",
      types: ["json", TEXT, TEXT, TEXT, "bigint"],
      sql: intoResults(
        names,
        `SELECT r.id, ?2, ?3, ?4, r.instant + ?5, r.instant, r.value FROM ${instantMembers("?1", "r")} ORDER BY r.key`,
      ),
    }),
    removeFinished: storedWrite(
      names,
      {
        name: "remove_finished",
        types: ["json", TEXT, "bigint", "bigint"],
        sql:
          `DELETE FROM ${jobs} j USING (SELECT key AS id, value::text::bigint AS fence FROM json_each(?1::json)) r ` +
          `WHERE ${isBlocked} AND (?3 = 1 OR j.concurrency_key IS NULL) AND (?4 = 1 OR j.has_children = 0)`,
      },
      true,
    ),
    markStarted: storedWrite(
      names,
      {
        name: "mark_started",
        types: ["json", TEXT],
        sql:
          `UPDATE ${jobs} AS j SET started_fence = j.fence ` +
          `FROM ${rowsOf("?1", "r", "id text, fence bigint")} WHERE ${isBlocked}`,
      },
      true,
    ),
  };
}

/** The arguments are those of the statements on SQLite's SQL. */
export function releaseStatements(names: PostgresNames): ReleaseStatements {
  const { jobs, results, schedules, inSchema } = names;
  const functions = storedReleases(names);
  const fenced = rowsOf("?1", "r", "id text, fence bigint");
  const isBlocked = "j.id = r.id AND j.fence = r.fence AND j.acquired_by = ?2";
  const isLost = "(j.cancel_requested = 1 OR coalesce(r.has_started, false))";
  const putBackRow =
    "id text, fence bigint, run_at bigint, failed_attempts bigint, has_started boolean, history text, sleep text";
  // A job that this commit put back carries the commit's id. If the commit leased the job again, its fence is higher by
  // one.
  const wasPutBack = "j.acquisition_id = ?4 AND j.fence - r.fence IN (0, 1)";

  return lazily<ReleaseStatements>({
    releaseStatuses: () =>
      "SELECT string_agg(CASE WHEN j.fence = r.fence AND j.acquired_by = ?2 THEN 'r' " +
      `WHEN ?3 = 1 AND r.kind = 1 AND ${wasPutBack} THEN 'r' WHEN j.id IS NOT NULL THEN 'f' ` +
      `WHEN ?3 = 1 AND r.kind < 2 AND EXISTS (SELECT 1 FROM ${results} x WHERE x.job_id = r.id) THEN 'r' ` +
      `ELSE 'm' END, '' ORDER BY r.key) AS letters FROM ${rowsOf("?1", "r", "id text, fence bigint, kind integer")} ` +
      `LEFT JOIN ${jobs} j ON j.id = r.id`,
    keepResults: () => functions.keepResults.statement,
    keepAlikeResults: () => functions.keepAlikeResults.statement,
    keepResultsOfLeased: () =>
      intoResults(
        names,
        `SELECT ${resultOfRow(names)} FROM ${resultRows(", fence bigint")} JOIN ${jobs} j ON j.id = r.job_id ` +
          "WHERE j.fence = r.fence AND j.acquired_by = ?2 ORDER BY r.key",
      ),
    removeFinished: () => functions.removeFinished.statement,
    putBack: () =>
      counted(
        `UPDATE ${jobs} AS j SET state = CASE WHEN ${isLost} THEN ${leased} ` +
          `WHEN coalesce(r.run_at > ?3, false) THEN ${delayed} WHEN j.concurrency_key IS NULL THEN ${ready} ` +
          `ELSE ${blocked} END, run_at = coalesce(r.run_at, j.run_at), virtual_time = NULL, ` +
          // The result of a job that ends here counts its last attempt as one without an end.
          "failed_attempts = CASE WHEN j.cancel_requested = 1 THEN j.failed_attempts " +
          "ELSE coalesce(r.failed_attempts, j.failed_attempts) END, " +
          `attempt_history = coalesce(${keptJson(names, "r.history")}, j.attempt_history), ` +
          "started_fence = CASE WHEN r.has_started OR r.sleep IS NOT NULL THEN j.fence ELSE j.started_fence END, " +
          "details = CASE WHEN r.sleep IS NOT NULL " +
          `THEN ${inSchema}merged(j.details, json_build_object('sleep', ${keptJson(names, "r.sleep")})) ELSE ` +
          `j.details END, ` +
          `acquired_by = CASE WHEN ${isLost} THEN j.acquired_by END, ` +
          `acquired_until = CASE WHEN ${isLost} THEN ?3::bigint END, acquisition_id = ?4 ` +
          `FROM ${rowsOf("?1", "r", putBackRow)} WHERE ${isBlocked} AND (?5 = 1 OR j.concurrency_key IS NULL)`,
      ),
    markReleased: () =>
      markDirty(
        names,
        `SELECT j.task_id, j.concurrency_key, ?3::bigint FROM ${fenced} JOIN ${jobs} j ON ${isBlocked} ` +
          "WHERE j.concurrency_key IS NOT NULL",
      ),
    markStarted: () => functions.markStarted.statement,
    recordFailed: () =>
      `UPDATE ${schedules} AS s SET last_failure = f.failure FROM (SELECT DISTINCT ON (j.schedule_id) ` +
      `j.schedule_id AS schedule, ${keptJson(names, "r.failure")} AS failure FROM ` +
      `${rowsOf("?1", "r", "id text, fence bigint, at bigint, failure text")} JOIN ${jobs} j ON ${isBlocked} ` +
      "WHERE j.schedule_id IS NOT NULL ORDER BY j.schedule_id, r.at DESC, r.key) f WHERE s.id = f.schedule",
    guardChanges: () => `SELECT ${guardSql(names, `${CHANGES} = ?1`)} AS done`,
  });
}
