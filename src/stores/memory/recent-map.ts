import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../../core/limits.ts";

/** Values by ids. Each is kept for at least `TOMBSTONE_MS`, unless `TOMBSTONES_MAX` others came in the meantime. */
export class RecentMap<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  #youngSince = Number.NEGATIVE_INFINITY;

  get(id: string): V | undefined {
    return this.#young.get(id) ?? this.#old.get(id);
  }

  set(id: string, value: V, now: number): void {
    if (now - this.#youngSince >= TOMBSTONE_MS || this.#young.size >= TOMBSTONES_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSince = now;
    }
    this.#young.set(id, value);
  }
}
