/** What several schedulers of a process may be given: a store, a broker, an executor. */
interface Shareable {
  close(): Promise<void>;
}

/** How many schedulers of this process use an object. */
const userCounts = new WeakMap<Shareable, number>();

/** What one scheduler uses, and maybe others of this process too: the last of them closes it. */
export class SharedParts {
  readonly #used = new Set<Shareable>();

  /** Does nothing for a part that is open already. @throws what `open` throws; it may be tried again */
  async open(part: Shareable, open: () => Promise<void>): Promise<void> {
    if (this.#used.has(part)) return;
    this.#used.add(part);
    changeCount(part, 1);
    try {
      await open();
    } catch (error) {
      this.#used.delete(part);
      changeCount(part, -1);
      throw error;
    }
  }

  /** The newest first, each whether or not closing the others fails. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const part of [...this.#used].reverse()) {
      this.#used.delete(part);
      if (changeCount(part, -1) > 0) continue;
      try {
        await part.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

function changeCount(part: Shareable, change: number): number {
  const count = (userCounts.get(part) ?? 0) + change;
  userCounts.set(part, count);
  return count;
}
