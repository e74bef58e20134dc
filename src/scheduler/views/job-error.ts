import {
  DeserializationError,
  JobAbandonedError,
  JobCancelledError,
  JobDeadlineMissedError,
  JobSkippedError,
  JobTimeoutError,
} from "../../core/errors.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { plainError, withFacts } from "../../records/revived-error.ts";
import type { SerializedError } from "../../records/serialized-error.ts";

type EndedFacts = Pick<JobResultRecord, "jobId" | "taskId" | "outcome" | "attempts" | "error" | "attemptHistory">;

/** What ended a job: the error of its result, or how its last attempt was lost. Null where nobody knows. */
export function reasonOf({
  error,
  outcome,
  attempts,
  attemptHistory,
}: Omit<EndedFacts, "jobId" | "taskId">): SerializedError | null {
  if (error !== null || outcome !== "abandoned") return error;
  const last = attemptHistory?.at(-1);
  return last?.number === attempts ? last.error : null;
}

/** The error behind a result that is no success. It has the class of the outcome; for the outcome `error`, it has what
 *  was kept of the error that the handler threw. */
export function errorFromRecord(result: EndedFacts): Error {
  const reason = reasonOf(result);
  const cause = reason === null ? undefined : { cause: storedError(reason) };
  const job = `job ${result.jobId} of task "${result.taskId}"`;
  switch (result.outcome) {
    case "cancelled":
      return new JobCancelledError(`${job} was cancelled`, cause);
    case "missedStartDeadline":
      return new JobDeadlineMissedError(`${job} was not started before its deadline`, cause);
    case "skipped":
      return new JobSkippedError(`${job} was skipped by its handler: ${reason?.message ?? "it said no more"}`, cause);
    case "abandoned":
      return new JobAbandonedError(`${job} ${lostText(result.attempts)}`, cause);
    case "deserializationFailed":
      return new DeserializationError(
        `the payload of ${job} cannot be read: ${result.error?.message ?? "unknown reason"}`,
        cause,
      );
    case "error":
    case "success":
      return result.error === null ? new Error(`${job} failed`) : storedError(result.error);
    default:
      return result.outcome satisfies never;
  }
}

/** What is said of a job that was lost too often. */
export function lostText(attempts: number): string {
  const times = ["never", "once", "twice"][attempts] ?? `${attempts} times`;
  return `was lost with its process ${times}, and is given up (see maxRecoveries)`;
}

/** An error object with all that a record of the store has of an error. */
export function storedError(record: SerializedError): Error {
  const cause = record.cause === undefined ? undefined : storedError(record.cause);
  const isTimeout = record.code === "jobTimeout" && record.name === JobTimeoutError.errorName;
  if (!isTimeout) return plainError(record, cause, storedError);
  return withFacts(new JobTimeoutError(record.message, { cause }), record);
}
