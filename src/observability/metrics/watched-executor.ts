import type { Clock } from "../../core/clock.ts";
import type { JobCall, JobExecutor } from "../../executors/job-executor.ts";
import type { Tally } from "./tally.ts";

/** An executor whose attempts are counted and timed. */
export class WatchedExecutor implements JobExecutor {
  readonly #executor: JobExecutor;
  readonly #tally: Tally;
  readonly #clock: Clock;

  constructor(executor: JobExecutor, tally: Tally, clock: Clock) {
    this.#executor = executor;
    this.#tally = tally;
    this.#clock = clock;
  }

  open(): Promise<void> {
    return this.#executor.open();
  }

  execute(call: JobCall): Promise<unknown> {
    const { job, signal } = call;
    const begunAt = this.#clock.now();
    this.#tally.begins(job, begunAt);
    signal.addEventListener("abort", () => this.#tally.aborted(job, signal.reason), { once: true });
    const ended = (): void => this.#tally.ended(job, this.#clock.now() - begunAt);
    const work = this.#executor.execute(call);
    work.then(ended, ended);
    return work;
  }

  close(): Promise<void> {
    return this.#executor.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
