import { endsWorkWithRequests } from "./host.ts";

/**
 * Some work that several callers ask for at the same time. The callers that come while the work is under way share its
 * answer. In a runtime that ends work together with the request that began it, only the calls of one turn do, because
 * they belong to one request, and the answer to somebody else's call may never come. So the work has to be harmless
 * when it is done twice at once.
 */
export class JoinedCall<T> {
  readonly #work: () => Promise<T>;
  readonly #joins: boolean;
  #running: Promise<T> | null = null;

  /** @param joins whether callers may wait for each other beyond a turn. Default: unless the runtime ends work with
   *  requests */
  constructor(work: () => Promise<T>, joins: boolean = !endsWorkWithRequests()) {
    this.#work = work;
    this.#joins = joins;
  }

  run(): Promise<T> {
    if (this.#running !== null) return this.#running;
    const forget = (): void => {
      if (this.#running === running) this.#running = null;
    };
    const running = this.#work().finally(forget);
    this.#running = running;
    if (!this.#joins) afterTurn(forget);
    return running;
  }

  /** Resolves when the work that callers share has ended, in whatever way. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => {});
  }
}

/** Calls a function when everything that is called in the present turn has been called. */
export function afterTurn(run: () => void): void {
  void Promise.resolve().then(run);
}
