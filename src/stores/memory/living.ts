/** Until when the schedulers of a `MemoryDataStore` count as alive, by identity. */
export class Living {
  readonly #aliveUntil = new Map<string, number>();

  isAlive(schedulerId: string, now: number): boolean {
    return (this.#aliveUntil.get(schedulerId) ?? now) > now;
  }

  /** @param aliveUntil epoch milliseconds; null keeps the stored instant */
  report(schedulerId: string, aliveUntil: number | null, now: number): void {
    if (aliveUntil === null) return;
    if (aliveUntil > now) this.#aliveUntil.set(schedulerId, aliveUntil);
    else this.#aliveUntil.delete(schedulerId);
  }

  cleanup(now: number): void {
    for (const [schedulerId, until] of this.#aliveUntil) {
      if (until <= now) this.#aliveUntil.delete(schedulerId);
    }
  }
}
