import { NO_VERSION } from "../task-declarations.ts";
import { type AcquisitionStatements, acquisitionStatements } from "./acquisition-statements.ts";
import { type InspectionStatements, inspectionStatements } from "./inspection.ts";
import { type JobStatements, jobStatements } from "./job-statements.ts";
import { STAMPS_PER_CLEANUP_MAX } from "./limits.ts";
import { type PlanStatements, planStatements } from "./plan-statements.ts";
import { type RecoveryStatements, recoveryStatements } from "./recovery-statements.ts";
import { type ReleaseStatements, releaseStatements } from "./release-statements.ts";
import { resultAsJson, taskAsJson } from "./rows.ts";
import { type ScheduleStatements, scheduleStatements } from "./schedule-statements.ts";
import { REMOVED, type TableNames } from "./schema.ts";

interface TaskStatements {
  readonly getTasksById: string;
  readonly putTasks: string;
  readonly getTasks: string;
  readonly getTask: string;
  readonly isTaskInUse: string;
  readonly removeTask: string;
}

interface ResultStatements {
  readonly getResult: string;
  readonly getResults: string;
  readonly getResultsOfTask: string;
  readonly getResultsOfSchedule: string;
  readonly getUnsuccessful: Readonly<Record<string, string>>;
  readonly removeExpired: string;
  readonly countChanges: string;
  readonly removeStamps: string;
  readonly removeDead: string;
}

/**
 * Every statement that the store sends once it is open, except looks (see `lookStatement`). A test reads the query plan
 * of each statement.
 *
 * A parameter after LIMIT has a sign (`LIMIT +?2`). Without the sign, SQLite 3.53 prepares the statement anew for each
 * value that is bound, which costs ten times as much as a look, because it plans for that value.
 */
export interface Statements
  extends TaskStatements,
    ResultStatements,
    JobStatements,
    ReleaseStatements,
    RecoveryStatements,
    ScheduleStatements,
    PlanStatements,
    AcquisitionStatements,
    InspectionStatements {}

export function makeStatements(names: TableNames): Statements {
  return Object.freeze({
    ...taskStatements(names),
    ...resultStatements(names),
    ...jobStatements(names),
    ...releaseStatements(names),
    ...recoveryStatements(names),
    ...scheduleStatements(names),
    ...planStatements(names),
    ...acquisitionStatements(names),
    ...inspectionStatements(names),
  });
}

function taskStatements({ tasks, schedules, jobs }: TableNames): TaskStatements {
  const record = `${taskAsJson(tasks)} AS record`;
  const isInUse =
    `EXISTS (SELECT 1 FROM ${schedules} WHERE task_id = ?1) ` + `OR EXISTS (SELECT 1 FROM ${jobs} WHERE task_id = ?1)`;
  return {
    // ?1 ids
    getTasksById:
      `SELECT ${taskAsJson("t")} AS record FROM json_each(?1) a CROSS JOIN ${tasks} t ON t.id = a.value ` +
      `WHERE t.declaration IS NOT ${REMOVED}`,
    // ?1 rows of taskRow
    putTasks: putTasks(tasks),
    // ?1 id to start after
    getTasks: `SELECT ${record} FROM ${tasks} WHERE id > ?1 AND declaration IS NOT ${REMOVED} ORDER BY id`,
    // ?1 id
    getTask: `SELECT ${record} FROM ${tasks} WHERE id = ?1 AND declaration IS NOT ${REMOVED}`,
    isTaskInUse: `SELECT ${isInUse} AS in_use`,
    removeTask:
      `UPDATE ${tasks} SET declaration = ${REMOVED}, version = NULL ` +
      `WHERE id = ?1 AND declaration IS NOT ${REMOVED} AND NOT (${isInUse}) RETURNING id`,
  };
}

/** Puts tasks as `putTask` tells. A task that was removed is put like a new one. */
function putTasks(tasks: string): string {
  const storedVersion = `coalesce(${tasks}.version, ${NO_VERSION})`;
  const givenVersion = `coalesce(excluded.version, ${NO_VERSION})`;
  const isEdit = "excluded.declaration IS NULL";
  const isReplaced =
    `(${isEdit} OR ${tasks}.declaration IS ${REMOVED} OR ` +
    `(${tasks}.declaration IS NOT excluded.declaration AND ${storedVersion} <= ${givenVersion}))`;
  const replaced = ["max_running_jobs", "details"].map(
    (column) => `${column} = CASE WHEN ${isReplaced} THEN excluded.${column} ELSE ${tasks}.${column} END`,
  );
  return (
    `INSERT INTO ${tasks} (id, max_running_jobs, details, declaration, version) ` +
    "SELECT value->>0, value->>1, value->>2, value->>3, value->>4 FROM json_each(?1) WHERE true " +
    `ON CONFLICT (id) DO UPDATE SET ${replaced.join(", ")}, ` +
    `declaration = CASE WHEN ${isEdit} THEN nullif(${tasks}.declaration, ${REMOVED}) ` +
    `WHEN ${isReplaced} THEN excluded.declaration ELSE ${tasks}.declaration END, ` +
    `version = CASE WHEN ${isEdit} THEN ${tasks}.version ` +
    `ELSE nullif(max(${storedVersion}, ${givenVersion}), ${NO_VERSION}) END`
  );
}

function resultStatements({ results, steps, incarnations }: TableNames): ResultStatements {
  const select = `SELECT ${resultAsJson(results)} AS record FROM ${results}`;
  // ?1 job id to start after, ?2 limit, ?3 now, ?4 taskId or null, ?5 scheduleId or null, ?6 outcome or null
  const page =
    "job_id > ?1 AND expires_at > ?3 AND (?4 IS NULL OR task_id = ?4) AND (?5 IS NULL OR schedule_id = ?5) " +
    "AND (?6 IS NULL OR outcome = ?6) ORDER BY job_id LIMIT +?2";
  const unsuccessful = ["error", "missedStartDeadline", "deserializationFailed", "cancelled", "abandoned"];
  return {
    // ?1 job id, ?2 now
    getResult: `${select} WHERE job_id = ?1 AND expires_at > ?2`,
    getResults: `${select} WHERE ${page}`,
    getResultsOfTask: `${select} WHERE task_id = ?4 AND ${page}`,
    getResultsOfSchedule: `${select} WHERE schedule_id = ?5 AND ${page}`,
    // SQLite uses the partial index only for an outcome that stands in the statement as text.
    getUnsuccessful: Object.fromEntries(
      unsuccessful.map((outcome) => [outcome, `${select} WHERE outcome = '${outcome}' AND ${page}`]),
    ),
    // ?1 now, ?2 limit
    removeExpired:
      `DELETE FROM ${results} WHERE rowid IN (SELECT rowid FROM ${results} WHERE expires_at <= ?1 ` +
      "ORDER BY expires_at LIMIT +?2)",
    // How many rows the statement before this one changed.
    countChanges: "SELECT changes() AS changes",
    // ?1 the instant up to which stamps are removed
    removeStamps:
      `DELETE FROM ${steps} WHERE id IN (SELECT id FROM ${steps} WHERE at <= ?1 ` +
      `ORDER BY at LIMIT ${STAMPS_PER_CLEANUP_MAX})`,
    // ?1 the instant up to which resident schedulers are removed, ?2 now
    removeDead: `DELETE FROM ${incarnations} WHERE alive_until <= ?2 AND (resident = 0 OR alive_until <= ?1)`,
  };
}
