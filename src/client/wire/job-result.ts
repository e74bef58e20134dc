import * as v from "valibot";
import { once } from "../../core/once.ts";
import type { AttemptRecord } from "../../records/attempt.ts";
import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { JobResultFacts } from "../../scheduler/views/job-result.ts";
import { attemptSchema } from "./job.ts";
import { error, instant, metadata, number, oneOf, orNull, text, unlessNull, value } from "./values.ts";

/** What `JobResult.toJSON()` made, as the record that it was made of. */
export const jobResultSchema: () => v.GenericSchema<unknown, JobResultFacts> = once(() =>
  v.pipe(
    v.object({
      jobId: text(),
      taskId: text(),
      scheduleId: orNull(text()),
      scheduledFireTime: orNull(instant()),
      outcome: oneOf(JOB_OUTCOMES),
      startedAt: orNull(instant()),
      finishedAt: instant(),
      expiresAt: instant(),
      attempts: number(),
      attemptHistory: v.array(attemptSchema()),
      payload: value(),
      metadata: metadata(),
      concurrencyKey: orNull(text()),
      progress: orNull(number()),
      progressNote: orNull(text()),
      retryOf: orNull(text()),
      returnValue: value(),
      error: orNull(error()),
    }),
    v.transform(
      ({
        attemptHistory,
        payload,
        metadata: kept,
        concurrencyKey,
        progress,
        progressNote,
        retryOf,
        returnValue,
        ...same
      }) => ({
        ...same,
        returnValue: returnValue ?? null,
        // The last attempt is on the wire too, if its handler was called. A record has its facts in other fields.
        attemptHistory: (same.startedAt === null ? attemptHistory : attemptHistory.slice(0, -1)) as AttemptRecord[],
        job: { payload: payload ?? null, metadata: kept, ...unlessNull("concurrencyKey", concurrencyKey) },
        ...unlessNull("progress", progress === null ? null : { fraction: progress, note: progressNote }),
        ...unlessNull("retryOf", retryOf),
      }),
    ),
  ),
);
