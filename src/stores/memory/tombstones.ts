import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../../core/limits.ts";

/**
 * Ids of jobs that ended and whose results are not kept, so that a repeated addition does not run such a job again.
 * Each id is kept for at least `TOMBSTONE_MS`, unless `TOMBSTONES_MAX` other ids came in the meantime.
 */
export class Tombstones {
  #young = new Set<string>();
  #old = new Set<string>();
  #youngSince = Number.NEGATIVE_INFINITY;

  has(jobId: string): boolean {
    return this.#young.has(jobId) || this.#old.has(jobId);
  }

  add(jobId: string, now: number): void {
    if (now - this.#youngSince >= TOMBSTONE_MS || this.#young.size >= TOMBSTONES_MAX) {
      this.#old = this.#young;
      this.#young = new Set();
      this.#youngSince = now;
    }
    this.#young.add(jobId);
  }
}
