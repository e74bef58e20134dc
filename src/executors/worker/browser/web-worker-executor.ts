import { RemoteExecutor } from "../../remote/remote-executor.ts";
import { WebWorkerChannel } from "./web-worker-channel.ts";
import { checkWebWorkerOptions, type WebWorkerExecutorOptions } from "./web-worker-options.ts";

/**
 * Runs handlers in Web Workers, so that handlers that compute hold up neither the page nor each other. A handler that
 * ignores its abort is ended with its worker.
 *
 * The handlers are those that the worker's module passes to `serveTasks`. In the scheduler the tasks need none.
 * Payloads and returned values cross as text of the data store. In a worker, `context.scheduler` throws.
 * @throws {OptionsError}
 * @example
 * // tasks-worker.js: serveTasks(defineTasks({ thumb: { handler: ({ file }) => shrink(file) } }));
 * const workers = new WorkerExecutor({
 *   worker: () => new Worker(new URL("./tasks-worker.js", import.meta.url), { type: "module" }),
 * });
 * const scheduler = new Scheduler({ executors: { workers } });
 * scheduler.task("thumb", { executor: "workers" });
 */
export class WorkerExecutor extends RemoteExecutor {
  constructor(options: WebWorkerExecutorOptions) {
    const { pool, worker } = checkWebWorkerOptions(options);
    super(pool, WORDS, (listener) => new WebWorkerChannel(worker, listener));
  }
}

const WORDS = { executor: "WorkerExecutor", worker: "worker" };
