import { isDone, type JobOutcome } from "../../records/policies.ts";
import type { JobEntry } from "./entries-of-jobs-and-tasks.ts";

/** What becomes of the jobs that waited for a job that has ended. */
interface ResolvedJobs {
  /** Their last parent has ended: their dependencies are resolved. */
  readonly ready: readonly JobEntry[];
  /** They are to end as cancelled, because their parent did not succeed. */
  readonly cancelled: readonly JobEntry[];
}

const NONE: ResolvedJobs = Object.freeze({ ready: [], cancelled: [] });

/** Which jobs of a memory store wait for which. A job waits for its *parents*, which have it as their *child*. */
export class Chains {
  readonly #childrenOf = new Map<string, Set<JobEntry>>();

  /** Has a job wait. @param parents unfinished jobs, at least one */
  wait(entry: JobEntry, parents: Set<string>): void {
    entry.parents = parents;
    for (const parent of parents) {
      const children = this.#childrenOf.get(parent);
      if (children === undefined) this.#childrenOf.set(parent, new Set([entry]));
      else children.add(entry);
    }
    entry.task.blockedCount++;
  }

  /** A job waits no longer, or is removed. Does nothing for a job that does not wait. */
  release(entry: JobEntry): void {
    if (entry.parents === null) return;
    for (const parent of entry.parents) {
      const children = this.#childrenOf.get(parent);
      children?.delete(entry);
      if (children?.size === 0) this.#childrenOf.delete(parent);
    }
    entry.parents = null;
    entry.task.blockedCount--;
  }

  /** A job has ended. The caller releases those of its children that are ready, and cancels the others. */
  ended(jobId: string, outcome: JobOutcome): ResolvedJobs {
    const children = this.#childrenOf.get(jobId);
    if (children === undefined) return NONE;
    this.#childrenOf.delete(jobId);
    for (const { parents } of children) parents?.delete(jobId);
    const cancelled = [...children].filter((child) => isCancelledBy(child, outcome));
    const ready = [...children].filter((child) => child.parents?.size === 0 && !isCancelledBy(child, outcome));
    return { ready, cancelled };
  }
}

/** Whether a job is cancelled when a parent ends so. */
export function isCancelledBy({ record }: JobEntry, outcome: JobOutcome): boolean {
  return !isDone(outcome) && record.onParentFailure !== "run";
}
