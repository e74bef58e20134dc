import { LEASE_GUARD } from "../../driver/driver-and-failures.ts";
import type { StepStatements } from "../../jobs/steps-of-jobs.ts";
import { STEPS_CHECKED_PER_CLEANUP_MAX, STEPS_REMOVED_PER_CLEANUP_MAX } from "../../limits.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { instant } from "../sql-and-json.ts";

const COLUMNS =
  "job_id, name, fence, number, check_at, started_at, ended_at, wake_at, attempts, version, value, cursor";

/** A comment before each statement lists its arguments. */
export function stepStatements({ jobs, jobSteps, results }: TableNames): StepStatements {
  const isLeased = "id = ?1 AND fence = ?2 AND acquired_by = ?3 AND acquired_until > ?4";
  const times = ["started_at", "ended_at", "wake_at"].map((column) => `${instant(column)} AS ${column}`);
  // Of the jobs whose rows are to be checked.
  const hasJob = `EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = job_id)`;
  const hasResult = `EXISTS (SELECT 1 FROM ${results} r WHERE r.job_id = ${jobSteps}.job_id AND r.expires_at > ?1)`;
  return lazily<StepStatements>({
    // ?1 jobId, ?2 fence, ?3 schedulerId, ?4 now, ?5 name, ?6 number, ?7 check_at or null, ?8 startedAt, ?9 endedAt,
    // ?10 wakeAt, ?11 attempts, ?12 version, ?13 value, ?14 cursor. A row that has ended, and one of a later save,
    // stay.
    saveStep: () =>
      `INSERT INTO ${jobSteps} (${COLUMNS}) SELECT id, ?5, fence, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 ` +
      `FROM ${jobs} WHERE ${isLeased} ` +
      "ON CONFLICT (job_id, name) DO UPDATE SET fence = excluded.fence, number = excluded.number, " +
      "check_at = coalesce(excluded.check_at, check_at), started_at = excluded.started_at, " +
      "ended_at = excluded.ended_at, wake_at = excluded.wake_at, attempts = excluded.attempts, " +
      "version = excluded.version, value = excluded.value, cursor = excluded.cursor " +
      "WHERE ended_at IS NULL AND (fence, number) <= (excluded.fence, excluded.number)",
    // ?1 jobId, ?2 fence, ?3 schedulerId, ?4 now, ?5 until
    extendForStep: () =>
      `UPDATE ${jobs} SET acquired_until = max(acquired_until, ?5), started_fence = fence WHERE ${isLeased} ` +
      "RETURNING cancel_requested",
    // ?1 jobId, ?2 name, ?3 fence. Undoes the transaction of an application whose step was not written, or was before
    // under another lease.
    guardStep: () =>
      `SELECT json_extract('{}', CASE WHEN EXISTS (SELECT 1 FROM ${jobSteps} WHERE job_id = ?1 AND name = ?2 ` +
      `AND fence = ?3 AND ended_at IS NOT NULL) THEN '$' ELSE '${LEASE_GUARD}' END) AS guard`,
    // ?1 jobId, ?2 now
    getSteps: () =>
      `SELECT name, ${times.join(", ")}, attempts, version, value, cursor FROM ${jobSteps} WHERE job_id = ?1 ` +
      `AND (EXISTS (SELECT 1 FROM ${jobs} WHERE id = ?1) ` +
      `OR EXISTS (SELECT 1 FROM ${results} WHERE job_id = ?1 AND expires_at > ?2)) ORDER BY started_at, name`,
    // ?1 rows [jobId, the job whose steps it gets]
    copySteps: () =>
      `INSERT INTO ${jobSteps} (${COLUMNS}) SELECT a.value->>0, s.name, 0, 0, s.check_at, s.started_at, s.ended_at, ` +
      "s.wake_at, s.attempts, s.version, s.value, s.cursor " +
      `FROM json_each(?1) a CROSS JOIN ${jobSteps} s ON s.job_id = a.value->>1 ` +
      `WHERE EXISTS (SELECT 1 FROM ${jobs} WHERE id = a.value->>0) ON CONFLICT DO NOTHING`,
    // ?1 now, ?2 when to ask again for unfinished jobs
    putOffSteps: () =>
      `UPDATE ${jobSteps} SET check_at = coalesce((SELECT expires_at FROM ${results} r ` +
      `WHERE r.job_id = ${jobSteps}.job_id AND expires_at > ?1), ?2) WHERE (job_id, name) IN (SELECT job_id, name ` +
      `FROM ${jobSteps} WHERE check_at <= ?1 ORDER BY check_at LIMIT ${STEPS_CHECKED_PER_CLEANUP_MAX}) ` +
      `AND (${hasJob} OR ${hasResult})`,
    // ?1 now
    removeSteps: () =>
      `DELETE FROM ${jobSteps} WHERE job_id IN (SELECT job_id FROM ${jobSteps} WHERE check_at <= ?1 ` +
      `AND NOT ${hasJob} AND NOT ${hasResult} ORDER BY check_at LIMIT ${STEPS_REMOVED_PER_CLEANUP_MAX})`,
    // ?1 now
    hasMoreSteps: () => `SELECT EXISTS (SELECT 1 FROM ${jobSteps} WHERE check_at <= ?1) AS has_more`,
  });
}
