import type { AdditionStatements, InsertionStatements } from "../../jobs/insertion-statements.ts";
import { STAMPS_PER_CLEANUP_MAX } from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import { hasMissedStart } from "../schema/tables.ts";
import { KEY_ID, KEY_INSTANT } from "../sql-and-json.ts";
import { jobAsJson } from "./job-rows.ts";

const { delayed, dependent } = JOB_STATE;

/** The columns of which `newJobRow` has the values. */
const NEW_JOB_COLUMNS =
  "id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, " +
  "fence, failed_attempts, recoveries, cancel_requested, details, start_deadline";

/** How many columns {@link newJobRow} has. */
export const NEW_JOB_ROW_LENGTH = 16;

function newJobValues(state: string): string {
  return (
    "value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, " +
    `value->>7, ${state}, value->>9, value->>10, value->>11, 0, value->>12, value->>15`
  );
}

/** Whether a job of `fromRows` has no key of its own, and is admitted nevertheless. Then it is delayed until a commit
 *  with flow control finds it due, and marks its limiter. */
const isAdmitted = `value->>13 IS NULL AND t.own_key IS NOT NULL AND value->>8 <> ${dependent}`;

/** SQL that inserts jobs from rows of `newJobRow`. */
interface InsertionOfRows {
  /** `INSERT INTO ... SELECT ...`, with further columns and their values. */
  readonly anyJobs: (columns?: string, values?: string) => string;
  /** `FROM`: the rows of ?1, with what their values need, up to an `AND`. */
  readonly fromRows: string;
  readonly where: string;
}

export function insertionOfRows(names: TableNames): InsertionOfRows {
  const { jobs, tasks } = names;
  const { hasResult } = existenceChecks(names);
  // A job that repeats another needs the result of that one.
  const where = `WHERE (a.value->>14 IS NULL OR ${hasResult("a.value->>14")}) AND `;
  return {
    anyJobs: (columns = "", values = "") =>
      `INSERT INTO ${jobs} (${NEW_JOB_COLUMNS}, concurrency_key${columns}) ` +
      `SELECT ${newJobValues(`CASE WHEN ${isAdmitted} THEN ${delayed} ELSE value->>8 END`)}, ` +
      `coalesce(value->>13, t.own_key)${values} `,
    fromRows: `FROM json_each(?1) a LEFT JOIN ${tasks} t ON t.id = a.value->>1 ${where}`,
    where,
  };
}

/** A comment before each statement lists its arguments; `value` is a row of a JSON parameter. */
export function additionStatements(names: TableNames): AdditionStatements {
  const { jobs, tasks, commits } = names;
  const { isJob, hasResult, isStamped } = existenceChecks(names);
  const { anyJobs, fromRows, where } = insertionOfRows(names);
  const hasMissedKey = `j.idempotency_key = a.value->>1 AND ${hasMissedStart("a.value->>6", "j")}`;
  return lazily<AdditionStatements>({
    insert: () =>
      insertionStatements(names, {
        anyJobs: anyJobs(),
        fromRows,
        ownKey: `(SELECT own_key FROM ${tasks} WHERE id = ?2)`,
      }),
    insertPlainly: () =>
      insertionStatements(names, {
        anyJobs: `INSERT INTO ${jobs} (${NEW_JOB_COLUMNS}) SELECT ${newJobValues("value->>8")} `,
        fromRows: `FROM json_each(?1) a ${where}`,
        ownKey: null,
      }),
    // ?1 rows [id, taskId, idempotencyKey, createdAt]. Precedes the insertions: jobs that have missed their start leave
    // their keys to them, and a commit ends those jobs later.
    freeKeys: () =>
      `UPDATE ${jobs} SET idempotency_key = NULL, details = CASE WHEN json_valid(details) ` +
      "THEN json_set(details, '$.idempotencyKey', idempotency_key) ELSE details END " +
      `WHERE seq IN (SELECT j.seq FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.task_id = a.value->>1 ` +
      `AND j.idempotency_key = a.value->>2 WHERE j.id <> a.value->>0 AND ${hasMissedStart("a.value->>3", "j")})`,
    // ?1 rows [id, idempotencyKey, scheduleId, fireTime, place, taskId, createdAt]. Finds the existing jobs
    // that were there in the place of the jobs of the rows, with the places of those rows. None is found for a job of
    // the rows that was added, whichever job has its key by now. Undoes the batch when an existing job has missed its
    // start and has a key that freeKeys would free.
    findExistingJobs: () =>
      `SELECT ${jobAsJson("j")} AS record, a.value->>4 AS place, ` +
      `${guardSql(`(${hasMissedKey}) IS NOT TRUE`)} AS guard ` +
      `FROM json_each(?1) a CROSS JOIN ${jobs} j ON j.seq = ` +
      `coalesce((SELECT seq FROM ${jobs} WHERE task_id = a.value->>5 AND idempotency_key = a.value->>1), ` +
      `(SELECT seq FROM ${jobs} WHERE schedule_id = a.value->>2 AND fire_time = a.value->>3)) ` +
      `WHERE j.id <> a.value->>0 AND NOT ${isJob("a.value->>0")} AND NOT ${isStamped("a.value->>0")} ` +
      `AND NOT ${hasResult("a.value->>0")}`,
    // ?1 rows [id, place] of jobs that repeat others. Finds those that were not added, because the others have no
    // result, with the places of their rows.
    findOutdated: () =>
      "SELECT a.value->>1 AS place FROM json_each(?1) a " +
      `WHERE NOT ${isJob("a.value->>0")} AND NOT ${hasResult("a.value->>0")}`,
    // ?1 rows [stamp, jobId or null], ?2 now. A row with a jobId leaves its stamp only if that job was added.
    stampAdditions: () =>
      `INSERT INTO ${commits} (id, at) SELECT value->>0, ?2 FROM json_each(?1) a ` +
      `WHERE a.value->>1 IS NULL OR EXISTS (SELECT 1 FROM ${jobs} WHERE id = a.value->>1) ON CONFLICT DO NOTHING`,
    // ?1 the instant up to which stamps are removed
    removeStamps: () =>
      `DELETE FROM ${commits} WHERE id IN (SELECT id FROM ${commits} WHERE at <= ?1 ` +
      `ORDER BY at LIMIT ${STAMPS_PER_CLEANUP_MAX})`,
  });
}

/** How jobs are added: `anyJobs` takes rows of `fromRows`, whose condition further ones follow, and `ownKey` is the key
 *  of jobs of the task ?2 without a key of their own, or null where they get none. */
interface InsertionForm {
  readonly anyJobs: string;
  readonly fromRows: string;
  readonly ownKey: string | null;
}

function insertionStatements(names: TableNames, { anyJobs, fromRows, ownKey }: InsertionForm): InsertionStatements {
  const { jobs, results } = names;
  const { hasResult, isStamped } = existenceChecks(names);
  // A job that has a result has run already, because an earlier try added the job. A job that ran and left no result
  // has a stamp.
  const newJobs = (isNotStamped = ""): string =>
    `${anyJobs}${fromRows}NOT ${hasResult("a.value->>0")} ${isNotStamped}ON CONFLICT DO NOTHING`;
  const [keyColumn, keyValue] = ownKey === null ? ["", ""] : [", concurrency_key", `, ${ownKey}`];
  // Nobody knows here whether jobs without a key of their own are admitted, see `isAdmitted`.
  const state = ownKey === null ? "?5" : `CASE WHEN ?5 = ${dependent} OR ${ownKey} IS NULL THEN ?5 ELSE ${delayed} END`;
  // Columns that stay null are left out, because a client that prepares a statement anew each time pays for each.
  const columns =
    "(id, task_id, executor, priority, run_at, state, fence, failed_attempts, recoveries, cancel_requested, " +
    `details${keyColumn})`;
  const values = (id: string, runAt: string, details: string): string =>
    `SELECT ${id}, ?2, ?3, ?4, ${runAt}, ${state}, 0, 0, 0, 0, ${details}${keyValue} `;
  // The ids of new jobs nearly always come after those of all results, which takes a third less time to see.
  const newAlikeJobs = (isNotStamped = ""): string =>
    `INSERT INTO ${jobs} ${columns} ${values(KEY_ID, KEY_INSTANT, "value")}FROM json_each(?1) a WHERE ` +
    `(${KEY_ID} > ifnull((SELECT max(job_id) FROM ${results}), '') OR NOT ${hasResult(KEY_ID)}) ` +
    `${isNotStamped}ON CONFLICT DO NOTHING`;
  return lazily<InsertionStatements>({
    // ?1 rows of newJobRow. The statements for batches without a stamp are shorter, because a client that prepares a
    // statement anew each time spends most of its time on that.
    jobs: () => newJobs(),
    // and ?2 the batch's stamp. A job in whose place another may exist (it has a fire time or an idempotency key) is
    // stamped by its own id alone, never by the batch's stamp.
    stampedJobs: () =>
      newJobs(
        `AND NOT ${isStamped("a.value->>0")} ` +
          `AND (coalesce(value->>4, value->>5) IS NOT NULL OR NOT ${isStamped("?2")}) `,
      ),
    // ?1 members: runAt and id, then the details; the values that all rows share: ?2 taskId, ?3 executor, ?4 priority,
    // ?5 state
    alikeJobs: () => newAlikeJobs(),
    // ?1 id, ?2 taskId, ?3 executor, ?4 priority, ?5 state, ?6 runAt, ?7 details; none is null. One job alone costs a
    // quarter less by this statement than by alikeJobs.
    oneJob: () => `INSERT OR IGNORE INTO ${jobs} ${columns} ${values("?1", "?6", "?7")}WHERE NOT ${hasResult("?1")}`,
    // alikeJobs, and ?6 the batch's stamp
    stampedAlikeJobs: () => newAlikeJobs(`AND NOT ${isStamped("?6")} AND NOT ${isStamped(KEY_ID)} `),
  });
}

/** SQL conditions by which a repeated addition finds what became of the job that it added before: the job is
 *  unfinished, or has ended and has a result, or its addition left a stamp. Each takes the SQL of the job's id. */
export function existenceChecks({
  jobs,
  results,
  commits,
}: TableNames): Readonly<Record<"isJob" | "hasResult" | "isStamped", (id: string) => string>> {
  return {
    isJob: (id) => `EXISTS (SELECT 1 FROM ${jobs} WHERE id = ${id})`,
    hasResult: (id) => `EXISTS (SELECT 1 FROM ${results} WHERE job_id = ${id})`,
    isStamped: (id) => `EXISTS (SELECT 1 FROM ${commits} WHERE id = ${id})`,
  };
}
