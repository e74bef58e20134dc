import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../shared/limits.ts";

/** Says how long a memory store remembers ids. */
export class RecentIds {
  #young: string[] = [];
  #old: string[] = [];
  #youngSince = Number.NEGATIVE_INFINITY;

  /** Has an id remembered for at least `TOMBSTONE_MS`, unless `TOMBSTONES_MAX` others come in that time. Returns the
   *  ids that are to be forgotten now. */
  add(id: string, now: number): readonly string[] {
    let forgotten: readonly string[] = [];
    if (now - this.#youngSince >= TOMBSTONE_MS || this.#young.length >= TOMBSTONES_MAX) {
      forgotten = this.#old;
      [this.#young, this.#old, this.#youngSince] = [[], this.#young, now];
    }
    this.#young.push(id);
    return forgotten;
  }
}
