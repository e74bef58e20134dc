/** What can carry the id of a step: that of the one that leased it, or that put it back. */
export interface Stamped {
  stamp: string | null;
}

/** What each step leased and still holds, so that a repetition of it finds that. A step is forgotten with its last
 *  lease. */
export class Steps<E extends Stamped> {
  readonly #leasedBy = new Map<string, Set<E>>();

  /** In the order in which they were leased. */
  leasedBy(stepId: string): Iterable<E> {
    return this.#leasedBy.get(stepId) ?? [];
  }

  /** What the steps leased whose ids `isWanted` lets through. */
  *leasedWhere(isWanted: (stepId: string) => boolean): Iterable<E> {
    for (const [stepId, leased] of this.#leasedBy) {
      if (isWanted(stepId)) yield* leased;
    }
  }

  lease(stepId: string, entry: E): void {
    entry.stamp = stepId;
    const leased = this.#leasedBy.get(stepId);
    if (leased === undefined) this.#leasedBy.set(stepId, new Set([entry]));
    else leased.add(entry);
  }

  /** Ends the lease of a leased entry; `stamp` is the step that put it back, if any. */
  endLease(entry: E, stamp: string | null): void {
    const stepId = entry.stamp;
    entry.stamp = stamp;
    if (stepId === null) return;
    const leased = this.#leasedBy.get(stepId);
    leased?.delete(entry);
    if (leased?.size === 0) this.#leasedBy.delete(stepId);
  }
}
