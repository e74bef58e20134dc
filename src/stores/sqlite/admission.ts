import type { JobRecord } from "../../records/job.ts";
import type { PromotedJob, RecoveryReport, StepRequest } from "../data-store.ts";
import { type Answers, type Batch, statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { rowParameters } from "./parameters.ts";
import { JOB_STATE } from "./schema.ts";
import type { Statements } from "./statements.ts";

/** The admission of one step, around its acquisition, as statements. */
export class Admission {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  readonly #isRepetition: boolean;
  #answers: Readonly<Record<"due" | "admitted" | "held", Answers>> | null = null;

  constructor(statements: Statements, request: StepRequest, isRepetition: boolean) {
    this.#statements = statements;
    this.#request = request;
    this.#isRepetition = isRepetition;
  }

  /** Adds the statements that make due jobs ready or held, that admit held jobs, and `acquisition`, in their order. */
  addTo(batch: Batch, acquisition: readonly SqlStatement[]): void {
    const { wakeDue, promoteAware, demote, admit, spend, takeTurns, settle, findHeld } = this.#statements;
    const { now, schedulerId, stepId, additions } = this.#request;
    const tokens = (sign: 1 | -1): SqlStatement => statement(spend, now, schedulerId, stepId, sign);
    const hasAcquisition = acquisition.length > 0;
    batch.add([statement(wakeDue, now)]);
    const due = batch.add([statement(promoteAware, now)]);
    batch.add([statement(demote, now)]);
    const admitted = batch.add([statement(admit, now)]);
    if (hasAcquisition && this.#isRepetition) batch.add([tokens(-1)]);
    batch.add(acquisition);
    if (hasAcquisition) batch.add([tokens(1), statement(takeTurns, now, schedulerId, stepId)]);
    batch.add([statement(settle, now)]);
    const ids = additions.map(({ id }) => id);
    const held = batch.add(rowParameters(ids).map(({ text }) => statement(findHeld, text)));
    this.#answers = { due, admitted, held };
  }

  /** The jobs that were held before the step and that it promoted. */
  promoted(results: readonly Row[][], { recovered }: RecoveryReport): PromotedJob[] {
    const admitted = this.#answers?.admitted.of(results).flat() ?? [];
    if (admitted.length === 0) return [];
    const { additions, releases } = this.#request;
    const fresh = new Set([
      ...additions.map(({ id }) => id),
      ...releases.map(({ jobId }) => jobId),
      ...recovered.map(({ jobId }) => jobId),
    ]);
    const due = this.#seqs("due", results);
    return admitted.filter(({ id, seq }) => !fresh.has(String(id)) && !due.has(Number(seq))).map(toPromoted);
  }

  /** The `seq` of the jobs that became due in the step and that their keys hold. */
  stillHeld(results: readonly Row[][]): ReadonlySet<number> {
    const admitted = this.#seqs("admitted", results);
    return new Set([...this.#seqs("due", results)].filter((seq) => !admitted.has(seq)));
  }

  /** Jobs that became due and are not held have null as `seq`. */
  #seqs(which: "due" | "admitted", results: readonly Row[][]): ReadonlySet<number> {
    const rows = this.#answers?.[which].of(results).flat() ?? [];
    return new Set(rows.flatMap(({ seq }) => (seq === null ? [] : [Number(seq)])));
  }

  /** The additions that the step left held, by id, with what holds them. */
  heldAdditions(results: readonly Row[][]): ReadonlyMap<string, HeldBy> {
    const rows = this.#answers?.held.of(results).flat() ?? [];
    return new Map(rows.map(({ id, state }) => [String(id), Number(state) === JOB_STATE.held ? "limit" : "parents"]));
  }
}

/** What holds a job. */
export type HeldBy = NonNullable<JobRecord["heldBy"]>;

function toPromoted({ id, task_id: taskId, schedule_id: scheduleId, concurrency_key: key }: Row): PromotedJob {
  return {
    jobId: String(id),
    taskId: String(taskId),
    scheduleId: typeof scheduleId === "string" ? scheduleId : null,
    // The stores' key of jobs without a key is empty.
    ...(typeof key === "string" && key !== "" ? { concurrencyKey: key } : {}),
  };
}
