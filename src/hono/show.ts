import { type SerializedError, shownError } from "../records/serialized-error.ts";
import type { Job } from "../scheduler/views/job.ts";
import type { JobResult } from "../scheduler/views/job-result.ts";
import type { Page } from "../scheduler/views/page.ts";
import { type Plain, type PlainPage, plain } from "../scheduler/views/plain.ts";
import type { Schedule } from "../scheduler/views/schedule.ts";
import type { Scope } from "./auth/auth-options.ts";
import type { Redact, ShownValue } from "./redaction.ts";

/** How records look to one caller. Everything that leaves the router with a payload or a stack passes here. */
export interface Show {
  schedule(schedule: Schedule): Plain<Schedule>;
  job(job: Job): Plain<Job>;
  result(result: JobResult): Plain<JobResult>;
}

/** Stacks and properties of errors are for those who may write. @param redact hides what nobody is to see; null shows
 *  values as they are */
export function showFor(scope: Scope, redact: Redact | null): Show {
  const hidden = <T>(value: T, taskId: string, field: ShownValue["field"]): T =>
    redact === null ? value : (redact(value, { taskId, field, scope }) as T);
  const withoutPayload = <T extends { readonly taskId: string; readonly payload: unknown }>(shown: T): T =>
    redact === null ? shown : { ...shown, payload: hidden(shown.payload, shown.taskId, "payload") };
  return {
    schedule: (schedule) => withoutPayload(plain(schedule)),
    job(job) {
      const shown = withoutPayload(plain(job));
      return scope === "write" ? shown : { ...shown, attemptHistory: withoutStacks(shown.attemptHistory) };
    },
    result(result) {
      const whole = withoutPayload(plain(result));
      const shown = { ...whole, returnValue: hidden(whole.returnValue, whole.taskId, "returnValue") };
      if (scope === "write") return shown;
      // In JSON, an error is its record.
      const error = shown.error === null ? null : (shownError(shown.error as SerializedError) as typeof shown.error);
      return { ...shown, error, attemptHistory: withoutStacks(shown.attemptHistory) };
    },
  };
}

export function shownPage<T, Shown>({ items, cursor }: Page<T>, show: (item: T) => Shown): Page<Shown> {
  return { items: items.map(show), cursor };
}

/** A list that has one page only. */
export function wholePage<T>(items: readonly Plain<T>[]): PlainPage<T> {
  return { items: [...items], cursor: null };
}

type PlainAttempts = Plain<Job>["attemptHistory"];

function withoutStacks(attempts: PlainAttempts): PlainAttempts {
  return attempts.map((attempt) => ({
    ...attempt,
    error: attempt.error === null ? null : (shownError(attempt.error as SerializedError) as typeof attempt.error),
  }));
}
