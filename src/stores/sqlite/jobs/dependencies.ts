import type { JobRecord, NewJobRecord } from "../../../records/job.ts";
import type { JobResultRecord } from "../../../records/job-result.ts";
import type { AdmittedJob, JobAddition } from "../../data-store.ts";
import { addedJob, endedWithoutRun } from "../../shared/added-and-ended-jobs.ts";
import { hasParents, refuseCircles, unknownParents } from "../../shared/parents-of-jobs.ts";
import { DESCENDANTS_PER_COMMIT_MAX, RESOLVED_PER_COMMIT_MAX } from "../bounds.ts";
import type { Connection } from "../driver/connection.ts";
import {
  isAboutParents,
  PARENTS_GUARD,
  type Row,
  type SqlStatement,
  statement,
} from "../driver/driver-and-failures.ts";
import { admittedJob } from "../flow-control/admission.ts";
import { enterEnded, type LedgerSwitch } from "../ledger/history-writes.ts";
import { countEnded } from "../ledger/stats.ts";
import { JOB_STATE, type TableNames } from "../schema/tables.ts";
import { detail, idsOf, jsonRecords, lazily, rowParameters } from "../sql-and-json.ts";
import { blockedByOf, endedJobAsJson, type JobRow, toJob } from "./job-rows.ts";
import { keepEnded } from "./recovery-and-cancellation.ts";

// A *dependency* is a job (the child) that waits for another (the parent). It has *ended* when its parent has. Ended
// dependencies are *resolved*: their children become ready, or are cancelled, and the dependencies are removed.

type StatementsOfDependencies = DependencyStatements & LedgerSwitch;

/** Resolves the dependencies that have ended. Read the answers with {@link resolved}. */
export function resolving(statements: StatementsOfDependencies, now: number): SqlStatement[] {
  const { keepsLedger, enterDoomed, addDoomed, keepDoomed, removeDoomed, endDoomed } = statements;
  const { releaseChildren, forgetResolved, forgetEnded } = statements;
  return [
    ...(keepsLedger ? [statement(enterDoomed, now), statement(addDoomed, now)] : []),
    statement(keepDoomed, now),
    statement(removeDoomed),
    statement(endDoomed),
    statement(releaseChildren, now),
    statement(forgetResolved),
    statement(forgetEnded),
  ];
}

/** What the statements of {@link resolving} did. No answers are those of no statements. */
export interface Resolved {
  /** The children that were cancelled. */
  readonly ended: readonly JobResultRecord[];
  /** The children that wait for nothing any more. */
  readonly released: readonly AdmittedJob[];
}

/** @param blocked the `seq` of jobs that their key limiters block after all */
export function resolved(answers: readonly Row[][], now: number, blocked: ReadonlySet<number> = new Set()): Resolved {
  // The first two of eight are not there without a ledger.
  const [, removed, , released = []] = answers.slice(-6);
  return {
    ended: jsonRecords<JobRow>(removed).map((row) => endedWithoutRun(toJob(row), "cancelled", now)),
    released: released.filter(({ seq }) => !blocked.has(Number(seq))).map(admittedJob),
  };
}

/** The jobs with parents among those that one batch adds, as statements. */
export class NewChildren {
  readonly #statements: StatementsOfDependencies;
  readonly #jobs: readonly NewJobRecord[];
  readonly #children: readonly NewJobRecord[];
  readonly #ids: readonly string[];

  /** @throws {StoreRefusedError} for jobs that would wait for each other */
  constructor(statements: StatementsOfDependencies, jobs: readonly NewJobRecord[]) {
    refuseCircles(jobs);
    this.#statements = statements;
    this.#jobs = jobs;
    this.#children = jobs.filter(hasParents);
    this.#ids = rowParameters(this.#children.map(({ id }) => id)).map(({ text }) => text);
  }

  get isEmpty(): boolean {
    return this.#children.length === 0;
  }

  /** The statements that have the children wait for their parents. They come after all insertions. Children whose
   *  parents have all ended wait no more, or are left to {@link resolving}. */
  linking(): SqlStatement[] {
    const { replaceParents, addDependencies, markParents, releaseNew, forgetNew } = this.#statements;
    const replacing = this.#standIns();
    const each = (sql: string): SqlStatement[] => this.#ids.map((ids) => statement(sql, ids));
    return [
      ...(replacing === null ? [] : this.#ids.map((ids) => statement(replaceParents, ids, replacing))),
      // All dependencies are there before the first child is released.
      ...[addDependencies, markParents, releaseNew, forgetNew].flatMap(each),
    ];
  }

  /** The statements whose answers {@link answers} reads. They come after the {@link resolving}. */
  search(): SqlStatement[] {
    return this.#ids.map((ids) => statement(this.#statements.readNew, ids));
  }

  /** Says of the children among the answers how the commit left them. */
  answers(additions: readonly JobAddition[], found: readonly Row[][]): readonly JobAddition[] {
    if (this.isEmpty) return additions;
    const rows = new Map<string | undefined, Row>();
    let start = 0;
    for (const [part, ids] of this.#ids.entries()) {
      for (const row of found[part] ?? []) rows.set(this.#children[start + Number(row.place)]?.id, row);
      start += (JSON.parse(ids) as string[]).length;
    }
    const children = new Set(this.#children);
    return additions.map((addition, index) => {
      const given = this.#jobs[index];
      if (given === undefined || !children.has(given) || !addition.isNew) return addition;
      return { ...addition, ...stateOf(addition.job, rows.get(given.id)) };
    });
  }

  /** The error of a batch that failed: where a parent is unknown, an error that names it. */
  async refusal(connection: Connection, error: unknown): Promise<unknown> {
    if (this.isEmpty || !isAboutParents(error)) return error;
    const known = new Set(this.#jobs.map(({ id }) => id));
    const parents = new Set(
      this.#children.filter(({ retryOf }) => retryOf === undefined).flatMap(({ after = [] }) => after),
    );
    const ids = JSON.stringify([...parents].filter((id) => !known.has(id)));
    const now = Math.max(...this.#children.map(({ createdAt }) => createdAt));
    const rows = await connection.read(statement(this.#statements.findUnknown, ids, now));
    // Another call may have added them meanwhile.
    return rows.length === 0 ? error : unknownParents(idsOf(rows));
  }

  /** The parents of the same call that another job may stand for: by id, the keys by which that job is found. */
  #standIns(): string | null {
    // Nearly no batch has children, and every batch comes by here.
    if (this.isEmpty) return null;
    const keys = new Map(this.#jobs.map((job) => [job.id, keysOf(job)]));
    const parents = new Set(this.#children.flatMap(({ after = [] }) => after));
    const found = [...parents].flatMap((id) => {
      const key = keys.get(id) ?? null;
      return key === null ? [] : [[id, key] as const];
    });
    return found.length === 0 ? null : JSON.stringify(Object.fromEntries(found));
  }
}

/** By what the job is found that stands for a job: idempotency key, kind and key of the window, key of the burst. */
function keysOf({ taskId, idempotencyKey, once, debounce }: NewJobRecord): readonly (string | null)[] | null {
  if (idempotencyKey === null && once === undefined && debounce === undefined) return null;
  return [taskId, idempotencyKey, once?.kind ?? null, once?.key ?? null, debounce?.key ?? null];
}

function stateOf(added: JobRecord, row: Row | undefined): Pick<JobAddition, "job" | "hasEnded"> {
  const { blockedBy: _blockedBy, ...job } = addedJob(added);
  if (row === undefined) return { job, hasEnded: true };
  const blockedBy = blockedByOf(Number(row.state));
  const after = JSON.parse(String(row.parent_ids)) as string[];
  return { job: { ...job, after, ...(blockedBy === undefined ? {} : { blockedBy }) } };
}

const { delayed, ready, leased, dependent } = JOB_STATE;

/**
 * The statements about jobs that wait for others. Whatever ends a parent writes the outcome into its dependencies. The
 * statements from `enterDoomed` on resolve these in the same commit: they cancel the children of parents that did not
 * succeed, and the children of those, and release the children that wait for nothing any more. Very many descendants
 * take several commits: the next look tells of dependencies that have ended and are not resolved.
 */
export interface DependencyStatements {
  readonly replaceParents: string;
  readonly addDependencies: string;
  readonly markParents: string;
  readonly releaseNew: string;
  readonly forgetNew: string;
  readonly readNew: string;
  readonly findUnknown: string;
  readonly endFinished: string;
  readonly endCancelled: string;
  readonly forgetCancelled: string;
  readonly enterDoomed: string;
  readonly addDoomed: string;
  readonly keepDoomed: string;
  readonly removeDoomed: string;
  readonly endDoomed: string;
  readonly releaseChildren: string;
  readonly forgetResolved: string;
  readonly forgetEnded: string;
}

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
