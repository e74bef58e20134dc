import { ISSUES_MAX } from "../../core/check-limits.ts";
import { PayloadError, SerializationError } from "../../core/errors.ts";
import { pathText, type StandardSchemaV1 } from "../../core/standard-schema.ts";
import { isStorable, STORABLE } from "../../core/text.ts";
import { SERIALIZED_LENGTH_MAX } from "../../records/limits.ts";
import type { Serializer } from "../../serializers/serializer.ts";

/** The payload as its schema returns it. @throws {PayloadError} which names the paths of the first 50 problems */
export async function checkPayload(schema: StandardSchemaV1, payload: unknown, taskId: string): Promise<unknown> {
  const result = await schema["~standard"].validate(payload);
  if (typeof result !== "object" || result === null) {
    const message = `its schema answered ${String(result)}, which is no result of a Standard Schema`;
    throw new PayloadError(`the payload of task "${taskId}" cannot be checked: ${message}`, [{ path: "", message }]);
  }
  if (result.issues === undefined) return result.value;
  const found = result.issues.slice(0, ISSUES_MAX);
  const issues = found.map(({ path, message }) => ({ path: pathText(path), message }));
  const list = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new PayloadError(`the payload of task "${taskId}" is not valid: ${list}`, issues);
}

/** A serializer of the user's may return anything. @throws {SerializationError} */
export function assertText(text: unknown): void {
  if (typeof text === "string") return;
  throw new SerializationError(`serialize() must return text; its serializer returned a value of type ${typeof text}`);
}

/** A payload as text; null for undefined. @throws {SerializationError} when it cannot be serialized, or is too large */
export function payloadText(serializer: Serializer, taskId: string, payload: unknown): string | null {
  if (payload === undefined) return null;
  const text = serialized(serializer, taskId, payload);
  assertText(text);
  if (!isStorable(text)) {
    throw new SerializationError(
      `the payload of task "${taskId}" as text must be ${STORABLE}: its serializer has to escape them`,
    );
  }
  if (text.length <= SERIALIZED_LENGTH_MAX) return text;
  throw new SerializationError(
    `the payload of task "${taskId}" is too large: ${text.length} characters, at most ${SERIALIZED_LENGTH_MAX}; ` +
      "store it elsewhere and pass a reference",
  );
}

function serialized(serializer: Serializer, taskId: string, payload: unknown): string {
  try {
    return serializer.serialize(payload);
  } catch (error) {
    if (!(error instanceof SerializationError)) throw error;
    throw new SerializationError(`the payload of task "${taskId}" cannot be stored: ${error.message}`, {
      cause: error,
    });
  }
}
