import type { Mutable } from "../../core/mutable.ts";
import { FAILURE_MESSAGE_MAX, FAILURES, type FailureRecord } from "../../records/failure.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { hasLabels } from "../../records/policies.ts";
import type {
  FailureList,
  FailureSelection,
  JobResultFilter,
  JobResultSelection,
  RecordPage,
  ResultRemoval,
} from "../data-store.ts";
import { isFound, readResultCursor, resultCursor } from "../shared/cursors-and-search.ts";
import { frozenCopy } from "./frozen-copies.ts";
import { pageOf } from "./list-pages.ts";
import type { JobLogs } from "./logs-of-jobs.ts";
import { SortedList } from "./sorted-list.ts";
import type { StepsOfJobs } from "./steps-of-jobs.ts";

interface ResultEntry {
  record: JobResultRecord;
  /** Counts up with every result. */
  readonly seq: number;
}

/** The results of a memory store: by job id, in the order of the ends, and in that of their expiration. */
export class Results {
  readonly #byJobId = new Map<string, ResultEntry>();
  readonly #byEnd = new SortedList<ResultEntry>(inOrderOfEnds);
  readonly #byExpiry = new SortedList<ResultEntry>((a, b) => a.record.expiresAt - b.record.expiresAt || a.seq - b.seq);
  readonly #steps: StepsOfJobs;
  readonly #logs: JobLogs;
  #seq = 0;

  /** @param steps those of a job go with its result @param logs so do these */
  constructor(steps: StepsOfJobs, logs: JobLogs) {
    this.#steps = steps;
    this.#logs = logs;
  }

  /** Whether the store holds a result of the job, expired or not. */
  has(jobId: string): boolean {
    return this.#byJobId.has(jobId);
  }

  keep(result: JobResultRecord): void {
    const entry = { record: ownCopy(result), seq: this.#seq++ };
    this.#byJobId.set(result.jobId, entry);
    this.#byEnd.add(entry);
    this.#byExpiry.add(entry);
  }

  get(jobId: string, now: number): JobResultRecord | null {
    const entry = this.#byJobId.get(jobId);
    return entry === undefined || entry.record.expiresAt <= now ? null : recordOf(entry);
  }

  page(filter: JobResultFilter, now: number): RecordPage<JobResultRecord> {
    const { limit, order, from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter;
    const sign = order === "oldest" ? 1 : -1;
    const end = filter.cursor === null ? null : readResultCursor(filter.cursor);
    const isNext = ({ record, seq }: ResultEntry): boolean =>
      end === null || sign * (record.finishedAt - end.finishedAt || seq - end.place) > 0;
    const isLate = ({ record }: ResultEntry): boolean => record.finishedAt >= from;
    const isEarly = ({ record }: ResultEntry): boolean => record.finishedAt < until;
    const entries =
      sign > 0
        ? this.#byEnd.from((entry) => isLate(entry) && isNext(entry))
        : this.#byEnd.backFrom((entry) => isEarly(entry) && isNext(entry));
    return pageOf(takenWhile(entries, sign > 0 ? isEarly : isLate), limit, {
      matches: ({ record }) =>
        record.expiresAt > now && matches(record, filter) && isSought(record, filter) && isMeant(record, filter),
      recordOf,
      cursorOf: ({ record, seq: place }) => resultCursor({ finishedAt: record.finishedAt, place }),
    });
  }

  failures(selection: FailureSelection, now: number): FailureList {
    const { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, limit } = selection;
    const items: FailureRecord[] = [];
    let seen = 0;
    for (const { record } of this.#byEnd.backFrom((entry) => entry.record.finishedAt < until)) {
      if (record.finishedAt < from || seen === limit) break;
      if (!FAILURES.some((outcome) => outcome === record.outcome)) continue;
      seen++;
      if (record.expiresAt > now && matches(record, selection)) items.push(failureOf(record));
    }
    return { items, seen };
  }

  remove({ jobIds, ...selection }: ResultRemoval, limit: number): number {
    if (jobIds !== undefined) {
      const ofJobs = jobIds.flatMap((id) => this.#byJobId.get(id) ?? []);
      for (const entry of ofJobs) this.#remove(entry);
      return ofJobs.length;
    }
    const { from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = selection;
    const removed: ResultEntry[] = [];
    for (const entry of this.#byEnd.from(({ record }) => record.finishedAt >= from)) {
      if (removed.length >= limit || entry.record.finishedAt >= until) break;
      if (matches(entry.record, selection)) removed.push(entry);
    }
    for (const entry of removed) this.#remove(entry);
    return removed.length;
  }

  /** Gives the results of a schedule to another id. */
  renameSchedule(from: string, to: string): void {
    for (const entry of this.#byJobId.values()) {
      if (entry.record.scheduleId === from) entry.record = { ...entry.record, scheduleId: to };
    }
  }

  hasExpired(now: number): boolean {
    return (this.#byExpiry.first?.record.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  }

  cleanup(now: number, limit: number): number {
    let removed = 0;
    for (let first = this.#byExpiry.first; first !== undefined && removed < limit; first = this.#byExpiry.first) {
      if (first.record.expiresAt > now) break;
      this.#remove(first);
      removed++;
    }
    return removed;
  }

  #remove(entry: ResultEntry): void {
    this.#byExpiry.delete(entry);
    this.#byEnd.delete(entry);
    this.#byJobId.delete(entry.record.jobId);
    this.#steps.remove(entry.record.jobId);
    this.#logs.remove(entry.record.jobId);
  }
}

/** A copy that nobody can change through the record that was given. */
function ownCopy(result: JobResultRecord): JobResultRecord {
  const { error, job, attemptHistory, progress } = result;
  const copy: Mutable<JobResultRecord> = { ...result };
  if (error !== null) copy.error = frozenCopy(error);
  if (job !== undefined) copy.job = { ...job, metadata: frozenCopy(job.metadata) };
  if (copy.job?.labels !== undefined) copy.job = { ...copy.job, labels: frozenCopy(copy.job.labels) };
  if (job?.after !== undefined) copy.job = frozenCopy(job);
  if (attemptHistory !== undefined) copy.attemptHistory = frozenCopy(attemptHistory);
  if (progress !== undefined) copy.progress = frozenCopy(progress);
  return copy;
}

/** A copy for a reader. */
function recordOf({ record }: ResultEntry): JobResultRecord {
  return record.job === undefined ? { ...record } : { ...record, job: { ...record.job } };
}

function* takenWhile<T>(items: Iterable<T>, isWanted: (item: T) => boolean): Generator<T> {
  for (const item of items) {
    if (!isWanted(item)) return;
    yield item;
  }
}

function matches(record: JobResultRecord, { taskId, scheduleId, outcome, labels }: JobResultSelection): boolean {
  return (
    (taskId ?? record.taskId) === record.taskId &&
    (scheduleId ?? record.scheduleId) === record.scheduleId &&
    (outcome ?? record.outcome) === record.outcome &&
    hasLabels(record.job?.labels, labels)
  );
}

function failureOf({ jobId, taskId, scheduleId, outcome, finishedAt, error }: JobResultRecord): FailureRecord {
  const message = error === null ? null : error.message.slice(0, FAILURE_MESSAGE_MAX);
  return { jobId, taskId, scheduleId, outcome, finishedAt, name: error?.name ?? null, message };
}

function isSought({ jobId, taskId, scheduleId, error, job }: JobResultRecord, { search }: JobResultFilter): boolean {
  if (search === undefined) return true;
  const keys = [job?.idempotencyKey, job?.concurrencyKey];
  return isFound(search, [jobId, taskId, scheduleId, error?.name, error?.message, ...keys]);
}

function isMeant(
  { outcome, error, startedAt, finishedAt, attempts, job }: JobResultRecord,
  filter: JobResultFilter,
): boolean {
  const { outcomes, error: text, runTimeMsMin, runTimeMsMax, attemptsMin = 0, key } = filter;
  if (outcomes !== undefined && !outcomes.includes(outcome)) return false;
  if (text !== undefined && !isFound(text, [error?.name, error?.message])) return false;
  if (key !== undefined && key !== job?.idempotencyKey && key !== job?.concurrencyKey) return false;
  if (attempts < attemptsMin) return false;
  if (runTimeMsMin === undefined && runTimeMsMax === undefined) return true;
  const runTimeMs = startedAt === null ? Number.NaN : finishedAt - startedAt;
  return (
    runTimeMs >= (runTimeMsMin ?? Number.NEGATIVE_INFINITY) && runTimeMs <= (runTimeMsMax ?? Number.POSITIVE_INFINITY)
  );
}

function inOrderOfEnds(a: ResultEntry, b: ResultEntry): number {
  return a.record.finishedAt - b.record.finishedAt || a.seq - b.seq;
}
