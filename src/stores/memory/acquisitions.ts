/** What each acquisition leased and still holds, so that a repetition of it finds that. Forgotten with its last
 *  lease. */
export class Acquisitions<E extends { acquisitionId: string | null }> {
  readonly #byId = new Map<string, Set<E>>();

  /** In the order in which they were leased. */
  heldUnder(id: string): E[] {
    return [...(this.#byId.get(id) ?? [])];
  }

  begin(id: string, entry: E): void {
    entry.acquisitionId = id;
    const held = this.#byId.get(id);
    if (held === undefined) this.#byId.set(id, new Set([entry]));
    else held.add(entry);
  }

  /** Does nothing for an entry that is not leased. */
  end(entry: E): void {
    const id = entry.acquisitionId;
    if (id === null) return;
    entry.acquisitionId = null;
    const held = this.#byId.get(id);
    held?.delete(entry);
    if (held?.size === 0) this.#byId.delete(id);
  }
}
