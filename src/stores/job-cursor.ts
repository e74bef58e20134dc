import type { OptionsError } from "../core/errors.ts";
import { SORTED_JOBS_MAX } from "../core/limits.ts";
import { optionError } from "../core/option-errors.ts";

/** Where a page of jobs in the order of `runAt` ended: `seq` is the place of the job in the order of addition. */
export interface JobCursor {
  readonly runAt: number;
  readonly seq: number;
}

export function jobCursor({ runAt, seq }: JobCursor): string {
  return `${runAt} ${seq}`;
}

/** @throws {OptionsError} for a text that no page in this order gave */
export function readJobCursor(text: string): JobCursor {
  const [, runAt = "", seq = ""] = /^(-?\d{1,16}) (\d{1,16})$/.exec(text) ?? [];
  const cursor = { runAt: Number(runAt), seq: Number(seq) };
  if (runAt !== "" && Number.isSafeInteger(cursor.runAt) && Number.isSafeInteger(cursor.seq)) return cursor;
  const message = "must be the cursor of a page of jobs in this order; begin again without a cursor";
  throw optionError("getJobs()", "cursor", message);
}

/** The error of a list whose jobs no index has in the order of `runAt`. */
export function tooManyToSort(): OptionsError {
  const message =
    `cannot be "runAt" while more than ${SORTED_JOBS_MAX} of the jobs are due, run or wait for others; ` +
    'give a taskId, a scheduleId or state "running", or leave out sort';
  return optionError("getJobs()", "sort", message);
}
