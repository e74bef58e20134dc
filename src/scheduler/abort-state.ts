import {
  type JobCancelledError,
  type JobTimeoutError,
  LeaseLostError,
  type SchedulerStateError,
} from "../core/errors.ts";

/** Why an attempt is to end early. */
export type AbortReason = JobTimeoutError | JobCancelledError | LeaseLostError | SchedulerStateError;

/** Whether and why something was aborted, with an `AbortSignal` that is made only when somebody asks for it: it would
 *  cost more than everything else about a short job. */
export class AbortState {
  #reason: AbortReason | null = null;
  #controller: AbortController | null = null;

  get reason(): AbortReason | null {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason counts, but a lost lease overrides it: nothing that is done after it may be recorded.
   *  @returns whether it is the first */
  abort(reason: AbortReason): boolean {
    const isFirst = this.#reason === null;
    if (isFirst || reason instanceof LeaseLostError) this.#reason = reason;
    if (isFirst) this.#controller?.abort(reason);
    return isFirst;
  }
}
