import { cut } from "./attempt.ts";
import type { JobResultRecord } from "./job-result.ts";
import { FAILURE_TEXT_LENGTH_MAX } from "./limits.ts";
import type { JobOutcome } from "./policies.ts";

/** How a job of a schedule failed, as the schedule keeps it: bounded, because it stays as long as the schedule. Times
 *  are epoch milliseconds. */
export interface ScheduleFailure {
  readonly jobId: string;
  /** Neither `success`, `skipped` nor `cancelled`. */
  readonly outcome: JobOutcome;
  /** With jitter; null for a job that no fire time made. */
  readonly scheduledFireTime: number | null;
  readonly finishedAt: number;
  readonly attempts: number;
  /** Null where no handler threw it: the job was lost, or was not started in time. */
  readonly error: { readonly name: string; readonly message: string; readonly code: string | null } | null;
}

/** What a schedule keeps of the result of a job that failed: of the error neither stack nor causes, and at most 1,000
 *  characters of each text. */
export function failureOf(result: JobResultRecord): ScheduleFailure {
  const { jobId, outcome, scheduledFireTime, finishedAt, attempts, error } = result;
  const short = (text: string): string => cut(text, FAILURE_TEXT_LENGTH_MAX);
  const kept =
    error === null
      ? null
      : {
          name: short(error.name),
          message: short(error.message),
          code: error.code === undefined ? null : short(error.code),
        };
  return { jobId, outcome, scheduledFireTime, finishedAt, attempts, error: kept };
}
