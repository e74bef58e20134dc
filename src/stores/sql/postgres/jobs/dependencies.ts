import { PARENTS_GUARD } from "../../driver/driver-and-failures.ts";
import type { DependencyStatements } from "../../jobs/dependencies.ts";
import { DESCENDANTS_PER_COMMIT_MAX, RESOLVED_PER_COMMIT_MAX } from "../../limits.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { enterEnded } from "../history/history-writes.ts";
import { countEnded } from "../history/stats.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { detail, detailNumber, inOrderOfKeys, rowsOf, textsOf } from "../sql-and-json.ts";
import { keepEnded } from "./ended-jobs.ts";
import { endedJobAsJson } from "./job-rows.ts";

const { delayed, ready, leased, dependent } = JOB_STATE;

/** The arguments are those of the statements on SQLite's SQL. */
export function dependencyStatements(names: PostgresNames): DependencyStatements {
  const { jobs, dependencies, results, windows, inSchema } = names;
  // The children of ?1, as rows of the jobs table `j`. Those that this batch has added have no dependencies yet, and
  // all other jobs that wait have some.
  const added = `${textsOf("?1", "c")} JOIN ${jobs} j ON j.id = c.value`;
  const isNew = `j.state = ${dependent} AND NOT EXISTS (SELECT 1 FROM ${dependencies} l WHERE l.child_id = j.id)`;
  const parents = "json_array_elements_text(coalesce(j.details->'after', '[]')) WITH ORDINALITY p(value, place)";
  /** Whether a dependency keeps its child from running. */
  const stops = (alias: string): string => `(${alias}.outcome IS NULL OR ${cancelsBy(alias)})`;
  const isReleased = (child: string): string =>
    `NOT EXISTS (SELECT 1 FROM ${dependencies} o WHERE o.child_id = ${child} AND ${stops("o")})`;
  // The first dependencies that have ended, as the table `w`.
  const ended =
    `(SELECT parent_id, child_id, cancels, outcome FROM ${dependencies} WHERE outcome IS NOT NULL ` +
    `ORDER BY parent_id, child_id LIMIT ${RESOLVED_PER_COMMIT_MAX}) w`;
  /** The jobs to cancel. It depends on the dependencies alone, so that the statements that follow each other and leave
   *  the dependencies as they are find the same jobs. */
  const doomed =
    `WITH RECURSIVE doomed (id) AS (SELECT w.child_id FROM ${ended} WHERE ${cancelsBy("w")} ` +
    `UNION SELECT l.child_id FROM doomed d JOIN ${dependencies} l ON l.parent_id = d.id WHERE l.cancels = 1), ` +
    `first AS MATERIALIZED (SELECT id FROM doomed LIMIT ${DESCENDANTS_PER_COMMIT_MAX}) `;
  const doomedJobs =
    `j.seq IN (${doomed} SELECT i.seq FROM first d JOIN ${jobs} i ON i.id = d.id WHERE i.state ` + `= ${dependent})`;
  // A job with a key becomes due once more, so that admission decides about it.
  const stateAt = (now: string): string =>
    `CASE WHEN j.run_at > ${now} OR j.concurrency_key IS NOT NULL THEN ${delayed} ELSE ${ready} END`;
  const known = guardSql(names, "p.value IS NULL", PARENTS_GUARD);
  // Of the same call, by the keys of ?2.
  const standIn =
    "(SELECT coalesce(" +
    `(SELECT q.id FROM ${jobs} q WHERE q.task_id = m.value->>0 AND q.idempotency_key = m.value->>1), ` +
    `(SELECT w.job_id FROM ${windows} w WHERE w.task_id = m.value->>0 AND w.kind = m.value->>2 ` +
    "AND w.key = m.value->>3), " +
    `(SELECT q.id FROM ${jobs} q WHERE q.task_id = m.value->>0 AND q.debounce_key = m.value->>4 AND q.fence = 0)) ` +
    "FROM json_each(?2::json) m WHERE m.key = p.value)";

  return lazily<DependencyStatements>({
    replaceParents: () =>
      `UPDATE ${jobs} AS j SET details = ${inSchema}merged(j.details, json_build_object('after', (SELECT json_agg(` +
      `coalesce((SELECT q.id FROM ${jobs} q WHERE q.id = p.value), ${standIn}, p.value) ORDER BY p.place) ` +
      `FROM ${parents}))) FROM ${textsOf("?1", "c")} WHERE j.id = c.value AND ${isNew}`,
    addDependencies: () =>
      `INSERT INTO ${dependencies} (parent_id, child_id, cancels, outcome) SELECT p.value, j.id, ` +
      `CASE WHEN coalesce(${detail("onParentFailure", "j")}, '') <> 'run' THEN 1 ELSE 0 END, ` +
      `CASE WHEN EXISTS (SELECT 1 FROM ${jobs} q WHERE q.id = p.value) THEN NULL ELSE coalesce(` +
      `(SELECT r.outcome FROM ${results} r WHERE r.job_id = p.value ` +
      `AND r.expires_at > ${detailNumber("createdAt", "j")}), ` +
      `CASE WHEN ${detail("retryOf", "j")} IS NOT NULL THEN 'success' END, ${known}::text) END ` +
      `FROM ${added} CROSS JOIN LATERAL ${parents} WHERE ${isNew} ON CONFLICT DO NOTHING`,
    markParents: () =>
      `UPDATE ${jobs} SET has_children = 1 WHERE seq IN (SELECT p.seq FROM ${textsOf("?1", "c")} ` +
      `JOIN ${dependencies} l ON l.child_id = c.value JOIN ${jobs} p ON p.id = l.parent_id ` +
      "WHERE l.outcome IS NULL AND p.has_children = 0)",
    releaseNew: () =>
      `UPDATE ${jobs} AS j SET state = ${stateAt(detailNumber("createdAt", "j"))} FROM ${textsOf("?1", "c")} ` +
      `WHERE j.id = c.value AND j.state = ${dependent} AND ${isReleased("j.id")}`,
    forgetNew: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN (SELECT j.id FROM ${added} WHERE j.state <> ${dependent})`,
    readNew: () => `SELECT c.key AS place, j.state AS state, (j.details->'after')::text AS parent_ids FROM ${added}`,
    findUnknown: () =>
      `SELECT c.value AS id FROM ${textsOf("?1", "c")} ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = c.value) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${results} r WHERE r.job_id = c.value AND r.expires_at > ?2) ORDER BY c.key`,

    endFinished: () =>
      `UPDATE ${dependencies} AS l SET outcome = r.outcome FROM ` +
      `${rowsOf("?1", "r", "id text, fence bigint, outcome text")} ` +
      `JOIN ${jobs} j ON j.id = r.id WHERE j.fence = r.fence AND j.acquired_by = ?2 AND j.has_children = 1 ` +
      "AND l.parent_id = j.id AND l.outcome IS NULL",
    endCancelled: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL AND parent_id IN (SELECT j.id ` +
      `FROM ${added} WHERE j.state <> ${leased})`,
    forgetCancelled: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN (SELECT c.value FROM ${textsOf("?1", "c")} ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = c.value))`,

    enterDoomed: () => enterEnded(names, "'cancelled'", "?1", doomedJobs),
    addDoomed: () => countEnded(names, ["cancelled"], "?1", doomedJobs),
    keepDoomed: () => keepEnded(names, "'cancelled'", "?1", doomedJobs),
    removeDoomed: () =>
      inOrderOfKeys(`DELETE FROM ${jobs} j WHERE ${doomedJobs}`, "j", `${endedJobAsJson("j")} AS record`),
    endDoomed: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL AND parent_id IN (${doomed} ` +
      `SELECT d.id FROM first d WHERE NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = d.id))`,
    releaseChildren: () =>
      inOrderOfKeys(
        `UPDATE ${jobs} AS j SET state = ${stateAt("?1")} WHERE j.seq IN (SELECT i.seq FROM ${ended} ` +
          `JOIN ${jobs} i ON i.id = w.child_id WHERE i.state = ${dependent} AND ${isReleased("w.child_id")})`,
        "j",
        "j.seq, j.id, j.task_id, j.schedule_id, nullif(j.concurrency_key, '') AS concurrency_key",
      ),
    forgetResolved: () =>
      `DELETE FROM ${dependencies} WHERE child_id IN (SELECT w.child_id FROM ${ended} ` +
      `WHERE NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.id = w.child_id AND j.state = ${dependent}))`,
    forgetEnded: () =>
      `DELETE FROM ${dependencies} WHERE (parent_id, child_id) IN (SELECT w.parent_id, w.child_id FROM ${ended} ` +
      `WHERE NOT ${cancelsBy("w")} AND NOT ${isReleased("w.child_id")})`,
  });
}

/** Whether a dependency that has ended cancels its child. */
function cancelsBy(alias: string): string {
  return `(${alias}.cancels = 1 AND ${alias}.outcome NOT IN ('success', 'skipped'))`;
}
