import { mustBe } from "../core/option-errors.ts";
import { JSON_TEXTS, SAMPLE } from "../executors/remote/call-texts.ts";
import type { TaskHandler } from "../scheduler/scheduler-client.ts";
import type { Serializer } from "../serializers/serializer.ts";

/** What a module has for a worker. */
export interface TaskModule {
  /** The handlers, by task id. */
  readonly handlers: ReadonlyMap<string, TaskHandler>;
  /** The data store's serializer; undefined for none. */
  readonly serializer: unknown;
}

/** What is wrong with a module, as the end of a sentence that begins with "module". */
export class UnfitModule extends Error {}

/**
 * What a module exports: `tasks`, which it may have as its default, as `defineTasks` returns them, and the `serializer`
 * of a data store that has one of its own.
 * @param module its URL
 * @throws {UnfitModule} and whatever the module throws
 */
export async function importedModule(module: string): Promise<TaskModule> {
  const exports = (await import(/* @vite-ignore */ module)) as object;
  return { handlers: handlersOf(exports), serializer: Reflect.get(exports, "serializer") };
}

function handlersOf(exports: object): ReadonlyMap<string, TaskHandler> {
  const tasks: unknown = Reflect.get(exports, "tasks") ?? Reflect.get(exports, "default");
  if (tasks === undefined) {
    const names = Object.keys(exports);
    const found = names.length === 0 ? "nothing" : names.slice(0, 10).join(", ");
    throw new UnfitModule(`${RULE}; it exports ${found}`);
  }
  if (typeof tasks !== "object" || tasks === null) {
    throw new UnfitModule(`${RULE}; its \`tasks\` ${mustBe("an object", tasks)}`);
  }
  return handlersIn(tasks, RULE);
}

const RULE = "must export `tasks`, made by defineTasks()";

/**
 * The handlers of tasks, by task id. Tasks without a handler are left out.
 * @param rule what the tasks must be, for messages
 * @throws {UnfitModule}
 */
export function handlersIn(tasks: object, rule: string): ReadonlyMap<string, TaskHandler> {
  const handlers = new Map<string, TaskHandler>();
  // Own properties alone: a job must not reach what every object has, such as `constructor`.
  for (const [id, task] of Object.entries(tasks)) {
    const handler = handlerOf(task);
    if (handler === undefined) {
      throw new UnfitModule(`${rule}; task "${id}" ${mustBe("a definition", task)}`);
    }
    if (handler !== null) handlers.set(id, handler);
  }
  if (handlers.size === 0) throw new UnfitModule("has no task with a handler: pass defineTasks() some");
  return handlers;
}

/** The handler of a task, by shape, because a bundled module has its own copy of the class. Null for a task without
 *  one; undefined for what is no task. */
function handlerOf(task: unknown): TaskHandler | null | undefined {
  if (typeof task !== "object" || task === null || !("handler" in task)) return undefined;
  if (task.handler === null || task.handler === undefined) return null;
  return typeof task.handler === "function" ? (task.handler as TaskHandler) : undefined;
}

/**
 * The serializer of a worker.
 * @param sample what the data store's serializer wrote; absent for JSON
 * @param given what the worker's module has
 * @throws {UnfitModule} when that is not the data store's
 */
export function workerSerializer(sample: string | undefined, given: unknown): Serializer {
  if (sample === undefined) return JSON_TEXTS;
  const advice = "export the same one as `serializer`, or pass it to serveTasks(tasks, { serializer })";
  if (given === undefined) {
    throw new UnfitModule(`must have the serializer of the data store, which is no JSONSerializer: ${advice}`);
  }
  if (!isSerializer(given)) throw new UnfitModule(`must have a serializer; it ${mustBe("a Serializer", given)}`);
  try {
    if (JSON.stringify(given.deserialize(sample)) === JSON.stringify(SAMPLE)) return given;
  } catch {
    // It is another one.
  }
  throw new UnfitModule(`has a serializer that does not read what that of the data store writes: ${advice}`);
}

function isSerializer(given: unknown): given is Serializer {
  if (typeof given !== "object" || given === null) return false;
  return ["serialize", "deserialize"].every((name) => typeof Reflect.get(given, name) === "function");
}
