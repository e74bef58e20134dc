import { OptionsError } from "../../core/errors.ts";
import { mustBe } from "../../core/option-errors.ts";
import { checkId } from "../../scheduler/options/check-options.ts";
import { type KeyedPayload, keyedPayload } from "../../scheduler/tasks/concurrency-key.ts";
import { DefinedTask } from "../../scheduler/tasks/defined-tasks.ts";
import { JSONSerializer } from "../../serializers/json.ts";

/** Values travel as JSON, whatever the serializer of the store. */
export const serializer: JSONSerializer = new JSONSerializer();

/** The id of what stands for a task. @throws {OptionsError} when it stands for none */
export function taskIdOf(task: unknown): string {
  if (typeof task === "string") return checkId(task, "task id");
  if (typeof task === "function") return nameOf(task.name);
  if (typeof task === "object" && task !== null && "id" in task) return checkId(task.id, "task id");
  const advice = task instanceof Promise ? "await it first" : null;
  const message = mustBe("a task, its id or a named function", task, "", advice);
  throw new OptionsError(`the task ${message}`, [{ path: "task", message }]);
}

function nameOf(name: string): string {
  if (name !== "" && !name.startsWith("bound ")) return checkId(name, "task id");
  throw new OptionsError("a function without a name of its own stands for no task; pass the id of the task", [
    { path: "task", message: "a function without a name of its own" },
  ]);
}

/**
 * A payload that may travel, and the concurrency key of its jobs. A task of `defineTasks` checks the payload, and tells
 * the key, as it does beside a scheduler. Of other tasks, the scheduler behind the router does both.
 * @param key the key that the caller gives; undefined for none
 * @returns undefined as the key that nothing here knows
 * @throws {PayloadError} @throws {SerializationError} @throws {OptionsError}
 */
export async function travelling(
  task: unknown,
  payload: unknown,
  key: string | null | undefined,
): Promise<string | null | undefined> {
  const defined = task instanceof DefinedTask ? task : null;
  const keyFunction = defined?.settings.concurrencyKey ?? null;
  const tasks = { schemaOf: () => defined?.schema ?? null, keyFunctionOf: () => keyFunction };
  const keyed: KeyedPayload = await keyedPayload({ serializer, tasks }, taskIdOf(task), payload, key);
  return key === undefined && keyFunction === null ? undefined : keyed.key;
}
