import { RemoteExecutor } from "../remote/remote-executor.ts";
import type { WebWorkerExecutorOptions } from "./browser/web-worker-options.ts";
import { ThreadChannel } from "./thread-channel.ts";
import { checkWorkerOptions, type WorkerExecutorOptions } from "./worker-options.ts";

/**
 * Runs handlers in threads (`node:worker_threads`: Node, Deno and Bun), so that handlers that compute hold up neither
 * the scheduler nor each other. A handler that ignores its abort is ended with its thread; but Deno (2.9) does not end
 * a thread in the middle of a loop that is synchronous. In a browser the threads are Web Workers, and the options are
 * `WebWorkerExecutorOptions`.
 *
 * The handlers are those of a module that each thread imports. In the scheduler the tasks need none. Payloads and
 * returned values cross as text of the data store. In a thread, `context.scheduler` throws.
 * @throws {OptionsError}
 * @example
 * // tasks.ts: export const tasks = defineTasks({ thumb: { handler: ({ file }) => shrink(file) } });
 * const threads = new WorkerExecutor({ module: new URL("./tasks.ts", import.meta.url) });
 * const scheduler = new Scheduler({ executors: { threads } });
 * scheduler.task("thumb", { executor: "threads" });
 */
export class WorkerExecutor extends RemoteExecutor {
  constructor(options: WorkerExecutorOptions | WebWorkerExecutorOptions) {
    const { pool, thread } = checkWorkerOptions(options);
    super(pool, WORDS, (listener) => new ThreadChannel(thread, listener));
  }
}

const WORDS = { executor: "WorkerExecutor", worker: "thread" };
