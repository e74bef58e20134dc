import type { JobCancelledError, JobTimeoutError, LeaseLostError, SchedulerStateError } from "../../core/errors.ts";

/** Why an attempt is to end early. */
export type AbortReason = JobTimeoutError | JobCancelledError | LeaseLostError | SchedulerStateError;

/** Whether and why an attempt was aborted. Its `AbortSignal` is made only when somebody asks for the signal, because
 *  making one costs more than everything else about a short job. */
export class AbortState {
  #reason: AbortReason | null = null;
  #controller: AbortController | null = null;
  #listener: ((reason: AbortReason) => void) | null = null;

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

  /** Calls the function with the reason, at once if there is one. Only the last function that came is called. */
  listen(listener: ((reason: AbortReason) => void) | null): void {
    this.#listener = listener;
    if (this.#reason !== null) listener?.(this.#reason);
  }

  /** Aborts. Only the first reason counts. @returns whether this reason is the first */
  abort(reason: AbortReason): boolean {
    if (this.#reason !== null) return false;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#listener?.(reason);
    return true;
  }
}
