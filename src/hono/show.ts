import type { SerializedError } from "../records/serialized-error.ts";
import type { Job } from "../scheduler/views/job.ts";
import type { JobResult } from "../scheduler/views/job-result.ts";
import type { Page } from "../scheduler/views/page.ts";
import { type Plain, type PlainPage, plain } from "../scheduler/views/plain.ts";
import type { Scope } from "./route.ts";

// What answers show of jobs and results. Everything that leaves the router with a payload or a stack passes here.

/** A job as a caller of this scope sees it: stacks are for those who may write. */
export function shownJob(job: Job, scope: Scope): Plain<Job> {
  const shown = plain(job);
  return scope === "write" ? shown : { ...shown, attemptHistory: withoutStacks(shown.attemptHistory) };
}

export function shownResult(result: JobResult, scope: Scope): Plain<JobResult> {
  const shown = plain(result);
  if (scope === "write") return shown;
  // In JSON, an error is its record.
  const error = withoutStack(shown.error as SerializedError | null) as typeof shown.error;
  return { ...shown, error, attemptHistory: withoutStacks(shown.attemptHistory) };
}

export function shownPage<T, Shown>(
  { items, cursor }: Page<T>,
  show: (item: T, scope: Scope) => Shown,
  scope: Scope,
): Page<Shown> {
  return { items: items.map((item) => show(item, scope)), cursor };
}

/** A list that has one page only. */
export function wholePage<T>(items: readonly Plain<T>[]): PlainPage<T> {
  return { items: [...items], cursor: null };
}

type PlainAttempts = Plain<Job>["attemptHistory"];

function withoutStacks(attempts: PlainAttempts): PlainAttempts {
  return attempts.map((attempt) => ({
    ...attempt,
    error: withoutStack(attempt.error as SerializedError | null) as typeof attempt.error,
  }));
}

function withoutStack(error: SerializedError | null): SerializedError | null {
  if (error === null) return null;
  const { stack: _stack, cause, ...facts } = error;
  const shownCause = cause === undefined ? null : withoutStack(cause);
  return shownCause === null ? facts : { ...facts, cause: shownCause };
}
