/** What ends a request: an `AbortSignal`, or the end of a client. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The end of a client, for as many requests as are under way. It is no `AbortSignal`, because Node takes more than ten
 *  listeners of a signal for a leak, and warns. */
export class ClientEnd implements AbortSource {
  readonly #listeners = new Set<() => void>();
  #end: { readonly reason: Error } | null = null;

  get aborted(): boolean {
    return this.#end !== null;
  }
  get reason(): unknown {
    return this.#end?.reason;
  }

  close(reason: Error): void {
    this.#end ??= { reason };
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/** @throws the reason */
export function throwIfAborted(source: AbortSource | undefined): void {
  if (source?.aborted === true) throw source.reason;
}
