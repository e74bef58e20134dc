import { instantOf, instantOrNull, instantText, instantTextOrNull, type Temporal } from "../../core/temporal.ts";
import type { AttemptRecord } from "../../records/attempt.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import { storedError } from "./job-error.ts";

/** One attempt of a job that has ended. */
export interface Attempt {
  /** 1 for the first attempt of the job. Attempts that were lost with their scheduler's process have numbers too, but
   *  are not in any list. */
  readonly number: number;
  /** When the handler was called; null when it was not called. */
  readonly startedAt: Temporal.Instant | null;
  readonly finishedAt: Temporal.Instant;
  /** What the handler threw, or the `WorkerLostError` of an attempt that was lost with its thread or process, by its
   *  name; null for an attempt that did not fail. Long messages and stacks are cut, and of causes the nearest is
   *  kept. */
  readonly error: Error | null;
}

export function attemptOf({ number, startedAt, finishedAt, error }: AttemptFacts): Attempt {
  return {
    number,
    startedAt: instantOrNull(startedAt),
    finishedAt: instantOf(finishedAt),
    error: error === null ? null : storedError(error),
  };
}

/** An attempt as JSON: instants and errors as plain data. */
export function attemptAsJSON({ number, startedAt, finishedAt, error }: AttemptFacts): Record<string, unknown> {
  return {
    number,
    startedAt: instantTextOrNull(startedAt),
    finishedAt: instantText(finishedAt),
    error,
  };
}

/** An attempt as stores keep it, or the last one of a job, which may have succeeded. */
export interface AttemptFacts extends Omit<AttemptRecord, "error"> {
  readonly error: SerializedError | null;
}
