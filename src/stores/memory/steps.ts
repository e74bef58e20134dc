/** An entry that can carry the id of a step: of the step that leased the entry, or that put it back. */
export interface Stamped {
  stamp: string | null;
}

/** The entries that each step leased and still holds, so that a repetition of the step finds them. A step is forgotten
 *  with its last lease. */
export class Steps<E extends Stamped> {
  readonly #leasedBy = new Map<string, Set<E>>();

  /** The entries that a step leased and still holds, in the order in which the step leased them. */
  leasedBy(stepId: string): Iterable<E> {
    return this.#leasedBy.get(stepId) ?? [];
  }

  /** The leased entries of all steps whose ids `isWanted` accepts. */
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
