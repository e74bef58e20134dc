import type { Logger } from "../../core/logger.ts";
import { mustBe, optionError } from "../../core/option-errors.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "../../core/text.ts";
import { ID_LENGTH_MAX } from "../../records/limits.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { KeyFunction } from "../options/check-options.ts";
import { checkPayload, payloadText } from "./payload.ts";
import type { TaskRegistry } from "./task-registry.ts";

/** A payload as text, and the concurrency key of its jobs; each is null for none. */
export interface KeyedPayload {
  readonly text: string | null;
  readonly key: string | null;
}

/** What tells how a payload is checked, and which key it has. */
export interface PayloadParts {
  readonly serializer: Serializer;
  readonly tasks: Pick<TaskRegistry, "schemaOf" | "keyFunctionOf">;
}

/**
 * A payload for a task, checked and serialized, and its concurrency key; a promise only where a schema checks the
 * payload, because jobs without a schema are added faster without one. The text holds the value that the caller passed,
 * not the value that the schema returned, because the schema parses the payload again before the job runs. The key
 * comes from the value that the schema returned.
 *
 * @param key the key that the caller gives, or null for none; undefined leaves it to the task
 * @throws {PayloadError}
 * @throws {SerializationError}
 * @throws {OptionsError} when the task's function fails, or returns no key
 */
export function keyedPayload(
  parts: PayloadParts,
  taskId: string,
  payload: unknown,
  key: string | null | undefined,
): KeyedPayload | Promise<KeyedPayload> {
  const schema = parts.tasks.schemaOf(taskId);
  if (schema === null) return keyed(parts, taskId, payload, payload, key);
  return checkPayload(schema, payload, taskId).then((checked) => keyed(parts, taskId, payload, checked, key));
}

function keyed(
  { serializer, tasks }: PayloadParts,
  taskId: string,
  payload: unknown,
  checked: unknown,
  given: string | null | undefined,
): KeyedPayload {
  // The function of the task comes last, because it may change the payload.
  const text = payloadText(serializer, taskId, payload);
  if (given !== undefined) return { text, key: given };
  const keyFunction = tasks.keyFunctionOf(taskId);
  return { text, key: keyFunction === null ? null : keyOf(taskId, keyFunction, checked) };
}

function keyOf(taskId: string, keyFunction: KeyFunction, payload: unknown): string | null {
  const where = `task "${taskId}"`;
  let key: unknown;
  try {
    key = keyFunction(payload as never);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `failed on the payload: ${reason}; let it return null for a payload without a key`;
    throw optionError(where, "concurrencyKey", message, { cause: error });
  }
  if (key === null || key === undefined) return null;
  if (typeof key !== "string" || key.length === 0 || key.length > ID_LENGTH_MAX) {
    // Nobody else waits for this promise, and its rejection would end the process.
    if (key instanceof Promise) key.catch(() => {});
    const what = `text of 1 to ${ID_LENGTH_MAX} characters, or null for none`;
    const message = mustBe(what, key, "", adviceOn(key)).replace("must be", "must return");
    throw optionError(where, "concurrencyKey", message);
  }
  if (isStorable(key)) return key;
  const message = mustBe(STORABLE, key, "", STORABLE_ADVICE).replace("must be", "must return");
  throw optionError(where, "concurrencyKey", message);
}

function adviceOn(key: unknown): string | null {
  if (typeof key === "number" || typeof key === "bigint") return `write String(${key})`;
  return key instanceof Promise ? "it must not be async" : null;
}

/**
 * Refuses a job without a key of a task that limits each key where nothing here tells the key: the limit would not
 * count, and the task may have no other. If the task is fair instead, warns once, because the jobs without a key take
 * one turn together.
 *
 * @param key the key that the caller gives, or null for none; undefined where the task decides
 * @throws {OptionsError}
 */
export function assertKeyed(
  { tasks, logger }: { readonly tasks: TaskRegistry; readonly logger: Logger },
  { id, maxRunningPerKey, fair }: TaskRecord,
  key: string | null | undefined,
  where: string,
): void {
  if (maxRunningPerKey === undefined && fair !== true) return;
  if (key !== undefined || tasks.keyFunctionOf(id) !== null) return;
  const advice =
    "nothing here tells the key; give the task { concurrencyKey: (payload) => ... }, pass a task of defineTasks() " +
    'instead of its id, or pass { concurrencyKey: "..." }';
  if (maxRunningPerKey !== undefined) {
    const message = `is missing: task "${id}" has maxRunningPerKey, and ${advice} (null for a job without limit)`;
    throw optionError(where, "concurrencyKey", message);
  }
  if (!tasks.isFirstWithoutKey(id)) return;
  logger.warn(
    `escapement: ${where}: task "${id}" is fair, so that its concurrency keys take turns, and ${advice} ` +
      "(null for a job that shares the turn of those without a key)",
  );
}
