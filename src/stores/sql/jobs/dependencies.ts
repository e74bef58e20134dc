import type { JobRecord, NewJobRecord } from "../../../records/job.ts";
import type { JobResultRecord } from "../../../records/job-result.ts";
import type { AdmittedJob, JobAddition } from "../../data-store.ts";
import { addedJob, endedWithoutRun } from "../../shared/added-and-ended-jobs.ts";
import { hasParents, refuseCircles, unknownParents } from "../../shared/parents-of-jobs.ts";
import type { Connection } from "../driver/connection.ts";
import { isAboutParents, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { admittedJob } from "../flow-control/admission.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import { idsOf, jsonRecords, rowParameters } from "../sql-and-json.ts";
import { blockedByOf, type JobRow, toJob } from "./job-rows.ts";

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
