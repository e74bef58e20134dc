import { SchedulerStateError } from "../core/errors.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import type { FromWorker } from "../executors/remote/remote-call.ts";
import type { TaskHandler } from "../scheduler/scheduler-client.ts";
import type { Serializer } from "../serializers/serializer.ts";
import { handlersIn, UnfitModule } from "./task-module.ts";
import { TaskServer } from "./task-server.ts";

/**
 * Runs the handlers of tasks for a `WorkerExecutor` of a page. The module of the Web Worker calls it, once. Workers of
 * Node, Deno and Bun do without: their executor imports the tasks.
 * @param tasks what `defineTasks` returns
 * @param options `serializer`: that of the page's data store, where it is no `JSONSerializer`
 * @throws {OptionsError} when they are no tasks, or none of them has a handler
 * @throws {SchedulerStateError} outside of a Web Worker
 * @example
 * // tasks-worker.js
 * import { defineTasks } from "escapement";
 * import { serveTasks } from "escapement/worker";
 *
 * serveTasks(defineTasks({ thumb: { handler: ({ file }) => shrink(file) } }));
 */
export function serveTasks(tasks: object, options: { readonly serializer?: Serializer | undefined } = {}): void {
  const handlers = checkedHandlers(tasks);
  // Workers alone have this name. Pages, and Bun's main thread, have a `postMessage`, too.
  if (!("DedicatedWorkerGlobalScope" in globalThis)) {
    throw new SchedulerStateError(
      "serveTasks() was called outside of a Web Worker: call it in the module that option worker of a WorkerExecutor " +
        "names; on Node, Deno and Bun, export `tasks` from a module, and pass option module",
    );
  }
  const scope = globalThis as unknown as WorkerScope;
  const send = (messages: readonly FromWorker[]): void => scope.postMessage({ escapement: messages });
  const { serializer } = options;
  const server = new TaskServer(async () => ({ handlers, serializer }), send);
  scope.addEventListener("message", ({ data }) => server.receive(data));
  // A worker that closes itself tells nobody. With an error it is missed, and its jobs are run again.
  scope.close = () => scope.reportError(new Error("it called close()"));
  // Now the page may send.
  send([]);
}

/** What the global scope of a Web Worker has. */
interface WorkerScope {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  close(): void;
  reportError(error: Error): void;
}

function checkedHandlers(tasks: object): ReadonlyMap<string, TaskHandler> {
  const rule = "what defineTasks() returns";
  if (typeof tasks !== "object" || tasks === null) throw optionError("serveTasks()", "tasks", mustBe(rule, tasks));
  try {
    return handlersIn(tasks, `must be ${rule}`);
  } catch (error) {
    throw error instanceof UnfitModule ? optionError("serveTasks()", "tasks", error.message) : error;
  }
}
