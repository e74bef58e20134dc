import { PARENTS_GUARD } from "../../driver/driver-and-failures.ts";
import type { DependencyStatements } from "../../jobs/dependencies.ts";
import { DESCENDANTS_PER_COMMIT_MAX, RESOLVED_PER_COMMIT_MAX } from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { enterEnded } from "../history/history-writes.ts";
import { countEnded } from "../history/stats.ts";
import { detail } from "../sql-and-json.ts";
import { endedJobAsJson } from "./job-rows.ts";
import { keepEnded } from "./recovery-and-cancellation.ts";

const { delayed, ready, leased, dependent } = JOB_STATE;

/** A comment before each statement lists its arguments. */
export function dependencyStatements(names: TableNames): DependencyStatements {
  const { jobs, dependencies, results, windows } = names;
  // The children of ?1, as rows of the jobs table `j`. Those that this batch has added have no dependencies yet, and
  // all other jobs that wait have some.
  const added = `json_each(?1) c CROSS JOIN ${jobs} j ON j.id = c.value`;
  const isNew = `j.state = ${dependent} AND NOT EXISTS (SELECT 1 FROM ${dependencies} l WHERE l.child_id = j.id)`;
  const after = `json_each(CASE WHEN json_valid(j.details) THEN j.details ELSE '{}' END, '$.after') p`;
  /** Whether a dependency keeps its child from running. */
  const stops = (alias: string): string => `(${alias}.outcome IS NULL OR ${cancelsBy(alias)})`;
  const isReleased = (child: string): string =>
    `NOT EXISTS (SELECT 1 FROM ${dependencies} o WHERE o.child_id = ${child} AND ${stops("o")})`;
  // The first dependencies that have ended, as the table `w`.
  const ended =
    `(SELECT parent_id, child_id, cancels, outcome FROM ${dependencies} WHERE outcome IS NOT NULL AND parent_id > '' ` +
    `ORDER BY parent_id, child_id LIMIT ${RESOLVED_PER_COMMIT_MAX}) w`;
  /** The jobs to cancel, as the table `doomed`. It depends on the dependencies alone, so that the statements that
   *  follow each other and leave the dependencies as they are find the same jobs. */
  const doomed =
    `WITH RECURSIVE doomed (id) AS (SELECT w.child_id FROM ${ended} WHERE ${cancelsBy("w")} ` +
    `UNION SELECT l.child_id FROM doomed d CROSS JOIN ${dependencies} l ON l.parent_id = d.id WHERE l.cancels = 1 ` +
    `LIMIT ${DESCENDANTS_PER_COMMIT_MAX})`;
  const doomedJobs =
    `seq IN (${doomed} SELECT j.seq FROM doomed d CROSS JOIN ${jobs} j ON j.id = d.id ` +
    `WHERE j.state = ${dependent})`;
  // A job with a key becomes due once more, so that admission decides about it.
  const stateAt = (now: string): string =>
    `CASE WHEN run_at > ${now} OR concurrency_key IS NOT NULL THEN ${delayed} ELSE ${ready} END`;
  // No parent is null: the text depends on the row, because SQLite would fail at a constant in advance.
  const refused = `json_extract('{}', CASE WHEN p.value IS NULL THEN '$' ELSE '${PARENTS_GUARD}' END)`;

  return lazily<DependencyStatements>({
    // ?1 ids of children, ?2 {parentId: [taskId, idempotencyKey, kind and key of a window, key of a burst]}: parents of
    // the same call that another job may stand for. Runs before addDependencies.
    replaceParents: () =>
      `UPDATE ${jobs} SET details = json_set(details, '$.after', json((SELECT json_group_array(coalesce(` +
      `(SELECT q.id FROM ${jobs} q WHERE q.id = p.value), (SELECT coalesce((SELECT q.id FROM ${jobs} q ` +
      "WHERE q.task_id = m.value->>0 AND q.idempotency_key = m.value->>1), " +
      `(SELECT job_id FROM ${windows} WHERE task_id = m.value->>0 AND kind = m.value->>2 AND key = m.value->>3), ` +
      `(SELECT q.id FROM ${jobs} q WHERE q.task_id = m.value->>0 AND q.debounce_key = m.value->>4 ` +
      "AND q.fence = 0)) FROM json_each(?2) m WHERE m.key = p.value), p.value)) " +
      `FROM json_each(${jobs}.details, '$.after') p))) WHERE seq IN (SELECT j.seq FROM ${added} WHERE ${isNew})`,
    // ?1 ids of children. Fails with `PARENTS_GUARD` where a parent is unknown.
    addDependencies: () =>
      `INSERT INTO ${dependencies} (parent_id, child_id, cancels, outcome) SELECT DISTINCT p.value, j.id, ` +
      `coalesce(${detail("onParentFailure", "j")}, '') <> 'run', ` +
      `CASE WHEN EXISTS (SELECT 1 FROM ${jobs} q WHERE q.id = p.value) THEN NULL ELSE coalesce(` +
      `(SELECT r.outcome FROM ${results} r WHERE r.job_id = p.value AND r.expires_at > ${detail("createdAt", "j")}), ` +
      `CASE WHEN ${detail("retryOf", "j")} IS NOT NULL THEN 'success' END, ${refused}) END ` +
      `FROM ${added} CROSS JOIN ${after} WHERE ${isNew} ON CONFLICT DO NOTHING`,
    // ?1 ids of children
    markParents: () =>
      `UPDATE ${jobs} SET has_children = 1 WHERE seq IN (SELECT p.seq FROM json_each(?1) c ` +
      `CROSS JOIN ${dependencies} l ON l.child_id = c.value CROSS JOIN ${jobs} p ON p.id = l.parent_id ` +
      "WHERE l.outcome IS NULL AND p.has_children = 0)",
    // ?1 ids of children
    releaseNew: () =>
      `UPDATE ${jobs} SET state = ${stateAt(detail("createdAt"))} WHERE seq IN (SELECT j.seq FROM json_each(?1) c ` +
      `CROSS JOIN ${jobs} j ON j.id = c.value WHERE j.state = ${dependent} AND ${isReleased("j.id")})`,
    // ?1 ids of children
    forgetNew: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN (SELECT c.value FROM json_each(?1) c ` +
      `CROSS JOIN ${jobs} j ON j.id = c.value WHERE j.state <> ${dependent})`,
    // ?1 ids of children. Columns: `place` in ?1, `state`, and `parent_ids`, a JSON array. No row for one that has
    // ended.
    readNew: () =>
      `SELECT c.key AS place, j.state AS state, ${detail("after", "j")} AS parent_ids FROM json_each(?1) c ` +
      `CROSS JOIN ${jobs} j ON j.id = c.value`,
    // ?1 ids, ?2 now. Those of no job and of no result.
    findUnknown: () =>
      `SELECT c.value AS id FROM json_each(?1) c WHERE NOT EXISTS (SELECT 1 FROM ${jobs} WHERE id = c.value) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = c.value AND expires_at > ?2)`,

    // ?1 rows [jobId, fence, outcome], ?2 schedulerId. Runs before the jobs are removed.
    endFinished: () =>
      `UPDATE ${dependencies} SET outcome = r.value->>2 FROM json_each(?1) r ` +
      `CROSS JOIN ${jobs} j ON j.id = r.value->>0 ` +
      `WHERE j.fence = r.value->>1 AND j.acquired_by = ?2 AND j.has_children = 1 ` +
      `AND ${dependencies}.parent_id = j.id AND ${dependencies}.outcome IS NULL`,
    // ?1 ids. Runs before the jobs are removed.
    endCancelled: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL AND parent_id IN (SELECT j.id ` +
      `FROM json_each(?1) c CROSS JOIN ${jobs} j ON j.id = c.value WHERE j.state <> ${leased})`,
    // ?1 ids. Runs after the jobs were removed.
    forgetCancelled: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN (SELECT c.value FROM json_each(?1) c ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${jobs} WHERE id = c.value))`,

    // The next eight run one after the other. ?1 now.
    enterDoomed: () => `${enterEnded(names, "'cancelled'", "?1")} WHERE ${doomedJobs}`,
    // ?1 now
    addDoomed: () => countEnded(names, ["cancelled"], "?1", doomedJobs),
    // ?1 now
    keepDoomed: () => keepEnded(names, "'cancelled'", "?1", doomedJobs),
    // no arguments
    removeDoomed: () => `DELETE FROM ${jobs} WHERE ${doomedJobs} RETURNING ${endedJobAsJson(jobs)} AS record`,
    // no arguments
    endDoomed: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL AND parent_id IN (${doomed} ` +
      `SELECT d.id FROM doomed d WHERE NOT EXISTS (SELECT 1 FROM ${jobs} WHERE id = d.id))`,
    // ?1 now
    releaseChildren: () =>
      `UPDATE ${jobs} SET state = ${stateAt("?1")} WHERE seq IN (SELECT j.seq FROM ${ended} ` +
      `CROSS JOIN ${jobs} j ON j.id = w.child_id WHERE j.state = ${dependent} AND ${isReleased("w.child_id")}) ` +
      "RETURNING seq, id, task_id, schedule_id, nullif(concurrency_key, '') AS concurrency_key",
    // no arguments. Removes the dependencies of children that were cancelled or released.
    forgetResolved: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN (SELECT w.child_id FROM ${ended} ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${jobs} WHERE id = w.child_id AND state = ${dependent}))`,
    // no arguments. Removes the ended dependencies of children that still wait for others.
    forgetEnded: () =>
      `DELETE FROM ${dependencies} WHERE (parent_id, child_id) IN (SELECT w.parent_id, w.child_id FROM ${ended} ` +
      `WHERE NOT ${cancelsBy("w")} AND NOT ${isReleased("w.child_id")})`,
  });
}

/** Whether a dependency that has ended cancels its child. */
function cancelsBy(alias: string): string {
  return `(${alias}.cancels = 1 AND ${alias}.outcome NOT IN ('success', 'skipped'))`;
}
