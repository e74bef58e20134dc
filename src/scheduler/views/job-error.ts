import {
  DeserializationError,
  JobAbandonedError,
  JobCancelledError,
  JobDeadlineMissedError,
  JobTimeoutError,
} from "../../core/errors.ts";
import { ERROR_CAUSES_MAX, ERROR_TEXT_LENGTH_MAX } from "../../core/limits.ts";
import type { JobResultRecord, SerializedError } from "../../records/job-result.ts";

/** What is kept of something that was thrown: never throws itself, whatever it is given. */
export function errorRecord(thrown: unknown, depth = 0): SerializedError {
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
        ? { cause: errorRecord(thrown.cause, depth + 1) }
        : {}),
    };
  } catch {
    return { name: "Error", message: "an error that cannot be read was thrown" };
  }
}

/** The error behind a result that is no success: of the class of its outcome, else with the name, message, stack and
 *  causes of what the handler threw. */
export function errorFromRecord(result: JobResultRecord): Error {
  const cause = result.error === null ? undefined : { cause: reviveError(result.error) };
  const job = `job ${result.jobId} of task "${result.taskId}"`;
  switch (result.outcome) {
    case "cancelled":
      return new JobCancelledError(`${job} was cancelled`, cause);
    case "missedStartDeadline":
      return new JobDeadlineMissedError(`${job} was not started before its deadline`, cause);
    case "abandoned":
      return new JobAbandonedError(`${job} was lost with its process ${result.attempts} times and given up`, cause);
    case "deserializationFailed":
      return new DeserializationError(
        `the payload of ${job} cannot be read: ${result.error?.message ?? "unknown reason"}`,
        cause,
      );
    case "error":
    case "success":
      return result.error === null ? new Error(`${job} failed`) : reviveError(result.error);
    default:
      return result.outcome satisfies never;
  }
}

function reviveError(record: SerializedError): Error {
  const options = record.cause === undefined ? undefined : { cause: reviveError(record.cause) };
  if (record.code === "jobTimeout") return withFacts(new JobTimeoutError(record.message, options), record);
  const error = withFacts(new Error(record.message, options), record);
  if (record.code !== undefined) define(error, "code", record.code);
  return error;
}

function withFacts(error: Error, record: SerializedError): Error {
  define(error, "name", record.name);
  if (record.stack !== undefined) define(error, "stack", record.stack);
  return error;
}

function define(error: Error, key: string, value: string): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
}

function isErrorLike(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "message" in value && "name" in value;
}

function clip(text: string): string {
  return text.length > ERROR_TEXT_LENGTH_MAX ? `${text.slice(0, ERROR_TEXT_LENGTH_MAX)}...` : text;
}
