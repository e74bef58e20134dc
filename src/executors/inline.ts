import type { JobCall, JobExecutor } from "./job-executor.ts";

/** Runs handlers in the scheduler's own thread and event loop. Every scheduler has such an executor under the name
 *  `inline`.
 *
 *  @example
 *  const scheduler = new Scheduler({ executors: { mail: new InlineExecutor() } });
 */
export class InlineExecutor implements JobExecutor {
  async open(): Promise<void> {}

  async execute(call: JobCall): Promise<unknown> {
    return call.invoke();
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
