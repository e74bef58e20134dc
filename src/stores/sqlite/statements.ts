import { NO_VERSION } from "../task-declarations.ts";
import { type AcquisitionStatements, acquisitionStatements } from "./acquisition-statements.ts";
import { type ChainStatements, chainStatements } from "./chain-statements.ts";
import { type InspectionStatements, inspectionStatements } from "./inspection.ts";
import { type JobStatements, jobStatements } from "./job-statements.ts";
import { type PlanStatements, planStatements } from "./plan-statements.ts";
import { type RecoveryStatements, recoveryStatements } from "./recovery-statements.ts";
import { type ReleaseStatements, releaseStatements } from "./release-statements.ts";
import { type ResultStatements, resultStatements } from "./result-statements.ts";
import { taskAsJson } from "./rows.ts";
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
    ChainStatements,
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
    ...chainStatements(names),
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
