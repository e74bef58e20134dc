import type { Clock } from "../../core/clock.ts";
import type { ExecutorOpenOptions, JobCall, JobExecutor } from "../../executors/job-executor.ts";
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

  get taskIds(): readonly string[] | undefined {
    return this.#executor.taskIds;
  }

  get capacity(): number | undefined {
    return this.#executor.capacity;
  }

  onCapacity(listener: () => void): () => void {
    return this.#executor.onCapacity?.(listener) ?? (() => {});
  }

  open(options?: ExecutorOpenOptions): Promise<void> {
    return this.#executor.open(options);
  }

  execute(call: JobCall): Promise<unknown> {
    const { job } = call;
    const begunAt = this.#clock.now();
    this.#tally.begins(job, begunAt);
    const ended = (): void => {
      const durationMs = this.#clock.now() - begunAt;
      this.#tally.ended(job, durationMs);
      // An attempt has its signal made when somebody reads it, which costs more than the rest. Within a millisecond no
      // lease is lost.
      if (durationMs > 0 && call.signal.aborted) this.#tally.aborted(job, call.signal.reason);
    };
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
