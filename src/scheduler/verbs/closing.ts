/** Tells everyone who waits that the scheduler has stopped. It is no `AbortSignal`, because Node warns when a signal
 *  has more than ten listeners. */
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
    this.wake();
  }

  /** The scheduler begins nothing any more: whoever waits has another look. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
