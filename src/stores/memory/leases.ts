import { Heap } from "../../core/heap.ts";
import type { LeaseEnd } from "../data-store.ts";
import type { JobEntry } from "./gate.ts";
import type { MemoryGates } from "./gates.ts";
import type { JobTable } from "./job-table.ts";
import { type MemoryQueues, moveTo } from "./queues.ts";
import { Steps } from "./steps.ts";
import type { Bursts } from "./windows.ts";

interface Parts {
  readonly table: JobTable;
  readonly queues: MemoryQueues;
  readonly gates: MemoryGates;
  readonly bursts: Bursts;
}

/** The leased jobs of a `MemoryDataStore`: in a heap, by the ends of their leases, and by the steps that leased
 *  them. */
export class MemoryLeases {
  readonly #leased = new Heap<JobEntry>((a, b) => (a.record.acquiredUntil ?? 0) < (b.record.acquiredUntil ?? 0));
  readonly #steps = new Steps<JobEntry>();
  readonly #table: JobTable;
  readonly #queues: MemoryQueues;
  readonly #gates: MemoryGates;
  readonly #bursts: Bursts;

  constructor({ table, queues, gates, bursts }: Parts) {
    this.#table = table;
    this.#queues = queues;
    this.#gates = gates;
    this.#bursts = bursts;
  }

  /** The job whose lease ends first. */
  get first(): JobEntry | undefined {
    return this.#leased.peek();
  }

  /** The jobs that a step leased and still holds, in the order in which the step leased them. */
  leasedBy(stepId: string): Iterable<JobEntry> {
    return this.#steps.leasedBy(stepId);
  }

  /** The leased jobs of all steps whose ids `isWanted` accepts; a list, so that their leases may end meanwhile. */
  leasedWhere(isWanted: (stepId: string) => boolean): JobEntry[] {
    return [...this.#steps.leasedWhere(isWanted)];
  }

  /** Leases a job. */
  begin(entry: JobEntry, schedulerId: string, stepId: string, until: number): void {
    this.#bursts.over(entry.record.id);
    this.#table.setWaiting(entry, false);
    entry.record.acquiredBy = schedulerId;
    entry.record.acquiredUntil = until;
    entry.record.fence++;
    this.#steps.lease(stepId, entry);
    this.#queues.count(entry.record.taskId, 1);
    moveTo(this.#leased, entry);
  }

  /** Moves the end of a lease. */
  endAt(entry: JobEntry, until: number): void {
    this.#leased.remove(entry);
    entry.record.acquiredUntil = until;
    this.#leased.push(entry);
  }

  /** Moves the ends of the leases of a run that are not as somebody judges who has watched its heartbeat. */
  move({ incarnation, until }: LeaseEnd, now: number): void {
    for (const entry of this.leasedWhere((stepId) => stepId.startsWith(incarnation))) {
      if ((entry.record.acquiredUntil ?? 0) > now === until <= now) this.endAt(entry, until);
    }
  }

  /** Ends a lease of which its holder knows nothing, so that recovery takes the job. */
  orphan(entry: JobEntry, now: number): void {
    this.#steps.endLease(entry, null);
    this.endAt(entry, now);
  }

  /** Puts a leased job back into its queue. The job was ready once, and a clock that is behind does not take that back.
   *  @param stamp id of the step that puts it back, or null */
  putBack(entry: JobEntry, stamp: string | null, isReady: boolean): void {
    this.end(entry, stamp);
    this.#table.setWaiting(entry, true);
    this.#queues.add(entry, isReady);
  }

  /** Ends the lease of an entry; does nothing for an entry that is not leased. */
  end(entry: JobEntry, stamp: string | null): void {
    if (entry.record.acquiredBy === null) return;
    this.#leased.remove(entry);
    entry.record.acquiredBy = null;
    entry.record.acquiredUntil = null;
    this.#steps.endLease(entry, stamp);
    this.#queues.count(entry.record.taskId, -1);
    this.#gates.endLease(entry);
  }
}
