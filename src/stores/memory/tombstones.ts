import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../../core/limits.ts";

/**
 * Ids of jobs that ended without a result that is kept, so that an addition that is repeated does not run them again.
 * Each is kept for `TOMBSTONE_MS` at least, unless `TOMBSTONES_MAX` others came meanwhile.
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
