import { JobCancelledError, LeaseLostError, SchedulerStateError } from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobOutcome, RetryPolicy } from "../../records/policies.ts";
import { type SerializedError, serializedError } from "../../records/serialized-error.ts";
import type { JobRelease } from "../../stores/data-store.ts";
import type { AbortReason } from "./abort-state.ts";
import { backoffMs, isRetryable } from "./retry.ts";

/** How the work of an attempt ended. */
export type AttemptEnding =
  /** It was not begun, because its start deadline had passed. */
  | { readonly kind: "late" }
  /** It was not begun, because its payload cannot be read. */
  | { readonly kind: "unreadable"; readonly error: unknown }
  /** The handler returned; `returnValue` is what is to be kept of that, serialized. */
  | { readonly kind: "returned"; readonly returnValue: string | null }
  /** The handler threw. `isFinal`: another attempt cannot help. */
  | { readonly kind: "threw"; readonly error: unknown; readonly isFinal: boolean }
  /** It was ended early. */
  | { readonly kind: "aborted"; readonly reason: AbortReason };

/** What an outcome depends on besides the ending; times in epoch milliseconds. */
export interface AttemptFacts {
  readonly job: JobRecord;
  /** 1 for the first attempt. */
  readonly number: number;
  /** When the handler was called; null when it was not. */
  readonly startedAt: number | null;
  readonly now: number;
  readonly retry: RetryPolicy;
  readonly random: RandomSource;
}

/** What the store is to be told of an attempt (`release`; null tells it nothing, because the lease is somebody else's),
 *  and the error that listeners hear of. */
export interface AttemptOutcome {
  readonly release: JobRelease | null;
  readonly error: SerializedError | null;
}

/** From how the work of an attempt ended to what the store is told. Pure. */
export function attemptOutcome(facts: AttemptFacts, ending: AttemptEnding): AttemptOutcome {
  switch (ending.kind) {
    case "late":
      return finished(facts, "missedStartDeadline", null, null);
    case "unreadable":
      return finished(facts, "deserializationFailed", null, serializedError(ending.error));
    case "returned":
      return finished(facts, "success", ending.returnValue, null);
    case "threw":
      return failed(facts, ending.error, ending.isFinal);
    case "aborted":
      return aborted(facts, ending.reason);
    default:
      return ending satisfies never;
  }
}

function aborted(facts: AttemptFacts, reason: AbortReason): AttemptOutcome {
  if (reason instanceof LeaseLostError) return { release: null, error: null };
  if (reason instanceof JobCancelledError) return finished(facts, "cancelled", null, null);
  if (reason instanceof SchedulerStateError) {
    const hasStarted = facts.startedAt !== null;
    return { release: { ...leaseOf(facts.job), kind: "giveUp", hasStarted }, error: null };
  }
  return failed(facts, reason, false);
}

function failed(facts: AttemptFacts, thrown: unknown, isFinal: boolean): AttemptOutcome {
  const { job, retry, random, now } = facts;
  const failedAttempts = job.failedAttempts + 1;
  const error = serializedError(thrown);
  if (isFinal || failedAttempts >= retry.attemptsMax || !isRetryable(thrown)) {
    return finished(facts, "error", null, error);
  }
  const runAt = now + backoffMs(retry, failedAttempts, random);
  return { release: { ...leaseOf(job), kind: "retry", runAt, failedAttempts }, error };
}

function finished(
  { job, number, startedAt, now }: AttemptFacts,
  outcome: JobOutcome,
  returnValue: string | null,
  error: SerializedError | null,
): AttemptOutcome {
  const result = {
    jobId: job.id,
    taskId: job.taskId,
    scheduleId: job.scheduleId,
    scheduledFireTime: job.scheduledFireTime,
    outcome,
    startedAt,
    finishedAt: now,
    attempts: startedAt === null ? number - 1 : number,
    returnValue,
    error,
    expiresAt: now + job.resultExpirationMs,
  };
  return { release: { jobId: job.id, fence: job.fence, kind: "finish", result }, error };
}

function leaseOf({ id: jobId, fence }: JobRecord): { jobId: string; fence: number } {
  return { jobId, fence };
}
