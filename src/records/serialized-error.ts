import { ERROR_CAUSES_MAX, ERROR_TEXT_LENGTH_MAX } from "../core/limits.ts";
import { storable } from "../core/text.ts";

/** An error in the form that results and events keep. `cause` has the same form. */
export interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: SerializedError;
}

/** What is kept of a thrown value. Never throws, whatever the value is. Long texts and long chains of causes are
 *  cut. */
export function serializedError(thrown: unknown, depth = 0): SerializedError {
  try {
    if (!(thrown instanceof Error) && !isErrorLike(thrown)) {
      return { name: "Error", message: clip(`a value that is no error was thrown: ${String(thrown)}`) };
    }
    const code: unknown = Reflect.get(thrown, "code");
    return {
      name: clip(String(thrown.name)),
      message: clip(String(thrown.message)),
      ...(typeof thrown.stack === "string" ? { stack: clip(thrown.stack) } : {}),
      ...(typeof code === "string" ? { code: clip(code) } : {}),
      ...(thrown.cause !== undefined && depth < ERROR_CAUSES_MAX
        ? { cause: serializedError(thrown.cause, depth + 1) }
        : {}),
    };
  } catch {
    return { name: "Error", message: "an error that cannot be read was thrown" };
  }
}

function isErrorLike(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "message" in value && "name" in value;
}

/** The text as every store keeps it, and not too long. A cut may have halved a surrogate pair. */
function clip(text: string): string {
  return storable(text.length > ERROR_TEXT_LENGTH_MAX ? `${text.slice(0, ERROR_TEXT_LENGTH_MAX)}...` : text);
}
