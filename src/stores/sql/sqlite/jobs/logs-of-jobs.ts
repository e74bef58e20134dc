import { JOB_LOGS_MAX } from "../../../shared/limits.ts";
import type { SqlStatement } from "../../driver/driver-and-failures.ts";
import type { LogStatements } from "../../jobs/logs-of-jobs.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { lateTrigger } from "../schema/late-triggers.ts";

export function logStatements({ jobs, jobLogs, results }: TableNames): LogStatements {
  return lazily<LogStatements>({
    // ?1 rows [jobId, fence, attempt, dropped, lines as JSON], ?2 schedulerId
    keepLogs: () =>
      `INSERT OR REPLACE INTO ${jobLogs} (job_id, fence, attempt, dropped, lines) SELECT r.value->>0, r.value->>1, ` +
      `r.value->>2, r.value->>3, r.value->>4 FROM json_each(?1) r CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>1 AND j.acquired_by = ?2",
    // ?1 the same rows
    trimLogs: () =>
      `DELETE FROM ${jobLogs} WHERE rowid IN (SELECT l.rowid FROM json_each(?1) r CROSS JOIN ${jobLogs} l ` +
      `ON l.job_id = r.value->>0 AND l.fence <= (r.value->>1) - ${JOB_LOGS_MAX})`,
    // ?1 jobId, ?2 now
    getLogs: () =>
      `SELECT attempt + 0 AS attempt, dropped + 0 AS dropped, lines FROM ${jobLogs} WHERE job_id = ?1 ` +
      `AND (EXISTS (SELECT 1 FROM ${jobs} WHERE id = ?1) ` +
      `OR EXISTS (SELECT 1 FROM ${results} WHERE job_id = ?1 AND expires_at > ?2)) ORDER BY fence`,
  });
}

/** The triggers that remove logs. A result that takes the place of another removes none. */
export function logTriggers({ jobs, jobLogs, results }: TableNames): SqlStatement[] {
  const remove = (id: string): string => `DELETE FROM ${jobLogs} WHERE job_id = ${id}; `;
  const leavesNone = `WHEN NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = OLD.id)`;
  return [
    lateTrigger(`${jobLogs}_of_jobs`, `AFTER DELETE ON ${jobs} ${leavesNone}`, remove("OLD.id")),
    lateTrigger(`${jobLogs}_of_results`, `AFTER DELETE ON ${results}`, remove("OLD.job_id")),
  ];
}
