/** A part that several schedulers of a process may share: a store, a broker or an executor. */
interface Shareable {
  close(): Promise<void>;
}

/** How many schedulers of this process use an object. */
const userCounts = new WeakMap<Shareable, number>();

/** The parts that one scheduler uses. Other schedulers of this process may use them too: the last user of a part closes
 *  the part. */
export class SharedParts {
  readonly #used = new Set<Shareable>();
  readonly #opened = new Set<Shareable>();
  #closings = 0;

  /** Whether another scheduler of this process uses a part. */
  isUsedByOthers(part: Shareable): boolean {
    return (userCounts.get(part) ?? 0) > (this.#used.has(part) ? 1 : 0);
  }

  /** Whether this scheduler has opened a part. */
  hasOpened(part: Shareable): boolean {
    return this.#opened.has(part);
  }

  /** Opens a part, unless this scheduler has opened it already. Calls may overlap: then each opens the part.
   *  @throws what `open` throws; the call may be repeated */
  async open(part: Shareable, open: () => Promise<void>): Promise<void> {
    if (this.#opened.has(part)) return;
    const closings = this.#closings;
    this.#use(part);
    try {
      await open();
    } catch (error) {
      if (closings === this.#closings && !this.#opened.has(part) && this.#used.delete(part)) changeCount(part, -1);
      throw error;
    }
    if (closings === this.#closings) {
      this.#use(part);
      this.#opened.add(part);
      // Nobody waited for it, and nobody else would close it.
    } else if (changeCount(part, 0) === 0) await part.close();
  }

  #use(part: Shareable): void {
    if (this.#used.has(part)) return;
    this.#used.add(part);
    changeCount(part, 1);
  }

  /** Closes the parts, the newest first. A failure to close one part does not keep the others open. @throws the first
   *  failure */
  async close(): Promise<void> {
    this.#closings++;
    const failures: unknown[] = [];
    for (const part of [...this.#used].reverse()) {
      this.#used.delete(part);
      this.#opened.delete(part);
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
