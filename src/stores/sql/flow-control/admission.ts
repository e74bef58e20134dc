import type { JobRecord } from "../../../records/job.ts";
import type { AdmittedJob, CommitRequest, RecoveryReport } from "../../data-store.ts";
import { type Answers, type Batch, type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { queueList } from "../jobs/acquisition.ts";
import { blockedByOf } from "../jobs/job-rows.ts";
import { rowParameters } from "../sql-and-json.ts";

/** What blocks a job. */
export type BlockedBy = NonNullable<JobRecord["blockedBy"]>;

/** The admission of one commit, around its acquisition, as statements. */
export class Admission {
  readonly #statements: AdmissionStatements;
  readonly #request: CommitRequest;
  readonly #hasAccounts: boolean;
  #answers: Readonly<Record<"due" | "blockedAgain" | "admitted" | "blocked", Answers>> | null = null;

  /** @param hasAccounts see {@link FlowState} */
  constructor(statements: AdmissionStatements, request: CommitRequest, hasAccounts: boolean) {
    this.#statements = statements;
    this.#request = request;
    this.#hasAccounts = hasAccounts;
  }

  /** Adds the statements that block due jobs or make them ready, that admit blocked jobs, and `acquisition`, in their
   *  order. */
  addTo(batch: Batch, acquisition: readonly SqlStatement[]): void {
    const { backfillKeys, markDue, blockDue, blockLessUrgent, admit, takeTokens, guardAccounts, cleanLimiters } =
      this.#statements;
    const { now, schedulerId, commitId, additions, jobs } = this.#request;
    const acquires = acquisition.length > 0;
    const keepsAccounts = acquires && this.#hasAccounts;
    const tokens = (sign: 1 | -1): SqlStatement => statement(takeTokens, now, schedulerId, commitId, sign);
    if (keepsAccounts && jobs !== null) batch.add([statement(backfillKeys, jobs.limit, queueList(jobs.queues))]);
    batch.add([statement(markDue, now)]);
    const due = batch.add([statement(blockDue, now)]);
    const blockedAgain = batch.add([statement(blockLessUrgent)]);
    const admitted = batch.add([statement(admit, now)]);
    if (keepsAccounts) batch.add([tokens(-1)]);
    batch.add(acquisition);
    if (acquires) batch.add([keepsAccounts ? tokens(1) : statement(guardAccounts)]);
    batch.add([statement(cleanLimiters, now)]);
    const ids = rowParameters(additions.map(({ id }) => id));
    const blocked = batch.add(ids.map(({ text }) => statement(this.#statements.findBlocked, text)));
    this.#answers = { due, blockedAgain, admitted, blocked };
  }

  /** The jobs that were blocked before the commit, and that it admitted. */
  admitted(results: readonly Row[][], { recovered }: RecoveryReport): AdmittedJob[] {
    const admitted = this.#answers?.admitted.of(results).flat() ?? [];
    if (admitted.length === 0) return [];
    const { additions, releases } = this.#request;
    const fresh = new Set([
      ...additions.map(({ id }) => id),
      ...releases.map(({ jobId }) => jobId),
      ...recovered.map(({ jobId }) => jobId),
    ]);
    const [due, blockedAgain] = [this.#seqs("due", results), this.#seqs("blockedAgain", results)];
    const wasBlocked = (seq: number): boolean => !due.has(seq) && !blockedAgain.has(seq);
    return admitted.filter(({ id, seq }) => !fresh.has(String(id)) && wasBlocked(Number(seq))).map(admittedJob);
  }

  /** The `seq` of the jobs that became due in the commit, and that it left blocked. */
  stillBlocked(results: readonly Row[][]): ReadonlySet<number> {
    const admitted = this.#seqs("admitted", results);
    return new Set([...this.#seqs("due", results)].filter((seq) => !admitted.has(seq)));
  }

  /** Jobs that became due and are not blocked have null as `seq`. */
  #seqs(which: "due" | "blockedAgain" | "admitted", results: readonly Row[][]): ReadonlySet<number> {
    const rows = this.#answers?.[which].of(results).flat() ?? [];
    return new Set(rows.flatMap(({ seq }) => (seq === null ? [] : [Number(seq)])));
  }

  /** The additions that the commit left blocked, by id, with what blocks them. */
  blockedAdditions(results: readonly Row[][]): ReadonlyMap<string, BlockedBy> {
    const rows = this.#answers?.blocked.of(results).flat() ?? [];
    return new Map(rows.map(({ id, state }) => [String(id), blockedByOf(Number(state)) ?? "limit"]));
  }
}

/** A job that a statement admitted, or made ready because its dependencies are resolved. */
export function admittedJob({ id, task_id: taskId, schedule_id: scheduleId, concurrency_key: key }: Row): AdmittedJob {
  return {
    jobId: String(id),
    taskId: String(taskId),
    scheduleId: typeof scheduleId === "string" ? scheduleId : null,
    // The stores' key of jobs without a key is empty.
    ...(typeof key === "string" && key !== "" ? { concurrencyKey: key } : {}),
  };
}

/** The statements of admission. A comment before each statement lists its arguments. */
export interface AdmissionStatements {
  readonly backfillKeys: string;
  readonly markDue: string;
  readonly blockDue: string;
  readonly blockLessUrgent: string;
  readonly admit: string;
  readonly takeTokens: string;
  readonly guardAccounts: string;
  readonly cleanLimiters: string;
  readonly findBlocked: string;
  readonly markAdded: string;
  readonly markForgotten: string;
  readonly removeIdle: string;
}
