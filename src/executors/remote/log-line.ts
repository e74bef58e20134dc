import { WORKER_LOG_LENGTH_MAX } from "../../core/limits.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { LogDetail } from "./remote-call.ts";

/** Most details of a line that are sent. */
const DETAILS_MAX = 20;

/** The text of a logged line, not too long. */
export function logText(message: unknown): string {
  return clip(typeof message === "string" ? message : textOf(message));
}

/** What was logged with a line, in a form that can be sent: JSON, and errors. What is no JSON becomes text. Never
 *  throws. */
export function logDetails(details: readonly unknown[]): LogDetail[] {
  return details.slice(0, DETAILS_MAX).map((detail) => {
    if (typeof detail === "string") return { value: clip(detail) };
    if (typeof detail !== "object" || detail === null) return { value: isJson(detail) ? detail : textOf(detail) };
    try {
      // A Proxy may throw at the question.
      if (detail instanceof Error) return { error: serializedError(detail) };
      const text = JSON.stringify(detail);
      return { value: text.length > WORKER_LOG_LENGTH_MAX ? clip(text) : JSON.parse(text) };
    } catch {
      return { value: textOf(detail) };
    }
  });
}

function isJson(value: unknown): boolean {
  return value === null || typeof value === "boolean" || Number.isFinite(value);
}

function textOf(value: unknown): string {
  try {
    return clip(String(value));
  } catch {
    return "a value that cannot be read";
  }
}

function clip(text: string): string {
  return text.length > WORKER_LOG_LENGTH_MAX ? `${text.slice(0, WORKER_LOG_LENGTH_MAX)}…` : text;
}
