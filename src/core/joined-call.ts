import { endsWorkWithRequests } from "./host.ts";

/**
 * Some work that several callers ask for at the same time. The callers that come while the work is under way share its
 * answer. In a runtime that ends work together with the request that began it, each call does the work itself, because
 * the answer to somebody else's call may never come. So the work has to be harmless when it is done twice at once.
 */
export class JoinedCall<T> {
  readonly #work: () => Promise<T>;
  readonly #joins: boolean;
  #running: Promise<T> | null = null;

  /** @param joins whether callers may wait for each other. Default: unless the runtime ends work with requests */
  constructor(work: () => Promise<T>, joins: boolean = !endsWorkWithRequests()) {
    this.#work = work;
    this.#joins = joins;
  }

  run(): Promise<T> {
    if (!this.#joins) return this.#work();
    if (this.#running === null) {
      const running = this.#work().finally(() => {
        if (this.#running === running) this.#running = null;
      });
      this.#running = running;
    }
    return this.#running;
  }

  /** Resolves when the work that callers share has ended, in whatever way. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => {});
  }
}
