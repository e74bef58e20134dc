import { DeserializationError, JobLookupError, PayloadError } from "../../core/errors.ts";
import { present } from "../../core/without-undefined.ts";
import { givenPriority, type JobRecord, NEVER_RUN, type NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import { isDone } from "../../records/policies.ts";
import { keyedPayload } from "../tasks/concurrency-key.ts";
import type { VerbContext } from "./verb-context.ts";

/**
 * The job that repeats a job that has ended. Its id follows from that of the job (`id~1`, and then `id~2`), so that
 * each job is repeated once, however often and by how many programs that is asked for. Its idempotency key is that of
 * the job, or else the id of the first job, because handlers make their effects once for each key.
 * @param copiesSteps whether the job goes on where the steps of the other one ended
 */
export function retriedJob(
  result: JobResultRecord,
  job: KeptJob,
  now: number,
  copiesSteps: boolean = true,
): NewJobRecord {
  const { jobId, taskId, scheduleId, scheduledFireTime, finishedAt, expiresAt } = result;
  const { payload, metadata, executor, fireTime, maxRecoveries } = job;
  const priority = givenPriority(job);
  return {
    ...{ id: retryIdOf(jobId), taskId, scheduleId, executor, payload, priority, runAt: now, createdAt: now },
    ...{ fireTime, scheduledFireTime, startDeadline: null },
    ...{ missedCount: null, firstMissedTime: null, lastMissedTime: null },
    ...{ resultExpirationMs: job.resultExpirationMs ?? expiresAt - finishedAt, maxRecoveries, metadata },
    ...NEVER_RUN,
    idempotencyKey: job.idempotencyKey ?? jobId,
    retryOf: jobId,
    copiesSteps,
    ...present(job, "labels", "failureExpirationMs", "concurrencyKey", "retry"),
    // It reads their results, whatever became of them.
    ...(job.after === undefined ? {} : { after: job.after, onParentFailure: "run" }),
  };
}

/** A job that has ended, from its result, which keeps no `runAt`: the fire time stands for it, or when it was added. */
export function endedJob(result: JobResultRecord): JobRecord {
  const { jobId, taskId, scheduleId, scheduledFireTime, startedAt, finishedAt, expiresAt, outcome, attempts } = result;
  const { attemptHistory = [], error } = result;
  const kept: Partial<KeptJob> = result.job ?? {};
  const { payload = null, metadata = {}, executor = "inline", fireTime = null } = kept;
  const { createdAt = startedAt ?? finishedAt, idempotencyKey = null, maxRecoveries = 0 } = kept;
  const priority = result.job === undefined ? 0 : givenPriority(result.job);
  const last = startedAt === null || error === null ? [] : [{ number: attempts, startedAt, finishedAt, error }];
  return {
    ...{ id: jobId, taskId, scheduleId, executor, payload, metadata, priority, createdAt, fireTime, scheduledFireTime },
    ...{ runAt: scheduledFireTime ?? createdAt, startDeadline: null },
    ...{ missedCount: null, firstMissedTime: null, lastMissedTime: null },
    ...{ resultExpirationMs: kept.resultExpirationMs ?? expiresAt - finishedAt, maxRecoveries, idempotencyKey },
    ...NEVER_RUN,
    failedAttempts: isDone(outcome) ? attempts - 1 : attempts,
    cancelRequested: outcome === "cancelled",
    attemptHistory: [...attemptHistory, ...last],
    ...present(result, "progress", "retryOf"),
    ...present(kept, "labels", "concurrencyKey", "after", "retry"),
  };
}

/** The job with the concurrency key that its task tells from the payload, unless the job has a key. A payload that
 *  cannot be read has none: the job ends as soon as it begins. @throws {OptionsError} when the task's function fails */
export async function withKey({ env, tasks }: VerbContext, job: NewJobRecord): Promise<NewJobRecord> {
  const { taskId, payload } = job;
  if (job.concurrencyKey !== undefined || tasks.keyFunctionOf(taskId) === null) return job;
  const { serializer } = env.store;
  try {
    const value = payload === null ? undefined : serializer.deserialize(payload);
    const { key } = await keyedPayload({ serializer, tasks }, taskId, value, undefined);
    return key === null ? job : { ...job, concurrencyKey: key };
  } catch (error) {
    if (error instanceof DeserializationError || error instanceof PayloadError) return job;
    throw error;
  }
}

/** The id of the job that repeats this job. */
export function retryIdOf(jobId: string): string {
  const [, first = jobId, count = "0"] = /^(.*)~(\d{1,9})$/s.exec(jobId) ?? [];
  return `${first}~${Number(count) + 1}`;
}

/** What a result keeps of its job. @throws {JobLookupError} when that is not enough to add the job once more */
export function repeatableJobOf({ jobId, job }: JobResultRecord): KeptJob {
  if (job !== undefined && job.omitsPayload !== true) return job;
  throw new JobLookupError(`the payload of job "${jobId}" was too large to be kept; add the job anew`, jobId);
}
