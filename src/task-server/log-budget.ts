import { timerHost } from "../core/timer-host.ts";
import { WORKER_LOG_LINES_PER_SECOND_MAX } from "./limits.ts";

/** How many lines of its handlers a worker still sends in this second. A handler that logs in a loop would else fill
 *  the memory of the scheduler. */
export class LogBudget {
  #endsAt = 0;
  #left = 0;
  #dropped = 0;

  /** Takes one line. @returns how many lines were dropped before it; null when this line is dropped too */
  take(): number | null {
    const now = timerHost.elapsed();
    if (now >= this.#endsAt) {
      this.#endsAt = now + 1000;
      this.#left = WORKER_LOG_LINES_PER_SECOND_MAX;
    }
    if (this.#left === 0) {
      this.#dropped++;
      return null;
    }
    this.#left--;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }
}
