import type { Mutable } from "../core/mutable.ts";
import { present } from "../core/without-undefined.ts";
import type { AttemptRecord, JobProgress } from "./attempt.ts";
import type { JobRecord } from "./job.ts";
import { SKIP_REASON_BYTES_MAX } from "./limits.ts";
import { isFailure, type JobOutcome, type Labels, type Metadata, type RetryPolicy } from "./policies.ts";
import type { SerializedError } from "./serialized-error.ts";

/** How a job ended, in the form that stores keep. Times are epoch milliseconds. */
export interface JobResultRecord {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly scheduledFireTime: number | null;
  readonly outcome: JobOutcome;
  /** When the handler of the last attempt was called; null when that attempt did not call it, or when the store ended
   *  the job by itself (`cancelled`, `abandoned`). */
  readonly startedAt: number | null;
  readonly finishedAt: number;
  /** How many attempts the job had, the last one included if its handler was called. */
  readonly attempts: number;
  /** The serialized return value of a success; null when there is none to keep. */
  readonly returnValue: string | null;
  /** What ended a job that failed; of a `skipped` one, the `SkipRun` without its stack, whose message is the reason. */
  readonly error: SerializedError | null;
  /** The instant from which on the result counts as removed. */
  readonly expiresAt: number;
  /** What the job was, so that it can be added once more; absent in results of earlier versions. */
  readonly job?: KeptJob;
  /** The attempts that failed before the last one, the oldest first; absent for none. */
  readonly attemptHistory?: readonly AttemptRecord[];
  /** What the handler last said about its progress; absent for nothing. */
  readonly progress?: JobProgress;
  /** The id of the job that this job repeated; absent for none. */
  readonly retryOf?: string;
}

/** What a result keeps of its job. */
export interface KeptJob {
  readonly payload: string | null;
  /** Whether the payload was left out, because the store would not take it with the result, or because the job's row
   *  was damaged. */
  readonly omitsPayload?: true;
  readonly metadata: Metadata;
  /** Absent for none; never empty. */
  readonly labels?: Labels;
  readonly executor: string;
  readonly priority: number;
  readonly fireTime: number | null;
  readonly idempotencyKey: string | null;
  readonly maxRecoveries: number;
  readonly createdAt: number;
  /** Absent for none. */
  readonly concurrencyKey?: string;
  /** The jobs that the job came after; absent for none. */
  readonly after?: readonly string[];
  /** Absent where the task says it. */
  readonly retry?: RetryPolicy;
  /** How long a job that does not fail keeps its result; absent where the result itself tells. */
  readonly resultExpirationMs?: number;
  /** As that of the job. */
  readonly failureExpirationMs?: number;
}

/** Why the handler skipped the run, as ledgers keep it; null for a job that ended otherwise. */
export function skipReasonOf({ outcome, error }: Pick<JobResultRecord, "outcome" | "error">): string | null {
  if (outcome !== "skipped") return null;
  const message = error?.message ?? "";
  let [length, bytes] = [0, 0];
  for (const char of message) {
    // Stores may write slashes and percent signs as three characters.
    const code = char === "/" || char === "%" ? 0x800 : (char.codePointAt(0) ?? 0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > SKIP_REASON_BYTES_MAX) break;
    length += char.length;
  }
  return message.slice(0, length);
}

/** What the result of a job keeps of the job. */
export function keptJobOf(job: JobRecord): KeptJob {
  const { payload, metadata, executor, priority, fireTime, idempotencyKey, maxRecoveries, createdAt } = job;
  const kept = { payload, metadata, executor, priority, fireTime, idempotencyKey, maxRecoveries, createdAt };
  const { labels, concurrencyKey, after, retry, failureExpirationMs } = job;
  const isPlain = concurrencyKey === undefined && after === undefined && retry === undefined;
  // Nearly no job has any of them, and every job that ends comes by here.
  if (isPlain && labels === undefined && failureExpirationMs === undefined) return kept;
  return { ...kept, ...present(job, "labels", "failureExpirationMs", "concurrencyKey", "after", "retry") };
}

/**
 * The result of a job, with what it keeps of the job. The result itself is changed, because every job that ends comes
 * by here, and a copy would cost more than all the rest.
 * @param progress what the handler said in the last attempt; null leaves that of the job
 */
export function withKeptFacts(
  result: Mutable<JobResultRecord>,
  job: JobRecord,
  progress: JobProgress | null,
): JobResultRecord {
  const kept = keptJobOf(job);
  result.job = isFailure(result.outcome) ? { ...kept, resultExpirationMs: job.resultExpirationMs } : kept;
  const last = progress ?? job.progress;
  if (last !== undefined) result.progress = last;
  if (job.attemptHistory !== undefined) result.attemptHistory = job.attemptHistory;
  if (job.retryOf !== undefined) result.retryOf = job.retryOf;
  return result;
}
