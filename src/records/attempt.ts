import { storable } from "../core/text.ts";
import {
  ATTEMPT_CAUSE_LENGTH_MAX,
  ATTEMPT_MESSAGE_LENGTH_MAX,
  ATTEMPT_STACK_LENGTH_MAX,
  ATTEMPTS_KEPT_MAX,
} from "./limits.ts";
import type { SerializedError } from "./serialized-error.ts";

/** An attempt of a job that failed, or was lost with its thread or process, in the form that stores keep. Times are
 *  epoch milliseconds. */
export interface AttemptRecord {
  /** 1 for the first attempt of the job. */
  readonly number: number;
  /** When the handler was called; null when it was not called. */
  readonly startedAt: number | null;
  readonly finishedAt: number;
  /** What the attempt threw; null for one that was lost with its process. */
  readonly error: SerializedError;
}

/** What a handler last said about its progress. */
export interface JobProgress {
  /** How much of the work is done, 0 to 1. */
  readonly fraction: number;
  /** What the handler said beside the number; null for nothing. */
  readonly note: string | null;
}

/** A list of failed attempts with one more. The oldest attempts go when there are too many. */
export function withAttempt(
  attempts: readonly AttemptRecord[] | undefined,
  attempt: AttemptRecord,
): readonly AttemptRecord[] {
  const { name, message, stack, code, cause } = attempt.error;
  const error = {
    name,
    message: cut(message, ATTEMPT_MESSAGE_LENGTH_MAX),
    ...(stack === undefined ? {} : { stack: cut(stack, ATTEMPT_STACK_LENGTH_MAX) }),
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: causeIn(cause) }),
  };
  return [...(attempts ?? []), { ...attempt, error }].slice(-ATTEMPTS_KEPT_MAX);
}

/** The nearest cause is kept, because of a lost attempt it says the reason. */
function causeIn({ name, message, code }: SerializedError): SerializedError {
  const kept = { name: cut(name, ATTEMPT_CAUSE_LENGTH_MAX), message: cut(message, ATTEMPT_CAUSE_LENGTH_MAX) };
  return code === undefined ? kept : { ...kept, code: cut(code, ATTEMPT_CAUSE_LENGTH_MAX) };
}

/** A text of at most so many UTF-16 units, the three dots of a cut included. A cut may have halved a surrogate pair. */
export function cut(text: string, lengthMax: number): string {
  return text.length > lengthMax ? storable(`${text.slice(0, lengthMax - 3)}...`) : text;
}
