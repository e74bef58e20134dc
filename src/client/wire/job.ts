import * as v from "valibot";
import { once } from "../../core/once.ts";
import type { AttemptRecord } from "../../records/attempt.ts";
import type { AttemptFacts } from "../../scheduler/views/attempt.ts";
import type { JobFacts } from "../../scheduler/views/job.ts";
import { error, flag, instant, metadata, number, oneOf, orNull, text, unlessNull, value } from "./values.ts";

/** A job as a {@link JobFacts record}, and whether it had ended when it was returned in the place of a new one. */
export interface ReadJob {
  readonly record: JobFacts;
  readonly hasEnded: boolean;
}

/** What an attempt is on the wire; the last one of a job may have no error. */
export const attemptSchema = (): v.GenericSchema<unknown, AttemptFacts> =>
  v.object({
    number: number(),
    startedAt: orNull(instant()),
    finishedAt: instant(),
    error: orNull(error()),
  });

/** What `Job.toJSON()` made, as what it was made of. */
export const jobSchema: () => v.GenericSchema<unknown, ReadJob> = once(() =>
  v.pipe(
    v.object({
      id: text(),
      taskId: text(),
      scheduleId: orNull(text()),
      executor: text(),
      payload: value(),
      priority: number(),
      runAt: instant(),
      createdAt: instant(),
      scheduledFireTime: orNull(instant()),
      fireTime: orNull(instant()),
      startDeadline: orNull(instant()),
      missedCount: orNull(number()),
      firstMissedTime: orNull(instant()),
      lastMissedTime: orNull(instant()),
      metadata: metadata(),
      idempotencyKey: orNull(text()),
      concurrencyKey: orNull(text()),
      after: v.array(text()),
      onParentFailure: orNull(oneOf(["cancel", "run"])),
      heldBy: orNull(oneOf(["limit", "parents"])),
      state: oneOf(["queued", "held", "running", "ended"]),
      failedAttempts: number(),
      recoveries: number(),
      acquiredBy: orNull(text()),
      acquiredUntil: orNull(instant()),
      cancelRequested: flag(),
      retryOf: orNull(text()),
      attemptHistory: v.array(attemptSchema()),
      progress: orNull(number()),
      progressNote: orNull(text()),
    }),
    v.transform(({ state, ...job }) => ({ record: recordOf(job), hasEnded: state === "ended" })),
  ),
);

/** The optional fields of a record are null on the wire. */
function recordOf({
  payload,
  concurrencyKey,
  after,
  onParentFailure,
  heldBy,
  retryOf,
  attemptHistory,
  progress,
  progressNote,
  ...same
}: WireJob): JobFacts {
  return {
    ...same,
    payload: payload ?? null,
    ...unlessNull("concurrencyKey", concurrencyKey),
    ...(after.length === 0 ? {} : { after }),
    ...unlessNull("onParentFailure", onParentFailure),
    ...unlessNull("heldBy", heldBy),
    ...unlessNull("retryOf", retryOf),
    // Every attempt of an unfinished job has failed.
    attemptHistory: attemptHistory as AttemptRecord[],
    ...unlessNull("progress", progress === null ? null : { fraction: progress, note: progressNote }),
  };
}

/** The fields of a job that are the same in its record, and those that {@link recordOf} converts. */
interface WireJob
  extends Omit<
    JobFacts,
    | "payload"
    | "concurrencyKey"
    | "after"
    | "onParentFailure"
    | "heldBy"
    | "retryOf"
    | "attemptHistory"
    | "progress"
    | "startedFence"
  > {
  readonly payload?: string | null | undefined;
  readonly concurrencyKey: string | null;
  readonly after: readonly string[];
  readonly onParentFailure: "cancel" | "run" | null;
  readonly heldBy: "limit" | "parents" | null;
  readonly retryOf: string | null;
  readonly attemptHistory: readonly unknown[];
  readonly progress: number | null;
  readonly progressNote: string | null;
}
