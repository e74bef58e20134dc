import { RemoteExecutor } from "../remote/remote-executor.ts";
import { ProcessChannel } from "./process-channel.ts";
import { checkProcessOptions, type ProcessExecutorOptions } from "./process-options.ts";

/**
 * Runs handlers in child processes (Node, Deno and Bun). A handler that crashes its process, or takes all of its
 * memory, harms no other job. Processes take longer to start than threads and need more memory: use `WorkerExecutor`
 * where handlers only compute.
 *
 * The handlers are those of a module that each process imports. In the scheduler the tasks need none. Payloads and
 * returned values cross as text of the data store. In a process, `context.scheduler` throws.
 * Processes end with this program, however it ends.
 * @throws {OptionsError}
 * @example
 * // tasks.ts: export const tasks = defineTasks({ convert: { handler: ({ file }) => convert(file) } });
 * const processes = new ProcessExecutor({ module: new URL("./tasks.ts", import.meta.url) });
 * const scheduler = new Scheduler({ executors: { processes } });
 * scheduler.task("convert", { executor: "processes" });
 */
export class ProcessExecutor extends RemoteExecutor {
  constructor(options: ProcessExecutorOptions) {
    const { pool, process } = checkProcessOptions(options);
    super(pool, WORDS, (listener) => new ProcessChannel(process, listener));
  }
}

const WORDS = { executor: "ProcessExecutor", worker: "process" };
