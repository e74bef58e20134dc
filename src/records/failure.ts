import { textHash } from "../core/text-hash.ts";
import type { JobOutcome } from "./policies.ts";

/** A job that failed, as far as a group of failures needs it. Times are epoch milliseconds. */
export interface FailureRecord {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly outcome: JobOutcome;
  readonly finishedAt: number;
  /** Name and message of the error, null for none. A long message is cut. */
  readonly name: string | null;
  readonly message: string | null;
}

/** The outcomes that count as failures. Nobody cancels a job to have it repeated, and a handler that had nothing to do
 *  has not failed. */
export const FAILURES = ["error", "abandoned", "missedStartDeadline", "deserializationFailed"] as const;

/** Longest message that is looked at, in UTF-16 units. */
export const FAILURE_MESSAGE_MAX = 500;

/** The first line of a message, with a # in the place of each number and id, so that failures which differ in these
 *  alone have one pattern. */
export function patternOf(message: string): string {
  const [line = ""] = message.slice(0, FAILURE_MESSAGE_MAX).split(/[\r\n]/, 1);
  return line.replace(ID, "#").replace(NUMBER, "#");
}

/** A word of eight characters or more with a digit in it, such as a UUID. */
const ID = /(?<![\w-])(?=[\w-]{0,63}\d)[\w-]{8,}/g;
const NUMBER = /\d+(?:[.,:]\d+)*/g;

/** Tells which failures have one cause, as far as outcome, name and message of the error say so. */
export function failureKeyOf({ outcome, name, message }: Pick<FailureRecord, "outcome" | "name" | "message">): string {
  return textHash(JSON.stringify([outcome, name, message === null ? null : patternOf(message)]));
}
