import type { OverdueEnd, OverdueKind, OverdueRecord, ResolvedOverdueRecord } from "../../../records/overdue.ts";
import type { OverdueReport } from "../../contract/look-types.ts";
import type { CommitRequest } from "../../data-store.ts";
import { OVERDUE_CHECKED_PER_COMMIT_MAX, RESOLVED_OVERDUE_KEPT_MS } from "../../shared/limits.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { LedgerSwitch } from "./history-writes.ts";

// Occurrences that are overdue: their job has not started, or not ended, within the time that the schedule expects. A
// commit *raises* them, and *resolves* them once they are over.

type StatementsOfOverdue = OverdueStatements & LedgerSwitch;

/** The overdue occurrences of one commit, as statements. */
export class OverdueOfCommit {
  readonly #statements: StatementsOfOverdue;
  readonly #request: CommitRequest;
  readonly #isRepetition: boolean;
  readonly #leftOut: number;
  readonly #isNeeded: boolean;

  /** @param leftOut how many open ones the commit does not look at, because other commits do */
  constructor(statements: StatementsOfOverdue, request: CommitRequest, isRepetition: boolean, leftOut: number) {
    this.#statements = statements;
    this.#request = request;
    this.#isRepetition = isRepetition;
    this.#leftOut = leftOut;
    this.#isNeeded = request.overdue === true && statements.keepsLedger;
  }

  raising(): SqlStatement[] {
    if (!this.#isNeeded) return [];
    const { now, commitId } = this.#request;
    const { raiseWithoutJob, markWithoutJob, raiseLate, markLate } = this.#statements;
    return [
      statement(raiseWithoutJob, now, commitId),
      statement(markWithoutJob, now),
      statement(raiseLate, now, commitId),
      statement(markLate, now),
    ];
  }

  resolving(): SqlStatement[] {
    if (!this.#isNeeded) return [];
    const { now, commitId } = this.#request;
    const { followSkips, resolveOverdue, removeResolved, getOverdueOfCommit } = this.#statements;
    return [
      statement(followSkips, this.#leftOut),
      statement(resolveOverdue, this.#leftOut, now, commitId),
      statement(removeResolved, now - RESOLVED_OVERDUE_KEPT_MS),
      ...(this.#isRepetition ? [statement(getOverdueOfCommit, commitId)] : []),
    ];
  }

  /** What the answers of both report; undefined for nothing. */
  report(raising: readonly Row[][], resolving: readonly Row[][]): OverdueReport | undefined {
    if (!this.#isNeeded) return undefined;
    const ofCommit = resolving[3] ?? [];
    const raised = this.#isRepetition ? ofCommit.filter(({ is_raised }) => is_raised === 1) : raising.flat();
    const resolved = this.#isRepetition
      ? ofCommit.filter(({ is_resolved }) => is_resolved === 1)
      : (resolving[1] ?? []);
    if (raised.length === 0 && resolved.length === 0) return undefined;
    return { raised: raised.map(toOverdue), resolved: resolved.map(toResolvedOverdue) };
  }
}

/** How many open overdue occurrences each commit leaves out, so that all of them are looked at in turn. */
export class OverdueChecks {
  #open = 0;
  #turn = 0;

  /** A look found this many to be open. */
  found(open: number): void {
    this.#open = open;
  }

  next(): number {
    if (this.#open <= OVERDUE_CHECKED_PER_COMMIT_MAX) return 0;
    const start = this.#turn * OVERDUE_CHECKED_PER_COMMIT_MAX;
    this.#turn = start + OVERDUE_CHECKED_PER_COMMIT_MAX < this.#open ? this.#turn + 1 : 0;
    return start;
  }
}

function toOverdue(row: Row): OverdueRecord {
  return {
    scheduleId: String(row.schedule_id),
    taskId: String(row.task_id),
    fireTime: Number(row.fire_time),
    kind: row.kind as OverdueKind,
    dueAt: Number(row.due_at),
    raisedAt: Number(row.raised_at),
    jobId: row.job_id === null ? null : String(row.job_id),
  };
}

function toResolvedOverdue(row: Row): ResolvedOverdueRecord {
  return { ...toOverdue(row), reason: row.reason as OverdueEnd };
}

/** The statements that raise and resolve overdue occurrences. A comment before each lists its arguments. */
export interface OverdueStatements {
  readonly raiseWithoutJob: string;
  readonly markWithoutJob: string;
  readonly raiseLate: string;
  readonly markLate: string;
  readonly followSkips: string;
  readonly resolveOverdue: string;
  readonly removeResolved: string;
  readonly getOverdueOfCommit: string;
}
