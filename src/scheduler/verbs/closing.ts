/** Tells whoever waits that the scheduler has stopped. No `AbortSignal`, on which Node warns of more than ten
 *  listeners. */
export class Closing {
  readonly #listeners = new Set<() => void>();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  delete(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of this.#listeners) listener();
  }
}
