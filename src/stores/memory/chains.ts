import type { JobOutcome } from "../../records/policies.ts";
import type { JobEntry } from "./gate.ts";
import { countIn } from "./queues.ts";

/** What becomes of the children of a job that has ended. */
interface EndedParent {
  /** Their last parent has ended, so that they wait no longer. */
  readonly freed: readonly JobEntry[];
  /** They are to end as cancelled, because their parent did not succeed. */
  readonly doomed: readonly JobEntry[];
}

const NO_CHILDREN: EndedParent = Object.freeze({ freed: [], doomed: [] });

/** Which jobs of a `MemoryDataStore` wait for which. */
export class MemoryChains {
  readonly #childrenOf = new Map<string, Set<JobEntry>>();
  /** The unfinished parents of each job that waits. */
  readonly #parentsOf = new Map<JobEntry, Set<string>>();
  readonly #countByTask = new Map<string, number>();

  isBlocked(entry: JobEntry): boolean {
    return this.#parentsOf.has(entry);
  }

  /** How many jobs of a task wait for their parents. */
  blocked(taskId: string): number {
    return this.#countByTask.get(taskId) ?? 0;
  }

  /** @param parents unfinished jobs, at least one */
  block(entry: JobEntry, parents: ReadonlySet<string>): void {
    this.#parentsOf.set(entry, new Set(parents));
    for (const parent of parents) {
      const children = this.#childrenOf.get(parent);
      if (children === undefined) this.#childrenOf.set(parent, new Set([entry]));
      else children.add(entry);
    }
    entry.record.heldBy = "parents";
    countIn(this.#countByTask, entry.record.taskId, 1);
  }

  /** A job waits no longer, or is removed. Does nothing for a job that does not wait. */
  unblock(entry: JobEntry): void {
    const parents = this.#parentsOf.get(entry);
    if (parents === undefined) return;
    this.#parentsOf.delete(entry);
    for (const parent of parents) {
      const children = this.#childrenOf.get(parent);
      children?.delete(entry);
      if (children?.size === 0) this.#childrenOf.delete(parent);
    }
    delete entry.record.heldBy;
    countIn(this.#countByTask, entry.record.taskId, -1);
  }

  /** A job has ended. The caller frees and cancels its children. */
  ended(jobId: string, outcome: JobOutcome): EndedParent {
    const children = this.#childrenOf.get(jobId);
    if (children === undefined) return NO_CHILDREN;
    this.#childrenOf.delete(jobId);
    const freed: JobEntry[] = [];
    const doomed: JobEntry[] = [];
    for (const child of children) {
      const parents = this.#parentsOf.get(child);
      parents?.delete(jobId);
      if (isCancelledBy(child, outcome)) doomed.push(child);
      else if (parents?.size === 0) freed.push(child);
    }
    return { freed, doomed };
  }
}

/** Whether a job is cancelled when a parent ends so. */
export function isCancelledBy({ record }: JobEntry, outcome: JobOutcome): boolean {
  return outcome !== "success" && record.onParentFailure !== "run";
}
