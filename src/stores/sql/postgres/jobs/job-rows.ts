import { BACKFILL_ID_LENGTH } from "../../../../records/backfill.ts";
import { IS_BLOCKED_OR_DEPENDENT, IS_UNSTARTED, JOB_COLUMNS, JOB_STATE } from "../../schema/tables.ts";
import type { PostgresNames } from "../schema/names.ts";
import { arrayOf, shownJson } from "../sql-and-json.ts";

// How rows of jobs read, see `JobRow`.

/** SQL that yields a job's row as JSON text. `job` is the alias of its row, `more` are further items. */
export function jobAsJson(names: PostgresNames, job: string, ...more: string[]): string {
  const columns = [...JOB_COLUMNS.map((column) => `${job}.${column}`)];
  const texts = ["details", "attempt_history", "progress"].map(
    (column) => `${shownJson(names, `${job}.${column}`)}::text`,
  );
  return arrayOf(...columns, ...texts, ...more);
}

/** As {@link jobAsJson}, but with only those details that `endedWithoutRun` needs, so that the answer stays small. */
export function endedJobAsJson(job: string): string {
  const fields = ["scheduledFireTime", "resultExpirationMs", "failureExpirationMs"].map(
    (name) => `'${name}', ${job}.details->'${name}'`,
  );
  return arrayOf(...JOB_COLUMNS.map((column) => `${job}.${column}`), `json_build_object(${fields.join(", ")})`);
}

const { delayed, ready, leased } = JOB_STATE;

/** SQL condition of the unfinished jobs `job` of a task, each state of which has an index. `task` is the SQL of the
 *  task's id. */
export function isJobOfTask(job: string, task: string): string {
  const states = [
    `${job}.state = ${ready}`,
    `${job}.state = ${delayed}`,
    `${job}.${IS_BLOCKED_OR_DEPENDENT}`,
    `${job}.state = ${leased}`,
  ];
  return `(${states.map((state) => `${state} AND ${job}.task_id = ${task}`).join(" OR ")})`;
}

/** SQL of whether a plan of its schedule made a job that has a fire time, see `isMadeByPlan` of the records. */
export function isMadeByPlan(job: string): string {
  return `substr(${job}.id, ${BACKFILL_ID_LENGTH + 1}, 1) <> '.' AND ${job}.details->>'retryOf' IS NULL`;
}

/** SQL of whether a job waits to start for the first time. */
function isUnstarted(job: string): string {
  return `${job}.${IS_UNSTARTED.replaceAll(" AND ", ` AND ${job}.`)}`;
}

/** SQL of whether a job has missed its start, see rule D1; NULL for a job without a `startDeadline`. */
export function hasMissedStart(now: string, job: string): string {
  return `${job}.start_deadline < ${now} AND ${isUnstarted(job)}`;
}

/** SQL of whether a job that a plan of its schedule made waits for its first start although it is due.
 *  @param job the alias of the job's row @param now the SQL of the present */
export function isDueUnstarted(job: string, now: string): string {
  const isInTime = `(${hasMissedStart(now, job)}) IS NOT TRUE`;
  const isDue = `${job}.recoveries = 0 AND ${job}.run_at <= ${now}`;
  return `${isUnstarted(job)} AND ${isDue} AND ${isMadeByPlan(job)} AND ${isInTime}`;
}

/** SQL of how many attempts of a job have begun. */
export function attemptsOf(job: string): string {
  return `(${job}.failed_attempts + ${job}.recoveries + CASE WHEN ${job}.acquired_by IS NOT NULL THEN 1 ELSE 0 END)`;
}
