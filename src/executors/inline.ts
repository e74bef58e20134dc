import type { JobCall, JobExecutor } from "./job-executor.ts";

/** Runs handlers in the scheduler's own thread and event loop. Every scheduler has such an executor under the name
 *  `inline`.
 *
 *  @example
 *  const scheduler = new Scheduler({ executors: { mail: new InlineExecutor() } });
 */
export class InlineExecutor implements JobExecutor {
  async open(): Promise<void> {}

  /** Not async, because the promise of the handler itself will do, and each promise more costs every job time. */
  execute(call: JobCall): Promise<unknown> {
    try {
      return Promise.resolve(call.invoke());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
