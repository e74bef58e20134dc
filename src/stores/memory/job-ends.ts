import { MISSED_PER_STEP_MAX } from "../../core/limits.ts";
import { type JobResultRecord, withKeptFacts } from "../../records/job-result.ts";
import type { JobOutcome } from "../../records/policies.ts";
import { endedWithoutRun, type OutcomeWithoutRun } from "../ended-without-run.ts";
import type { MemoryChains } from "./chains.ts";
import { isMissed, type JobEntry } from "./gate.ts";
import type { MemoryGates } from "./gates.ts";
import type { JobTable } from "./job-table.ts";
import type { MemoryLeases } from "./leases.ts";
import type { MemoryLedger } from "./ledger.ts";
import type { MemoryQueues } from "./queues.ts";
import type { RecoveryNotes } from "./recovery-notes.ts";
import type { MemoryResults } from "./results.ts";
import type { Bursts } from "./windows.ts";

interface Parts {
  readonly table: JobTable;
  readonly queues: MemoryQueues;
  readonly gates: MemoryGates;
  readonly chains: MemoryChains;
  readonly bursts: Bursts;
  readonly leases: MemoryLeases;
  readonly results: MemoryResults;
  readonly ledger: MemoryLedger | null;
}

/** How the jobs of a `MemoryDataStore` end, and what that means for the jobs that come after them. */
export class JobEnds {
  readonly #table: JobTable;
  readonly #queues: MemoryQueues;
  readonly #gates: MemoryGates;
  readonly #chains: MemoryChains;
  readonly #bursts: Bursts;
  readonly #leases: MemoryLeases;
  readonly #results: MemoryResults;
  readonly #ledger: MemoryLedger | null;

  constructor({ table, queues, gates, chains, bursts, leases, results, ledger }: Parts) {
    this.#table = table;
    this.#queues = queues;
    this.#gates = gates;
    this.#chains = chains;
    this.#bursts = bursts;
    this.#leases = leases;
    this.#results = results;
    this.#ledger = ledger;
  }

  /** Ends a job and settles its children. Returns the job's result as the report has it. */
  endWithoutRun(entry: JobEntry, outcome: OutcomeWithoutRun, now: number, notes: RecoveryNotes): JobResultRecord {
    const result = this.#endAlone(entry, outcome, now, notes);
    this.settleChildren(result.jobId, outcome, now, notes);
    return result;
  }

  /** Ends jobs that have missed their start. All end before the first one ends or frees its children. */
  endMissed(now: number, notes: RecoveryNotes): void {
    const ended: string[] = [];
    for (let entry = this.#table.nextToStart(); entry !== undefined; entry = this.#table.nextToStart()) {
      if (!isMissed(entry, now) || ended.length === MISSED_PER_STEP_MAX) break;
      ended.push(this.#endAlone(entry, "missedStartDeadline", now, notes).jobId);
    }
    for (const jobId of ended) this.settleChildren(jobId, "missedStartDeadline", now, notes);
  }

  /** Ends a job, and leaves its children as they are. Reports tell the result without what the store keeps of the
   *  job. */
  #endAlone(entry: JobEntry, outcome: OutcomeWithoutRun, now: number, notes: RecoveryNotes): JobResultRecord {
    const result = endedWithoutRun(entry.record, outcome, now);
    this.#ledger?.ended(entry.record, result, entry.gate !== null);
    this.drop(entry);
    this.#results.keep(withKeptFacts({ ...result }, entry.record, null), now);
    notes.ended.push(result);
    return result;
  }

  /** Ends a job with the result of its run. */
  end(entry: JobEntry, result: JobResultRecord, now: number, notes: RecoveryNotes): void {
    this.#ledger?.ended(entry.record, result, entry.gate !== null);
    this.drop(entry);
    this.#results.keep(result, now);
    this.settleChildren(result.jobId, result.outcome, now, notes);
  }

  /** Frees or cancels the children of a job that has ended, and then the children of those that are cancelled. */
  settleChildren(jobId: string, outcome: JobOutcome, now: number, notes: RecoveryNotes): void {
    this.cancelChildren(this.#freeChildren(jobId, outcome, now, notes), now, notes);
  }

  /** Frees the children whose last parent has ended. Returns those that are to be cancelled. */
  #freeChildren(jobId: string, outcome: JobOutcome, now: number, notes: RecoveryNotes): readonly JobEntry[] {
    const { freed, doomed } = this.#chains.ended(jobId, outcome);
    for (const entry of freed) {
      const { id, taskId, scheduleId, concurrencyKey, runAt } = entry.record;
      this.#chains.unblock(entry);
      this.#queues.add(entry, runAt <= now);
      const key = concurrencyKey === undefined ? {} : { concurrencyKey };
      notes.promoted.push({ jobId: id, taskId, scheduleId, ...key });
    }
    return doomed;
  }

  /** Cancels jobs because of their parents, and then their own children. No recursion, because a chain may be longer
   *  than the stack. */
  cancelChildren(entries: readonly JobEntry[], now: number, notes: RecoveryNotes): void {
    let level = entries;
    while (level.length > 0) {
      const next: JobEntry[] = [];
      for (const entry of level) {
        // It may have had several parents that were cancelled.
        if (!this.#table.holds(entry)) continue;
        this.#endAlone(entry, "cancelled", now, notes);
        for (const child of this.#freeChildren(entry.record.id, "cancelled", now, notes)) next.push(child);
      }
      level = next;
    }
  }

  /** Removes a job, which leaves no result. */
  drop(entry: JobEntry): void {
    this.#chains.unblock(entry);
    this.#bursts.over(entry.record.id);
    this.#leases.end(entry, null);
    entry.heap?.remove(entry);
    this.#gates.leave(entry);
    this.#table.remove(entry);
  }
}
