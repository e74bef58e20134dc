import { CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import type { WindowStatements } from "../../jobs/throttle-and-debounce.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { existenceChecks, insertionOfRows, NEW_JOB_ROW_LENGTH } from "./insertion-statements.ts";
import { jobAsJson } from "./job-rows.ts";

const { delayed, ready, dependent } = JOB_STATE;

/** The condition of the index of bursts: a job that was acquired once is no longer debounced. */
const IS_BURST = "debounce_key IS NOT NULL AND fence = 0";

/** SQL of the first place in a burst that only a wrong clock can have given to another addition, see
 *  `placeInBurst`. */
const FAR = `printf('%016d', (excluded.details->>'createdAt') + ${CLOCK_TOLERANCE_MS})`;

/** A comment before each statement lists its arguments; `value` is a row of a JSON parameter. */
export function windowStatements(names: TableNames): WindowStatements {
  const { jobs, commits, windows } = names;
  const { isJob, hasResult, isStamped } = existenceChecks(names);
  const { anyJobs, fromRows } = insertionOfRows(names);
  const [debounceKey, debouncedBy, kind, key] = [0, 1, 2, 3].map((place) => `a.value->>${NEW_JOB_ROW_LENGTH + place}`);
  const burst = (taskId: string, burstKey: string): string =>
    `FROM ${jobs} WHERE task_id = ${taskId} AND debounce_key = ${burstKey} AND ${IS_BURST}`;

  return lazily<WindowStatements>({
    // ?1 rows [taskId, kind, key, until, createdAt, jobId, idempotencyKey or null]. A window that is over is opened
    // anew. A job for whose key an unfinished job stands opens none, because it is not added. A window that a wrong
    // clock opened lasts from this addition on, unless that is a repetition.
    openWindows: () =>
      `INSERT INTO ${windows} (task_id, kind, key, until, opened_at, job_id) SELECT a.value->>0, a.value->>1, ` +
      "a.value->>2, a.value->>3, a.value->>4, a.value->>5 FROM json_each(?1) a " +
      `WHERE NOT EXISTS (SELECT 1 FROM ${jobs} WHERE task_id = a.value->>0 AND idempotency_key = a.value->>6 ` +
      "AND id <> a.value->>5) ON CONFLICT (task_id, kind, key) DO UPDATE SET until = excluded.until, " +
      "opened_at = excluded.opened_at, " +
      `job_id = CASE WHEN ${windows}.until <= excluded.opened_at THEN excluded.job_id ELSE ${windows}.job_id END ` +
      `WHERE ${windows}.until <= excluded.opened_at ` +
      `OR ${windows}.opened_at > excluded.opened_at + ${CLOCK_TOLERANCE_MS} AND NOT ${hasResult("excluded.job_id")} ` +
      `AND NOT ${isStamped("excluded.job_id")} AND NOT ${isJob("excluded.job_id")}`,

    // ?1 rows [taskId, debounceKey], ?2 now. Precedes insertWindowedJobs: an addition takes a job that was admitted
    // away from its limiter, which then has room.
    markBursts: () =>
      markDirty(
        names,
        `SELECT DISTINCT j.task_id, j.concurrency_key, CAST(?2 AS INTEGER) FROM json_each(?1) a CROSS JOIN ${jobs} j ` +
          "ON j.task_id = a.value->>0 AND j.debounce_key = a.value->>1 AND j.debounce_key IS NOT NULL " +
          "AND j.fence = 0 " +
          `WHERE j.state = ${ready} AND +j.concurrency_key IS NOT NULL`,
      ),

    // ?1 rows of newJobRow, each followed by the columns debounce_key and debounced_by (or null), and the kind and key
    // of its window (or null). Follows openWindows: a job with a window is added if the window names it.
    insertWindowedJobs: () =>
      anyJobs(", debounce_key, debounced_by", `, ${debounceKey}, ${debouncedBy}`) +
      `${fromRows}NOT ${hasResult("a.value->>0")} AND NOT ${isStamped("a.value->>0")} ` +
      `AND (${debounceKey} IS NULL OR NOT ${isJob("a.value->>0")}) ` +
      `AND (${kind} IS NULL OR EXISTS (SELECT 1 FROM ${windows} WHERE task_id = a.value->>1 AND kind = ${kind} ` +
      `AND key = ${key} AND job_id = a.value->>0)) ` +
      `ON CONFLICT (task_id, debounce_key) WHERE ${IS_BURST} DO UPDATE SET ${joined(jobs)} ` +
      `WHERE excluded.debounced_by > ${jobs}.debounced_by OR ${jobs}.debounced_by > ${FAR} ` +
      "ON CONFLICT DO NOTHING",

    // ?1 rows [id, taskId, debounceKey], ?2 now. The stamp of an addition tells the job that the addition belongs to.
    stampBursts: () =>
      `INSERT INTO ${commits} (id, at, answer) SELECT a.value->>0, ?2, j.id FROM json_each(?1) a CROSS JOIN ` +
      `${jobs} j ` +
      "ON j.task_id = a.value->>1 AND j.debounce_key = a.value->>2 AND j.debounce_key IS NOT NULL AND j.fence = 0 " +
      "WHERE true ON CONFLICT DO NOTHING",

    // ?1 rows [place, id, taskId, kind, key, createdAt]. Finds the jobs that stand for the jobs of the rows, because
    // they opened the windows of those; `record` is null for one that has ended.
    findOpeners: () =>
      `SELECT a.value->>0 AS place, w.job_id AS id, ` +
      `(SELECT ${jobAsJson(jobs)} FROM ${jobs} WHERE id = w.job_id) AS record FROM json_each(?1) a ` +
      `CROSS JOIN ${windows} w ON w.task_id = a.value->>2 AND w.kind = a.value->>3 AND w.key = a.value->>4 ` +
      `WHERE w.job_id <> a.value->>1 AND w.until > a.value->>5 AND NOT ${hasResult("a.value->>1")} ` +
      `AND NOT ${isStamped("a.value->>1")} AND NOT ${isJob("a.value->>1")}`,

    // ?1 rows [place, id, taskId, debounceKey]. Finds the jobs that the jobs of the rows belong to, also the same one.
    findBursts: () =>
      "WITH b AS MATERIALIZED (SELECT a.value->>0 AS place, " +
      `coalesce((SELECT answer FROM ${commits} WHERE id = a.value->>1), ` +
      `(SELECT id FROM ${jobs} WHERE id = a.value->>1), CASE WHEN ${hasResult("a.value->>1")} THEN a.value->>1 ` +
      `ELSE (SELECT id ${burst("a.value->>2", "a.value->>3")}) END) AS id FROM json_each(?1) a) ` +
      `SELECT b.place AS place, b.id AS id, (SELECT ${jobAsJson(jobs)} FROM ${jobs} WHERE id = b.id) AS record ` +
      "FROM b WHERE b.id IS NOT NULL",

    // ?1 the instant up to which windows are removed, ?2 limit
    removeWindows: () =>
      `DELETE FROM ${windows} WHERE (task_id, kind, key) IN (SELECT task_id, kind, key FROM ${windows} ` +
      "WHERE until <= ?1 ORDER BY until LIMIT +?2)",
  });
}

/** What an addition changes in the job of its burst. `excluded` is the job that the addition would be. */
function joined(jobs: string): string {
  const first = `CASE WHEN json_valid(${jobs}.details) THEN ${jobs}.details->>'createdAt' END`;
  const addedAt = "(excluded.details->>'createdAt')";
  // An addition that is earlier than the first one replaces what a wrong clock wrote.
  const createdAt = `min(coalesce(${first}, ${addedAt}), ${addedAt})`;
  // Null stands for a field that the job does not have. The addition's own parents do not count.
  const kept =
    `CASE WHEN json_valid(${jobs}.details) THEN json_object('createdAt', ${createdAt}, ` +
    `'after', json(${jobs}.details->'after'), 'onParentFailure', ${jobs}.details->>'onParentFailure', ` +
    `'retryOf', ${jobs}.details->>'retryOf') ELSE json_object('createdAt', ${createdAt}) END`;
  const runAt = `min(excluded.run_at, coalesce(${createdAt} + (excluded.details->>'maxWaitMs'), excluded.run_at))`;
  return (
    "executor = excluded.executor, priority = excluded.priority, concurrency_key = excluded.concurrency_key, " +
    `debounced_by = excluded.debounced_by, start_deadline = excluded.start_deadline, ` +
    `virtual_time = NULL, run_at = ${runAt}, ` +
    `details = json_patch(excluded.details, ${kept}), ` +
    // A job with a key that is due is delayed too: then the next commit with flow control blocks it.
    `state = CASE WHEN ${jobs}.state = ${dependent} THEN ${dependent} ` +
    `WHEN ${runAt} > ${addedAt} OR excluded.concurrency_key IS NOT NULL THEN ${delayed} ELSE ${ready} END`
  );
}
