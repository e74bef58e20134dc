import { HEARTBEATS_MAX, JOB_LOGS_MAX } from "../../../shared/limits.ts";
import { LEASE_GUARD } from "../../driver/driver-and-failures.ts";
import type { BackfillStatements } from "../../jobs/backfills.ts";
import type { LeaseStatements } from "../../jobs/leases-and-heartbeats.ts";
import type { LogStatements } from "../../jobs/logs-of-jobs.ts";
import type { StepStatements } from "../../jobs/steps-of-jobs.ts";
import { STEPS_CHECKED_PER_CLEANUP_MAX, STEPS_REMOVED_PER_CLEANUP_MAX } from "../../limits.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { keptJson, rowsOf, shownJson } from "../sql-and-json.ts";

// The arguments of all statements are those of the statements on SQLite's SQL.

const { delayed, ready, leased } = JOB_STATE;

export function leaseStatements(names: PostgresNames): LeaseStatements {
  const { jobs, schedulers } = names;
  const isCancelled = "j.cancel_requested = 1";
  const columns = ["role", "resident", "tasks", "executors", "alive_until", "heartbeat_at"];
  return lazily<LeaseStatements>({
    extend: () =>
      `UPDATE ${jobs} AS j SET acquired_until = greatest(j.acquired_until, ?3), ` +
      "started_fence = CASE WHEN r.has_started THEN j.fence ELSE j.started_fence END, " +
      `progress = coalesce(${keptJson(names, "r.progress")}, j.progress) ` +
      `FROM ${rowsOf("?1", "r", "id text, fence bigint, has_started boolean, progress text")} ` +
      "WHERE j.id = r.id AND j.fence = r.fence AND j.acquired_by = ?2 RETURNING j.id, j.cancel_requested",
    giveUpStrays: () =>
      `UPDATE ${jobs} AS j SET state = CASE WHEN ${isCancelled} THEN ${leased} ` +
      `WHEN j.concurrency_key IS NULL THEN ${ready} ELSE ${delayed} END, virtual_time = NULL, ` +
      `acquired_by = CASE WHEN ${isCancelled} THEN j.acquired_by END, ` +
      `acquired_until = CASE WHEN ${isCancelled} THEN ?3::bigint END, acquisition_id = NULL ` +
      `WHERE j.state = ${leased} AND starts_with(j.acquisition_id, ?4) AND j.acquisition_id <= ?5 ` +
      "AND j.acquired_by = ?2 " +
      `AND NOT EXISTS (SELECT 1 FROM ${rowsOf("?1", "r", "id text, fence bigint")} ` +
      "WHERE r.id = j.id AND r.fence = j.fence)",
    keepAlive: () =>
      `INSERT INTO ${schedulers} (identity, instance_id, ${columns.join(", ")}) ` +
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (identity, instance_id) DO UPDATE SET " +
      columns.map((column) => `${column} = excluded.${column}`).join(", "),
    getHeartbeats: () =>
      `SELECT identity, instance_id, resident, heartbeat_at, alive_until FROM ${schedulers} ` +
      "WHERE instance_id <> ?1 AND alive_until > heartbeat_at " +
      `ORDER BY alive_until DESC LIMIT ${HEARTBEATS_MAX}`,
    forgetOthers: () => `DELETE FROM ${schedulers} WHERE identity = ?1 AND instance_id <> ?2`,
    getSchedulers: () =>
      `SELECT identity, instance_id, role, resident, tasks, executors, alive_until FROM ${schedulers} ` +
      "WHERE alive_until > ?1 ORDER BY identity, instance_id",
    removeDead: () => `DELETE FROM ${schedulers} WHERE alive_until <= ?2 AND (resident = 0 OR alive_until <= ?1)`,
  });
}

export function logStatements(names: PostgresNames): LogStatements {
  const { jobs, jobLogs, results } = names;
  const rows = rowsOf("?1", "r", "id text, fence bigint, attempt bigint, dropped bigint, lines text");
  return lazily<LogStatements>({
    keepLogs: () =>
      `WITH kept AS (INSERT INTO ${jobLogs} (job_id, fence, attempt, dropped, lines) ` +
      `SELECT r.id, r.fence, r.attempt, r.dropped, ${keptJson(names, "r.lines")} FROM ${rows} ` +
      `JOIN ${jobs} j ON j.id = r.id WHERE j.fence = r.fence AND j.acquired_by = ?2 ` +
      "ON CONFLICT (job_id, fence) DO UPDATE SET attempt = excluded.attempt, dropped = excluded.dropped, " +
      `lines = excluded.lines RETURNING job_id), ` +
      `noted AS (UPDATE ${jobs} AS j SET has_logs = 1 FROM kept WHERE j.id = kept.job_id AND j.has_logs = 0 ` +
      "RETURNING 1) SELECT count(*) AS noted FROM noted",
    trimLogs: () =>
      `DELETE FROM ${jobLogs} l USING ${rows} WHERE l.job_id = r.id AND l.fence <= r.fence - ${JOB_LOGS_MAX}`,
    getLogs: () =>
      `SELECT attempt, dropped, ${shownJson(names, "lines")} AS lines FROM ${jobLogs} WHERE job_id = ?1 ` +
      `AND (EXISTS (SELECT 1 FROM ${jobs} WHERE id = ?1) ` +
      `OR EXISTS (SELECT 1 FROM ${results} WHERE job_id = ?1 AND expires_at > ?2)) ORDER BY fence`,
  });
}

const STEP_COLUMNS =
  "job_id, name, fence, number, check_at, started_at, ended_at, wake_at, attempts, version, value, cursor";

export function stepStatements(names: PostgresNames): StepStatements {
  const { jobs, jobSteps, results } = names;
  const isLeased = "j.id = ?1 AND j.fence = ?2 AND j.acquired_by = ?3 AND j.acquired_until > ?4";
  const hasJob = `EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = s.job_id)`;
  const hasResult = `EXISTS (SELECT 1 FROM ${results} r WHERE r.job_id = s.job_id AND r.expires_at > ?1)`;
  const facts = STEP_COLUMNS.split(", ").slice(2);
  const kept = facts.map((column) =>
    `${column} = excluded.${column}`.replace(/^check_at = .*/, "check_at = coalesce(excluded.check_at, s.check_at)"),
  );
  return lazily<StepStatements>({
    saveStep: () =>
      `INSERT INTO ${jobSteps} AS s (${STEP_COLUMNS}) SELECT j.id, ?5, j.fence, ?6::bigint, ?7::bigint, ?8::bigint, ` +
      "?9::bigint, ?10::bigint, ?11::bigint, ?12::bigint, ?13::text, ?14::text " +
      `FROM ${jobs} j WHERE ${isLeased} ON CONFLICT (job_id, name) DO UPDATE SET ${kept.join(", ")} ` +
      "WHERE s.ended_at IS NULL AND (s.fence, s.number) <= (excluded.fence, excluded.number)",
    extendForStep: () =>
      `UPDATE ${jobs} AS j SET acquired_until = greatest(j.acquired_until, ?5), started_fence = j.fence ` +
      `WHERE ${isLeased} RETURNING j.cancel_requested`,
    guardStep: () => {
      const isSaved =
        `EXISTS (SELECT 1 FROM ${jobSteps} s WHERE s.job_id = ?1 AND s.name = ?2 ` +
        "AND s.fence = ?3 AND s.ended_at IS NOT NULL)";
      return `SELECT ${guardSql(names, isSaved, LEASE_GUARD)} AS guard`;
    },
    getSteps: () =>
      `SELECT name, started_at, ended_at, wake_at, attempts, version, value, cursor FROM ${jobSteps} ` +
      `WHERE job_id = ?1 AND (EXISTS (SELECT 1 FROM ${jobs} WHERE id = ?1) ` +
      `OR EXISTS (SELECT 1 FROM ${results} WHERE job_id = ?1 AND expires_at > ?2)) ORDER BY started_at, name`,
    copySteps: () =>
      `INSERT INTO ${jobSteps} (${STEP_COLUMNS}) SELECT a.id, s.name, 0, 0, s.check_at, s.started_at, s.ended_at, ` +
      "s.wake_at, s.attempts, s.version, s.value, s.cursor " +
      `FROM ${rowsOf("?1", "a", "id text, other text")} JOIN ${jobSteps} s ON s.job_id = a.other ` +
      `WHERE EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = a.id) ON CONFLICT DO NOTHING`,
    putOffSteps: () =>
      `UPDATE ${jobSteps} AS s SET check_at = coalesce((SELECT r.expires_at FROM ${results} r ` +
      "WHERE r.job_id = s.job_id AND r.expires_at > ?1), ?2) WHERE (s.job_id, s.name) IN (SELECT job_id, name " +
      `FROM ${jobSteps} WHERE check_at <= ?1 ORDER BY check_at LIMIT ${STEPS_CHECKED_PER_CLEANUP_MAX}) ` +
      `AND (${hasJob} OR ${hasResult})`,
    removeSteps: () =>
      `DELETE FROM ${jobSteps} WHERE job_id IN (SELECT s.job_id FROM ${jobSteps} s WHERE s.check_at <= ?1 ` +
      `AND NOT ${hasJob} AND NOT ${hasResult} ORDER BY s.check_at LIMIT ${STEPS_REMOVED_PER_CLEANUP_MAX})`,
    hasMoreSteps: () => `SELECT EXISTS (SELECT 1 FROM ${jobSteps} WHERE check_at <= ?1) AS has_more`,
  });
}

export function backfillStatements(names: PostgresNames): BackfillStatements {
  const { backfills, jobs } = names;
  const greatestSeq = (scheduleId: string): string =>
    `coalesce((SELECT max(g.seq) FROM ${backfills} g WHERE g.schedule_id = ${scheduleId}), 0)`;
  const fireTimes = (parameter: string): string =>
    `(SELECT v::bigint AS value FROM json_array_elements_text(${parameter}::json) AS e(v)) f`;
  return lazily<BackfillStatements>({
    seeBackfill: () =>
      `SELECT coalesce((SELECT ${shownJson(names, "details")}::text FROM ${backfills} WHERE schedule_id = ?1 ` +
      `AND key = ?2 ` +
      `AND cancelled = 0), 'null') AS record, ${greatestSeq("?1")} AS seq, ` +
      `(SELECT json_agg(f.value ORDER BY f.value)::text FROM ${fireTimes("?3")} WHERE EXISTS ` +
      `(SELECT 1 FROM ${jobs} j WHERE j.schedule_id = ?1 AND j.fire_time = f.value)) AS taken`,
    commitBackfill: () =>
      `INSERT INTO ${backfills} (id, schedule_id, key, seq, changed_at, details) ` +
      "SELECT ?1, ?2, ?3, ?4::bigint, ?5::bigint, ?6::json " +
      `WHERE ${guardSql(
        names,
        `${greatestSeq("?2")} = ?7 AND NOT EXISTS (SELECT 1 FROM ${fireTimes("?8")} JOIN ${jobs} j ` +
          "ON j.schedule_id = ?2 AND j.fire_time = f.value)",
      )} IS NOT NULL ` +
      "ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, changed_at = excluded.changed_at, details = excluded.details",
    cancelBackfill: () =>
      `UPDATE ${backfills} AS b SET cancelled = 1, changed_at = ?2, ` +
      `seq = greatest(?2, ${greatestSeq("b.schedule_id")} + 1) ` +
      "WHERE b.id = ?1 AND b.cancelled = 0 RETURNING 1 AS changed",
    removeBackfills: () =>
      `DELETE FROM ${backfills} WHERE id IN (SELECT id FROM ${backfills} WHERE changed_at <= ?1 ` +
      "ORDER BY changed_at LIMIT ?2)",
  });
}
