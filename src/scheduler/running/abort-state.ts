import type { JobCancelledError, JobTimeoutError, LeaseLostError, SchedulerStateError } from "../../core/errors.ts";

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

  /** The first reason counts. @returns whether it is the first */
  abort(reason: AbortReason): boolean {
    if (this.#reason !== null) return false;
    this.#reason = reason;
    this.#controller?.abort(reason);
    return true;
  }
}
