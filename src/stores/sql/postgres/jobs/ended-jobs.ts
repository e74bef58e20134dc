import { FAILURE_KEPT_MS } from "../../../../records/limits.ts";
import type { TableNames } from "../../schema/tables.ts";
import type { PostgresNames } from "../schema/names.ts";
import { detail, detailNumber } from "../sql-and-json.ts";
import { attemptsOf } from "./job-rows.ts";

// What remains of jobs `j` that end without a run.

const RESULT_COLUMNS = "job_id, task_id, schedule_id, outcome, expires_at, finished_at, details";

/** SQL that writes results, of which later ones take the place of earlier ones. `select` yields the columns. */
export function intoResults({ results }: TableNames, select: string): string {
  const columns = RESULT_COLUMNS.split(", ").slice(1);
  return (
    `INSERT INTO ${results} (${RESULT_COLUMNS}) ${select} ON CONFLICT (job_id) DO UPDATE SET ` +
    columns.map((column) => `${column} = excluded.${column}`).join(", ")
  );
}

/** SQL that keeps the results of the jobs of a condition: the fields that `endedWithoutRun` gives a result, and what
 *  `withKeptFacts` keeps of the job. */
export function keepEnded(names: PostgresNames, outcome: string, now: string, condition: string): string {
  const { inSchema, jobs } = names;
  const field = (name: string): string => `'${name}', j.details->'${name}'`;
  // As `keptMsOf` says.
  const resultMs = detailNumber("resultExpirationMs", "j");
  const byDefault = `CASE WHEN ${resultMs} > 0 THEN greatest(${resultMs}, ${FAILURE_KEPT_MS}) ELSE 0 END`;
  const keptMs =
    `CASE WHEN (${outcome}) = 'cancelled' THEN ${resultMs} ` +
    `ELSE coalesce(${detailNumber("failureExpirationMs", "j")}, ${byDefault}) END`;
  const ofJob = ["payload", "maxRecoveries", "createdAt", "failureExpirationMs", "metadata", "after", "retry"];
  const kept =
    `json_build_object(${ofJob.map(field).join(", ")}, 'executor', j.executor, 'priority', j.priority, ` +
    // The column of a job that missed its start is null where another has its key.
    `'fireTime', j.fire_time, 'idempotencyKey', coalesce(j.idempotency_key, ${detail("idempotencyKey", "j")}), ` +
    "'concurrencyKey', nullif(j.concurrency_key, ''), " +
    `'resultExpirationMs', CASE WHEN (${outcome}) <> 'cancelled' THEN ${resultMs} END)`;
  // Labels come first, as the triggers of labels expect.
  const details =
    `${inSchema}merged('{}', json_build_object(${field("labels")}, ${field("scheduledFireTime")}, ` +
    `${field("retryOf")}, 'attempts', ${attemptsOf("j")}, 'job', ${kept}, ` +
    "'attemptHistory', j.attempt_history, 'progress', j.progress))";
  return intoResults(
    names,
    `SELECT j.id, j.task_id, j.schedule_id, ${outcome}, ${now} + ${keptMs}, ${now}::bigint, ${details} ` +
      `FROM ${jobs} j WHERE ${condition} AND (${keptMs}) > 0`,
  );
}

/** SQL that tells schedules of the jobs of a condition, which fail: what `failureOf` makes of the result that
 *  `endedWithoutRun` gives. */
export function failEnded({ schedules, jobs }: TableNames, outcome: string, now: string, condition: string): string {
  const failure =
    `json_build_object('jobId', j.id, 'outcome', ${outcome}, ` +
    `'scheduledFireTime', ${detailNumber("scheduledFireTime", "j")}, 'finishedAt', ${now}::bigint, ` +
    `'attempts', ${attemptsOf("j")}, 'error', NULL)`;
  return (
    `UPDATE ${schedules} AS s SET last_failure = f.failure FROM (SELECT DISTINCT ON (j.schedule_id) ` +
    `j.schedule_id AS schedule, ${failure} AS failure FROM ${jobs} j WHERE ${condition} ` +
    "AND j.schedule_id IS NOT NULL ORDER BY j.schedule_id, j.seq DESC) f WHERE s.id = f.schedule"
  );
}
