import { SerializationError } from "../../core/errors.ts";
import { isStorable, STORABLE } from "../../core/text.ts";
import { SERIALIZED_LENGTH_MAX } from "../../records/limits.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { assertText } from "./payload.ts";

/** A return value as text. @throws {SerializationError} when it cannot be serialized, or is too large */
export function resultText(serializer: Serializer, value: unknown, jobId: () => string): string {
  const text = serialized(serializer, value);
  assertText(text);
  if (!isStorable(text)) {
    throw new SerializationError(`the result as text must be ${STORABLE}: its serializer has to escape them`);
  }
  if (text.length <= SERIALIZED_LENGTH_MAX) return text;
  throw new SerializationError(
    `the result of job ${jobId()} is too large: ${text.length} characters, at most ${SERIALIZED_LENGTH_MAX}; ` +
      "store it elsewhere and return a reference",
  );
}

function serialized(serializer: Serializer, value: unknown): string {
  try {
    return serializer.serialize(value);
  } catch (error) {
    throw asResultError(error);
  }
}

/** Says of a serializer's refusal that it is about the return value. */
function asResultError(error: unknown): unknown {
  try {
    if (!(error instanceof SerializationError)) return error;
    return new SerializationError(`what the handler returned cannot be stored: ${error.message}`, { cause: error });
  } catch {
    // What was thrown cannot even be looked at.
    return error;
  }
}
