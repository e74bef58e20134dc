import * as v from "valibot";
import { once } from "../../core/once.ts";
import type { JobProgress } from "../../records/attempt.ts";
import { FAILURE_GROUP_FIELDS } from "../../records/fields/failure.ts";
import { JOB_FIELDS, JOB_RESULT_FIELDS } from "../../records/fields/job.ts";
import { JOB_STEP_FIELDS } from "../../records/fields/job-step.ts";
import { RUN_FIELDS } from "../../records/fields/run.ts";
import type { JobSleep, JobStepRecord } from "../../records/job-step.ts";
import type { FailureGroupFacts } from "../../scheduler/views/failure-group.ts";
import type { JobFacts } from "../../scheduler/views/job.ts";
import type { JobResultFacts } from "../../scheduler/views/job-result.ts";
import type { RunFacts } from "../../scheduler/views/run.ts";
import { recordSchema } from "./fields.ts";

/** A job as a {@link JobFacts record}, and whether it had ended when it was returned in the place of a new one. */
export interface ReadJob {
  readonly record: JobFacts;
  readonly hasEnded: boolean;
}

/** What `Job.toJSON()` made, as what it was made of. */
export const jobSchema: () => v.GenericSchema<unknown, ReadJob> = once(() =>
  v.pipe(
    recordSchema(JOB_FIELDS),
    v.transform(({ state, progress, progressNote, sleepsIn, snoozes, backfillId: _, ...same }) => ({
      record: { ...same, ...progressOf(progress, progressNote), ...sleepOf(sleepsIn, snoozes) },
      hasEnded: state === "ended",
    })),
  ),
);

/** What `JobStep.toJSON()` made, as the record that it was made of. */
export const jobStepSchema: () => v.GenericSchema<unknown, JobStepRecord> = once(() =>
  v.pipe(
    recordSchema(JOB_STEP_FIELDS),
    v.transform(({ state: _, ...record }) => record),
  ),
);

/** What `JobResult.toJSON()` made, as the record that it was made of. */
export const jobResultSchema: () => v.GenericSchema<unknown, JobResultFacts> = once(() =>
  v.pipe(
    recordSchema(JOB_RESULT_FIELDS),
    v.transform(({ attemptHistory, progress, progressNote, payload, metadata, labels, concurrencyKey, ...same }) => ({
      ...same,
      // The last attempt is on the wire too, if its handler was called. A record has its facts in other fields.
      attemptHistory: same.startedAt === null ? attemptHistory : attemptHistory.slice(0, -1),
      ...progressOf(progress, progressNote),
      job: { payload, metadata, labels, ...(concurrencyKey === undefined ? {} : { concurrencyKey }) },
    })),
  ),
);

/** What `Run.toJSON()` made, as what it was made of. */
export const runSchema: () => v.GenericSchema<unknown, RunFacts> = once(() => recordSchema(RUN_FIELDS));

function sleepOf(step: string | null, snoozes: number): { sleep?: JobSleep } {
  return step === null && snoozes === 0 ? {} : { sleep: { step, snoozes } };
}

/** What `FailureGroup.toJSON()` made, as what it was made of. */
export const failureGroupSchema: () => v.GenericSchema<unknown, FailureGroupFacts> = once(() =>
  recordSchema(FAILURE_GROUP_FIELDS),
);

function progressOf(fraction: number | null, note: string | null): { progress?: JobProgress } {
  return fraction === null ? {} : { progress: { fraction, note } };
}
