import type { JobRecord } from "../../../records/job.ts";
import type { PromotedJob, RecoveryReport, StepRequest } from "../../data-store.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { type Answers, type Batch, rowParameters, statement } from "../driver/parameters.ts";
import { queueList } from "../jobs/acquisition.ts";
import { JOB_STATE } from "../schema/schema.ts";
import type { Statements } from "../statements.ts";
import type { FlowControl } from "./awareness.ts";

/** The admission of one step, around its acquisition, as statements. */
export class Admission {
  readonly #statements: Statements;
  readonly #request: StepRequest;
  readonly #isRepetition: boolean;
  readonly #flow: FlowControl;
  #answers: Readonly<Record<"due" | "demoted" | "admitted" | "held", Answers>> | null = null;

  constructor(
    statements: Statements,
    request: StepRequest,
    { isRepetition, flow }: { readonly isRepetition: boolean; readonly flow: FlowControl },
  ) {
    this.#statements = statements;
    this.#request = request;
    this.#isRepetition = isRepetition;
    this.#flow = flow;
  }

  /** Adds the statements that make due jobs ready or held, that admit held jobs, and `acquisition`, in their order. */
  addTo(batch: Batch, acquisition: readonly SqlStatement[]): void {
    const { capture, wakeDue, promoteAware, spend, takeTurns, findHeld } = this.#statements;
    const { wakeFar, demote, admit, settle, demoteKeys, admitKeys, settleKeys } = this.#statements;
    const { now, schedulerId, stepId, additions, jobs } = this.#request;
    const tokens = (sign: 1 | -1): SqlStatement => statement(spend, now, schedulerId, stepId, sign);
    const isOfKeys = this.#flow === "keys";
    // Only rates and turns give keys to jobs that have none, and keep an account of what is acquired.
    const keepsAccount = acquisition.length > 0 && !isOfKeys;
    if (keepsAccount && jobs !== null) batch.add([statement(capture, jobs.limit, queueList(jobs.queues))]);
    batch.add([statement(wakeDue, now)]);
    const due = batch.add([statement(promoteAware, now)]);
    if (!isOfKeys) batch.add([statement(wakeFar, now)]);
    const demoted = batch.add([statement(isOfKeys ? demoteKeys : demote, now)]);
    const admitted = batch.add([statement(isOfKeys ? admitKeys : admit, now)]);
    if (keepsAccount && this.#isRepetition) batch.add([tokens(-1)]);
    batch.add(acquisition);
    if (keepsAccount) batch.add([tokens(1), statement(takeTurns, now, schedulerId, stepId)]);
    batch.add([statement(isOfKeys ? settleKeys : settle, now)]);
    const ids = additions.map(({ id }) => id);
    const held = batch.add(rowParameters(ids).map(({ text }) => statement(findHeld, text)));
    this.#answers = { due, demoted, admitted, held };
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
    const demoted = this.#seqs("demoted", results);
    const wasHeld = (seq: number): boolean => !due.has(seq) && !demoted.has(seq);
    return admitted.filter(({ id, seq }) => !fresh.has(String(id)) && wasHeld(Number(seq))).map(toPromoted);
  }

  /** The `seq` of the jobs that became due in the step and that their keys hold. */
  stillHeld(results: readonly Row[][]): ReadonlySet<number> {
    const admitted = this.#seqs("admitted", results);
    return new Set([...this.#seqs("due", results)].filter((seq) => !admitted.has(seq)));
  }

  /** Jobs that became due and are not held have null as `seq`. */
  #seqs(which: "due" | "demoted" | "admitted", results: readonly Row[][]): ReadonlySet<number> {
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
