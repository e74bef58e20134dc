import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { addedJob } from "../added-job.ts";
import type { JobAddition, PromotedJob } from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { hasParents, refuseCircles, unknownParents } from "../parents.ts";
import { statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { isAboutParents } from "./failures.ts";
import { rowParameters } from "./parameters.ts";
import { heldByOf, idsOf, type JobRow, jsonRecords, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** Frees and cancels the children of jobs that have ended. Read the answers with {@link settlement}. */
export function settling(statements: Statements, now: number): SqlStatement[] {
  const { keepDoomed, enterDoomed, removeDoomed, noteDoomed, freeChildren, unlinkFreed, unlinkOthers } = statements;
  return [
    ...(statements.keepsLedger ? [statement(enterDoomed, now)] : []),
    statement(keepDoomed, now),
    statement(removeDoomed),
    statement(noteDoomed),
    statement(freeChildren, now),
    statement(unlinkFreed),
    statement(unlinkOthers),
  ];
}

/** What the statements of {@link settling} did. No answers are those of no statements. */
export interface Settlement {
  readonly ended: readonly JobResultRecord[];
  readonly promoted: readonly PromotedJob[];
}

/** @param held the `seq` of jobs that are held after all, by their keys */
export function settlement(answers: readonly Row[][], now: number, held: ReadonlySet<number> = new Set()): Settlement {
  // The first one of seven is not there without a ledger.
  const [, removed, , freed = []] = answers.slice(-6);
  return {
    ended: jsonRecords<JobRow>(removed).map((row) => endedWithoutRun(toJob(row), "cancelled", now)),
    promoted: freed.filter(({ seq }) => !held.has(Number(seq))).map(promotedJob),
  };
}

function promotedJob({ id, task_id, schedule_id, concurrency_key: key }: Row): PromotedJob {
  const scheduleId = typeof schedule_id === "string" ? schedule_id : null;
  const promoted = { jobId: String(id), taskId: String(task_id), scheduleId };
  return typeof key === "string" ? { ...promoted, concurrencyKey: key } : promoted;
}

/** The jobs with parents among those that one batch adds, as statements. */
export class NewChildren {
  readonly #statements: Statements;
  readonly #jobs: readonly NewJobRecord[];
  readonly #children: readonly NewJobRecord[];
  readonly #ids: readonly string[];

  /** @throws {StoreRefusedError} for jobs that would wait for each other */
  constructor(statements: Statements, jobs: readonly NewJobRecord[]) {
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
   *  parents have all ended are freed, or left to {@link settling}. */
  linking(): SqlStatement[] {
    const { replaceParents, linkParents, markParents, freeNew, unlinkNew } = this.#statements;
    const replacing = this.#standIns();
    const each = (sql: string): SqlStatement[] => this.#ids.map((ids) => statement(sql, ids));
    return [
      ...(replacing === null ? [] : this.#ids.map((ids) => statement(replaceParents, ids, replacing))),
      // All links are there before the first child is freed.
      ...[linkParents, markParents, freeNew, unlinkNew].flatMap(each),
    ];
  }

  /** The statements whose answers {@link answers} reads. They come after the {@link settling}. */
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
  const { heldBy: _heldBy, ...job } = addedJob(added);
  if (row === undefined) return { job, hasEnded: true };
  const heldBy = heldByOf(Number(row.state));
  const after = JSON.parse(String(row.parent_ids)) as string[];
  return { job: { ...job, after, ...(heldBy === undefined ? {} : { heldBy }) } };
}
