import type { JobCall, JobExecutor } from "../../src/contracts.ts";

/** An executor with handlers of its own, which get the call. */
export class OwnHandlers implements JobExecutor {
  readonly #handlers: Readonly<Record<string, (call: JobCall) => unknown>>;
  taskIds: readonly string[] | undefined;

  constructor(handlers: Readonly<Record<string, (call: JobCall) => unknown>>) {
    this.#handlers = handlers;
  }

  async open(): Promise<void> {
    this.taskIds = Object.keys(this.#handlers);
  }

  async execute(call: JobCall): Promise<unknown> {
    return this.#handlers[call.job.taskId]?.(call);
  }

  async close(): Promise<void> {
    this.taskIds = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
