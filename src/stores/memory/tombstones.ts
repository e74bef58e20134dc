import { RecentMap } from "./recent-map.ts";

/** Ids of jobs that ended and whose results are not kept, so that a repeated addition does not run such a job again.
 *  They are remembered for a while, see {@link RecentMap}. */
export class Tombstones {
  readonly #ended = new RecentMap<true>();

  has(jobId: string): boolean {
    return this.#ended.get(jobId) === true;
  }

  add(jobId: string, now: number): void {
    this.#ended.set(jobId, true, now);
  }
}
