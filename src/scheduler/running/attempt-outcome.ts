import {
  HandlerLookupError,
  JobCancelledError,
  LeaseLostError,
  NonRetryableError,
  SchedulerStateError,
  SkipRun,
} from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import { retryAfterOf } from "../../core/retry-after.ts";
import { type AttemptRecord, type JobProgress, withAttempt } from "../../records/attempt.ts";
import type { JobRecord } from "../../records/job.ts";
import { type JobResultRecord, withKeptFacts } from "../../records/job-result.ts";
import type { JobSleep } from "../../records/job-step.ts";
import { backoffMs, type JobOutcome, keptMsOf, type RetryPolicy } from "../../records/policies.ts";
import { type SerializedError, serializedError } from "../../records/serialized-error.ts";
import type { JobRelease } from "../../stores/data-store.ts";
import type { AbortReason } from "./abort-state.ts";
import { UNREADABLE_PASSES_MAX, UNREADABLE_PAUSE_MS_MAX, UNREADABLE_PAUSE_MS_MIN } from "./limits.ts";

/** How the work of an attempt ended. */
export type AttemptEnding =
  /** The work was not begun, because the job's start deadline had passed. */
  | { readonly kind: "late" }
  /** The work was not begun, because the job's payload cannot be read. */
  | { readonly kind: "unreadable"; readonly error: unknown }
  /** The handler returned; `returnValue` is the value to be kept, serialized, or null when none is to be kept. */
  | { readonly kind: "returned"; readonly returnValue: string | null }
  /** The handler threw. `isFinal`: another attempt cannot help. */
  | { readonly kind: "threw"; readonly error: unknown; readonly isFinal: boolean }
  /** The thread or the process that did the work has ended. `hasStarted`: the work may have begun. */
  | { readonly kind: "lost"; readonly error: unknown; readonly hasStarted: boolean }
  /** The work was ended early. */
  | { readonly kind: "aborted"; readonly reason: AbortReason }
  | AttemptSleep;

/** The handler sleeps in a step until an instant, in epoch milliseconds. */
export interface AttemptSleep {
  readonly kind: "sleeps";
  readonly step: string;
  readonly until: number;
}

/** What an outcome depends on besides the ending; times in epoch milliseconds. */
export interface OutcomeInput {
  readonly job: JobRecord;
  /** 1 for the first attempt. */
  readonly number: number;
  /** When the handler was called; null when it was not called. */
  readonly startedAt: number | null;
  readonly now: number;
  /** What the handler last said in this attempt; null for nothing. */
  readonly progress: JobProgress | null;
  readonly retry: RetryPolicy;
  /** How many attempts of the job may end with a `RetryAfter`. */
  readonly maxSnoozes: number;
  /** Whether this attempt recorded a step, or how far one is. */
  readonly hasRecorded: boolean;
  /** Whether other processes may run the job too. */
  readonly isShared: boolean;
  readonly random: RandomSource;
}

/** What the store is to be told of an attempt (`release`), and the error that listeners hear of (`error`). With a
 *  `release` of null the store is told nothing, because the lease is no longer ours. */
export interface AttemptOutcome {
  readonly release: JobRelease | null;
  readonly error: SerializedError | null;
}

/** Decides what the store is told, from how the work of an attempt ended. Pure. */
export function attemptOutcome(facts: OutcomeInput, ending: AttemptEnding): AttemptOutcome {
  switch (ending.kind) {
    case "late":
      return finished(facts, "missedStartDeadline", null, null);
    case "unreadable":
      return unreadable(facts, ending.error);
    case "returned":
      return finished(facts, "success", ending.returnValue, null);
    case "threw": {
      const reason = ending.isFinal ? null : thrownSkip(ending.error);
      return reason === null ? failed(facts, ending.error, ending.isFinal) : skipped(facts, reason);
    }
    case "lost":
      return ending.hasStarted ? lost(facts, ending.error) : givenUp(facts, false);
    case "aborted":
      return aborted(facts, ending.reason);
    case "sleeps":
      return asleep(facts, ending.until, { step: ending.step, snoozes: facts.job.sleep?.snoozes ?? 0 });
    default:
      return ending satisfies never;
  }
}

function aborted(facts: OutcomeInput, reason: AbortReason): AttemptOutcome {
  if (reason instanceof LeaseLostError) return { release: null, error: null };
  if (reason instanceof JobCancelledError) return finished(facts, "cancelled", null, null);
  // An attempt that recorded something has not run in vain, and the next one goes on from there.
  const { startedAt, hasRecorded } = facts;
  if (reason instanceof SchedulerStateError) return givenUp(facts, startedAt !== null && !hasRecorded);
  return failed(facts, reason, false);
}

/** The job goes back without a failure. */
function asleep({ job }: OutcomeInput, runAt: number, sleep: JobSleep): AttemptOutcome {
  const { failedAttempts } = job;
  return { release: { ...leaseOf(job), kind: "retry", runAt, failedAttempts, sleep }, error: null };
}

function givenUp({ job }: OutcomeInput, hasStarted: boolean): AttemptOutcome {
  return { release: { ...leaseOf(job), kind: "giveUp", hasStarted }, error: null };
}

function lost({ job, number, startedAt, now }: OutcomeInput, thrown: unknown): AttemptOutcome {
  const error = serializedError(thrown);
  const attemptHistory = withAttempt(job.attemptHistory, { number, startedAt, finishedAt: now, error });
  return { release: { ...leaseOf(job), kind: "giveUp", hasStarted: true, attemptHistory }, error };
}

/** A job whose payload cannot be read here goes back to the queue, for a scheduler that can read it: while a deploy is
 *  under way, another version of the program may. */
function unreadable(facts: OutcomeInput, thrown: unknown): AttemptOutcome {
  const { job, now, isShared } = facts;
  const error = serializedError(thrown);
  // Acquisitions before this one that ended neither in a failure nor with their process.
  const passes = Math.max(0, job.fence - 1 - Math.max(job.startedFence, job.failedAttempts + job.recoveries));
  if (!isShared || passes >= UNREADABLE_PASSES_MAX) return finished(facts, "deserializationFailed", null, error);
  const pauseMs = Math.min(UNREADABLE_PAUSE_MS_MIN * 2 ** passes, UNREADABLE_PAUSE_MS_MAX);
  // Others need time before the deadline, too.
  const leftMs = job.startDeadline === null ? Number.POSITIVE_INFINITY : Math.max(0, job.startDeadline - now);
  const runAt = now + Math.floor(Math.min(pauseMs, leftMs / 2));
  return {
    release: { ...leaseOf(job), kind: "retry", runAt, failedAttempts: job.failedAttempts, ...awake(job) },
    error,
  };
}

/** Why a handler skipped the run; null for anything else that it threw. What comes from a thread, or from another copy
 *  of this library, is told by its code. */
export function thrownSkip(thrown: unknown): string | null {
  try {
    // A thrown Proxy may throw again at any question.
    const isSkip = typeof thrown === "object" && thrown !== null && "code" in thrown && thrown.code === "skipRun";
    return isSkip && "message" in thrown ? serializedError(thrown).message : null;
  } catch {
    return null;
  }
}

function skipped(facts: OutcomeInput, reason: string): AttemptOutcome {
  const { release } = finished(facts, "skipped", null, {
    name: SkipRun.errorName,
    message: reason,
    code: "skipRun",
  });
  return { release, error: null };
}

function failed(facts: OutcomeInput, thrown: unknown, isFinal: boolean): AttemptOutcome {
  const { job, number, startedAt, retry, random, now } = facts;
  const snoozedUntil = isFinal ? null : retryAfterOf(thrown, now);
  const snoozes = (job.sleep?.snoozes ?? 0) + 1;
  if (snoozedUntil !== null && snoozes <= facts.maxSnoozes) return asleep(facts, snoozedUntil, { step: null, snoozes });
  const failedAttempts = job.failedAttempts + 1;
  const said = serializedError(thrown);
  const error = snoozedUntil === null ? said : { ...said, message: `${said.message}; ${tooOften(facts.maxSnoozes)}` };
  if (isFinal || failedAttempts >= retry.maxAttempts || !isRetryable(thrown)) {
    return finished(facts, "error", null, error);
  }
  const runAt = now + backoffMs(retry.backoff, failedAttempts, random);
  const attempt: AttemptRecord = { number, startedAt, finishedAt: now, error };
  const attemptHistory = withAttempt(job.attemptHistory, attempt);
  return { release: { ...leaseOf(job), kind: "retry", runAt, failedAttempts, attemptHistory, ...awake(job) }, error };
}

function tooOften(maxSnoozes: number): string {
  return `it counts as a failure, because the job was put off ${maxSnoozes} times (see maxSnoozes)`;
}

/** A job that goes back for another reason than a sleep no longer sleeps in the step of its last one. */
function awake({ sleep }: JobRecord): { readonly sleep?: JobSleep } {
  return sleep === undefined || sleep.step === null ? {} : { sleep: { ...sleep, step: null } };
}

function finished(
  { job, number, startedAt, now, progress }: OutcomeInput,
  outcome: JobOutcome,
  returnValue: string | null,
  error: SerializedError | null,
): AttemptOutcome {
  const keptMs = keptMsOf(job, outcome);
  const end: JobResultRecord = {
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
    expiresAt: now + keptMs,
  };
  // A result that is not kept need not know what its job was, unless the store's ledger keeps the run of a fire time.
  const needsNone = keptMs === 0 && job.fireTime === null;
  const result = needsNone ? end : withKeptFacts(end, job, progress);
  return { release: { jobId: job.id, fence: job.fence, kind: "finish", result, ...countsFor(job) }, error };
}

function leaseOf({ id: jobId, fence }: JobRecord): { jobId: string; fence: number } {
  return { jobId, fence };
}

/** Whether another attempt may help. Errors are recognized by their code too, because an error that crossed a thread,
 *  or that comes from another copy of this library, is no instance of the class here. */
function isRetryable(error: unknown): boolean {
  try {
    // A thrown Proxy may throw again at any question.
    if (error instanceof NonRetryableError || error instanceof HandlerLookupError) return false;
    return !(typeof error === "object" && error !== null && "code" in error && error.code === "nonRetryable");
  } catch {
    return true;
  }
}

/** The schedule whose failures the end of a job counts for. */
function countsFor({ pauseAfterFailures, scheduleId, fireTime, retryOf }: JobRecord): { readonly countsFor?: string } {
  const isCounted = pauseAfterFailures !== undefined && fireTime !== null && retryOf === undefined;
  return isCounted && scheduleId !== null ? { countsFor: scheduleId } : {};
}
