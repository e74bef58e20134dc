import {
  DeserializationError,
  JobAbandonedError,
  JobCancelledError,
  JobDeadlineMissedError,
  JobTimeoutError,
} from "../../core/errors.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { SerializedError } from "../../records/serialized-error.ts";

/** The error behind a result that is no success. It has the class of the outcome; for the outcome `error`, it has the
 *  name, message, stack and causes of the error that the handler threw. */
export function errorFromRecord(
  result: Pick<JobResultRecord, "jobId" | "taskId" | "outcome" | "attempts" | "error">,
): Error {
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

/** An error object with the name, message, stack, code and causes of a record. */
export function reviveError(record: SerializedError): Error {
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
