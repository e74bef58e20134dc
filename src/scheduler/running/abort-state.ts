import type { JobCancelledError, JobTimeoutError, LeaseLostError, SchedulerStateError } from "../../core/errors.ts";

/** Why an attempt is to end early. */
export type AbortReason = JobTimeoutError | JobCancelledError | LeaseLostError | SchedulerStateError;

/** Told why an attempt is to end early, and how long it may still take, in milliseconds. */
export type AbortListener = (reason: AbortReason, graceMs: number) => void;

/** Whether and why an attempt was aborted. Its `AbortSignal` is made only when somebody asks for the signal, because
 *  making one costs more than everything else about a short job. */
export class AbortState {
  #reason: AbortReason | null = null;
  #controller: AbortController | null = null;
  #listener: AbortListener | null = null;
  #graceMs = Number.POSITIVE_INFINITY;

  get reason(): AbortReason | null {
    return this.#reason;
  }

  /** How long the work may take since it was last aborted, in milliseconds. */
  get graceMs(): number {
    return this.#graceMs;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Calls the function with the reason, at once if there is one, and again when the grace becomes shorter. Only the
   *  last function that came is called. */
  listen(listener: AbortListener | null): void {
    this.#listener = listener;
    if (this.#reason !== null) listener?.(this.#reason, this.#graceMs);
  }

  /** Aborts. Only the first reason counts, and the shortest grace. @returns whether the reason or the grace counts */
  abort(reason: AbortReason, graceMs: number): boolean {
    if (graceMs >= this.#graceMs) return false;
    this.#graceMs = graceMs;
    const isFirst = this.#reason === null;
    this.#reason ??= reason;
    if (isFirst) this.#controller?.abort(reason);
    this.#listener?.(this.#reason, graceMs);
    return true;
  }
}
