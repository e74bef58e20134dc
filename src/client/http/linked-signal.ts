import type { AbortSource } from "./closing.ts";

/** A signal that is aborted as soon as one of the given ones is. `AbortSignal.any` would keep what it makes for as long
 *  as its sources live, which is the life of a client, in some runtimes. */
export class LinkedSignal {
  readonly #controller = new AbortController();
  readonly #links: (() => void)[] = [];

  constructor(sources: readonly (AbortSource | undefined)[]) {
    for (const source of sources) {
      if (source === undefined) continue;
      const abort = (): void => this.#controller.abort(source.reason);
      if (source.aborted) abort();
      source.addEventListener("abort", abort, { once: true });
      this.#links.push(() => source.removeEventListener("abort", abort));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Lets go of the given signals. */
  unlink(): void {
    for (const unlink of this.#links.splice(0)) unlink();
  }
}
