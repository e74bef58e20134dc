import type { HeapItem } from "../../core/heap.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import { frozenCopy, type Mutable } from "./tables.ts";

/**
 * A result as a `MemoryDataStore` keeps it, with what it keeps of its job. All is in one object, because a store may
 * keep results by the million, and each object of a result costs memory and the time of the garbage collector.
 */
export interface KeptResult extends HeapItem, Readonly<ResultFacts>, Readonly<JobFacts> {
  /** Counts up with every result. */
  readonly seq: number;
  /** Whether the result tells of its job. If not, the facts of the job mean nothing. */
  readonly hasJob: boolean;
  /** What few results have; null for none of it. */
  readonly rare: RareFacts | null;
}

type ResultFacts = Omit<JobResultRecord, OptionalKey<JobResultRecord>>;
type JobFacts = Omit<KeptJob, OptionalKey<KeptJob>>;

/** The optional fields of a result and of its job. Each is named here, so that none is forgotten. */
type RareFacts = {
  readonly [K in Exclude<OptionalKey<JobResultRecord>, "job">]-?: JobResultRecord[K] | undefined;
} & { readonly [K in OptionalKey<KeptJob>]-?: KeptJob[K] | undefined };

type OptionalKey<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];

const NO_JOB: KeptJob = Object.freeze({
  payload: null,
  metadata: Object.freeze({}),
  executor: "",
  priority: 0,
  fireTime: null,
  idempotencyKey: null,
  maxRecoveries: 0,
  createdAt: 0,
});

/** A copy that nobody can change through the record that was given. The fields are written out, because a spread is
 *  slower. */
export function keptResult(result: JobResultRecord, seq: number): KeptResult {
  const { error, job = NO_JOB } = result;
  return {
    heapIndex: -1,
    seq,
    jobId: result.jobId,
    taskId: result.taskId,
    scheduleId: result.scheduleId,
    scheduledFireTime: result.scheduledFireTime,
    outcome: result.outcome,
    startedAt: result.startedAt,
    finishedAt: result.finishedAt,
    attempts: result.attempts,
    returnValue: result.returnValue,
    error: error === null ? null : frozenCopy(error),
    expiresAt: result.expiresAt,
    hasJob: job !== NO_JOB,
    payload: job.payload,
    metadata: frozenCopy(job.metadata),
    executor: job.executor,
    priority: job.priority,
    fireTime: job.fireTime,
    idempotencyKey: job.idempotencyKey,
    maxRecoveries: job.maxRecoveries,
    createdAt: job.createdAt,
    rare: rareFacts(result, job),
  };
}

function rareFacts(
  { attemptHistory, progress, retryOf }: JobResultRecord,
  { omitsPayload, concurrencyKey, after }: KeptJob,
): RareFacts | null {
  const hasRare =
    attemptHistory !== undefined ||
    progress !== undefined ||
    retryOf !== undefined ||
    omitsPayload !== undefined ||
    concurrencyKey !== undefined ||
    after !== undefined;
  if (!hasRare) return null;
  return {
    attemptHistory: frozenCopy(attemptHistory),
    progress: frozenCopy(progress),
    retryOf,
    omitsPayload,
    concurrencyKey,
    after: frozenCopy(after),
  };
}

/** The record of a result, made for a reader. */
export function shownResult(kept: KeptResult): JobResultRecord {
  const { jobId, taskId, scheduleId, scheduledFireTime, outcome, startedAt, finishedAt, attempts } = kept;
  const { returnValue, error, expiresAt, rare } = kept;
  const ending = { outcome, startedAt, finishedAt, attempts, returnValue, error, expiresAt };
  const record: Mutable<JobResultRecord> = { jobId, taskId, scheduleId, scheduledFireTime, ...ending };
  if (kept.hasJob) record.job = shownJob(kept);
  if (rare?.attemptHistory !== undefined) record.attemptHistory = rare.attemptHistory;
  if (rare?.progress !== undefined) record.progress = rare.progress;
  if (rare?.retryOf !== undefined) record.retryOf = rare.retryOf;
  return record;
}

function shownJob(kept: KeptResult): KeptJob {
  const { payload, metadata, executor, priority, fireTime, idempotencyKey, maxRecoveries, createdAt, rare } = kept;
  const facts = { metadata, executor, priority, fireTime, idempotencyKey, maxRecoveries, createdAt };
  const job: Mutable<KeptJob> = { payload, ...facts };
  if (rare?.omitsPayload !== undefined) job.omitsPayload = rare.omitsPayload;
  if (rare?.concurrencyKey !== undefined) job.concurrencyKey = rare.concurrencyKey;
  if (rare?.after !== undefined) job.after = rare.after;
  return job;
}
