import type { JobCall, JobExecutor } from "./job-executor.ts";

/** Runs handlers in the scheduler's own thread and event loop. */
export class InlineExecutor implements JobExecutor {
  async open(): Promise<void> {}

  async execute(call: JobCall): Promise<unknown> {
    return call.invoke();
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
