import { BACKFILL_ID_LENGTH } from "../../../../records/backfill.ts";
import { IS_BLOCKED_OR_DEPENDENT, IS_UNSTARTED, JOB_COLUMNS, JOB_STATE } from "../../schema/tables.ts";
import { validJson } from "../../sql-and-json.ts";
import { hasMissedStart } from "../schema/tables.ts";
import { detail, readableColumns } from "../sql-and-json.ts";

/** SQL that yields a job's row as JSON text. The columns that hold JSON travel as strings, which `toJob` parses one by
 *  one. This is cheaper than to prove in SQL that each of them is JSON. `table` is the name or alias of the table in
 *  the statement, `more` are further items. */
export function jobAsJson(table: string, ...more: string[]): string {
  const texts = ["details", "attempt_history", "progress"].map((column) => textOrNull(`${table}.${column}`));
  return `json_array(${[...readableColumns(table, JOB_COLUMNS), ...texts, ...more].join(", ")})`;
}

/** As {@link jobAsJson}, but with only those details that `endedWithoutRun` needs, so that the answer stays small. */
export function endedJobAsJson(table: string): string {
  const fields = ["scheduledFireTime", "resultExpirationMs", "failureExpirationMs"].map(
    (name) => `'${name}', ${detail(name, table)}`,
  );
  return `json_array(${readableColumns(table, JOB_COLUMNS).join(", ")}, json_object(${fields.join(", ")}))`;
}

/** SQL of a text; NULL for a BLOB, which is never less than another BLOB that is empty. */
function textOrNull(column: string): string {
  return `CASE WHEN ${column} < x'' THEN ${column} END`;
}

const { delayed, ready, leased } = JOB_STATE;

/** SQL condition of the unfinished jobs of a task. Each state has an index, because one index of all jobs by task would
 *  make an addition a fifth dearer. `task` is the SQL of the task's id. All leased jobs are read, because they are
 *  few. */
export function isJobOfTask(task: string): string {
  const states = [
    `state = ${ready}`,
    `state = ${delayed}`,
    IS_BLOCKED_OR_DEPENDENT,
    `state = ${leased} AND acquired_until > 0`,
  ];
  return `(${states.map((state) => `${state} AND task_id = ${task}`).join(" OR ")})`;
}

/** SQL of whether a plan of its schedule made a job that has a fire time, see `isMadeByPlan` of the records.
 *  @param job the alias of the job's row */
export function isMadeByPlan(job: string): string {
  const isOfNoBackfill = `substr(${job}.id, ${BACKFILL_ID_LENGTH + 1}, 1) <> '.'`;
  return `${isOfNoBackfill} AND ${validJson(`${job}.details`)}->>'retryOf' IS NULL`;
}

/** SQL of whether a job that a plan of its schedule made waits for its first start although it is due.
 *  @param job the alias of the job's row @param now the SQL of the present */
export function isDueUnstarted(job: string, now: string): string {
  const isUnstarted = IS_UNSTARTED.replaceAll(" AND ", ` AND ${job}.`);
  const isInTime = `(${hasMissedStart(now, job)}) IS NOT TRUE`;
  const isDue = `${job}.recoveries = 0 AND ${job}.run_at <= ${now}`;
  return `${job}.${isUnstarted} AND ${isDue} AND ${isMadeByPlan(job)} AND ${isInTime}`;
}
