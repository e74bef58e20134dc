import type { NewJobRecord } from "../../records/job.ts";
import type { JobAddition } from "../../stores/data-store.ts";
import { COMMIT_ADDITION_LENGTH_MAX, COMMIT_ADDITIONS_MAX } from "./limits.ts";

/** Jobs that one call adds, and the call that waits for the answer. */
export interface WaitingAddition {
  readonly jobs: readonly NewJobRecord[];
  readonly resolve: (additions: readonly JobAddition[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of `addJob` that wait for the next commit, which adds their jobs and leases them in one commit. */
export class AdditionLine {
  #waiting: WaitingAddition[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether these jobs are few and small enough for a commit that has other work too. Otherwise they are added in a
   *  write of their own. */
  static fits(jobs: readonly NewJobRecord[]): boolean {
    return jobs.length <= COMMIT_ADDITIONS_MAX && payloadLength(jobs) <= COMMIT_ADDITION_LENGTH_MAX;
  }

  add(jobs: readonly NewJobRecord[]): Promise<readonly JobAddition[]> {
    return new Promise((resolve, reject) => this.#waiting.push({ jobs, resolve, reject }));
  }

  /** Takes as many calls as fit into one commit, the oldest first; at least one, if any waits. */
  take(): WaitingAddition[] {
    let count = 0;
    let jobCount = 0;
    let length = 0;
    for (const { jobs } of this.#waiting) {
      jobCount += jobs.length;
      length += payloadLength(jobs);
      if (count > 0 && (jobCount > COMMIT_ADDITIONS_MAX || length > COMMIT_ADDITION_LENGTH_MAX)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** Rejects the calls that wait, because no commit will take them any more. */
  rejectAll(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function payloadLength(jobs: readonly NewJobRecord[]): number {
  let length = 0;
  for (const { payload } of jobs) length += payload?.length ?? 0;
  return length;
}
