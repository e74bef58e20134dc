import type { OptionsError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import { SORTED_JOBS_MAX } from "./limits.ts";

/** The error for a cursor that no page of this list, filter and order gave. @param call such as `getJobs()` */
export function wrongCursor(call: string): Error {
  const message = "must be the cursor of a page of this list, with the same filter and order; begin again without it";
  return optionError(call, "cursor", message);
}

/** Where a page of schedules in the order of their next fire times ended. */
export interface ScheduleCursor {
  /** Null for a schedule that has no fire time left. Such schedules come last. */
  readonly nextFireTime: number | null;
  readonly id: string;
}

export function scheduleCursor({ nextFireTime, id }: ScheduleCursor): string {
  return `${nextFireTime ?? NEVER} ${id}`;
}

/** @throws {OptionsError} for a text that no page in this order gave */
export function readScheduleCursor(text: string): ScheduleCursor {
  const place = text.indexOf(" ");
  const time = text.slice(0, Math.max(place, 0));
  const nextFireTime = time === NEVER ? null : Number(time);
  if (time !== "" && (nextFireTime === null || Number.isSafeInteger(nextFireTime))) {
    return { nextFireTime, id: text.slice(place + 1) };
  }
  throw wrongCursor("getSchedules()");
}

const NEVER = "never";

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
  throw wrongCursor("getJobs()");
}

/** The error of a list whose jobs no index has in the order of `runAt`. */
export function tooManyToSort(): OptionsError {
  const message =
    `cannot be "runAt" while more than ${SORTED_JOBS_MAX} of the jobs are due, run or wait for others; ` +
    'give a taskId, a scheduleId or state "running", or leave out sort';
  return optionError("getJobs()", "sort", message);
}

/** Where a page of results ended: the end of its last job, and the place of the result among those of one instant. */
export interface ResultCursor {
  readonly finishedAt: number;
  readonly place: number;
}

export function resultCursor({ finishedAt, place }: ResultCursor): string {
  return `${finishedAt} ${place}`;
}

/** @throws {OptionsError} for a text that no page of results gave */
export function readResultCursor(text: string): ResultCursor {
  const [finishedAt = Number.NaN, place = Number.NaN, ...rest] = text.split(" ").map(Number);
  if (Number.isSafeInteger(finishedAt) && Number.isSafeInteger(place) && rest.length === 0) {
    return { finishedAt, place };
  }
  throw wrongCursor("getJobResults()");
}

/** The cursor of a page of occurrences: the fire time at which the page ends. */
export function occurrenceCursor(fireTime: number): string {
  return `at:${fireTime.toString(36)}`;
}

/** The fire time of a cursor. @throws {OptionsError} for a text that no page of occurrences gave */
export function readOccurrenceCursor(text: string): number {
  const [, digits] = /^at:(-?[0-9a-z]{1,12})$/.exec(text) ?? [];
  const fireTime = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
  if (Number.isSafeInteger(fireTime)) return fireTime;
  throw wrongCursor("getOccurrences()");
}

/** Whether one of the texts has `search` somewhere. Case does not matter for the letters A to Z, and matters for all
 *  others, as in SQLite. */
export function isFound(search: string, texts: readonly (string | null | undefined)[]): boolean {
  const lower = lowerAscii(search);
  return texts.some((text) => text !== null && text !== undefined && lowerAscii(text).includes(lower));
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
