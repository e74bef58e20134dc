import { Heap, type HeapItem } from "../../core/heap.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import type { JobResultFilter, JobResultSelection, RecordPage } from "../data-store.ts";
import { type ResultCursor, readResultCursor, resultCursor } from "../result-cursor.ts";
import { SortedList } from "./sorted-list.ts";
import { frozenCopy, type Mutable } from "./tables.ts";
import { Tombstones } from "./tombstones.ts";

interface Entry extends HeapItem {
  readonly record: JobResultRecord;
  /** Counts up with every result. */
  readonly seq: number;
}

/** The results of a `MemoryDataStore`: by job id, in the order of the ends, and in a heap by `expiresAt`. */
export class MemoryResults {
  readonly #byJobId = new Map<string, Entry>();
  readonly #tombstones = new Tombstones();
  readonly #byEnd = new SortedList<Entry>(inOrderOfEnds);
  readonly #byExpiry = new Heap<Entry>((a, b) => a.record.expiresAt < b.record.expiresAt);
  #seq = 0;

  /** Whether the store holds a result of the job, expired or not. */
  has(jobId: string): boolean {
    return this.#byJobId.has(jobId);
  }

  /** Whether the job has ended, as far as the store remembers. */
  hasEnded(jobId: string): boolean {
    return this.#byJobId.has(jobId) || this.#tombstones.has(jobId);
  }

  /** Keeps a result. If the result expires at once, keeps only the job's id, for a while. */
  keep(result: JobResultRecord, now: number): void {
    if (result.expiresAt <= now) {
      this.#tombstones.add(result.jobId, now);
      return;
    }
    const entry: Entry = { record: copyOf(result), seq: this.#seq++, heapIndex: -1 };
    this.#byJobId.set(result.jobId, entry);
    this.#byEnd.add(entry);
    this.#byExpiry.push(entry);
  }

  get(jobId: string, now: number): JobResultRecord | null {
    const entry = this.#byJobId.get(jobId);
    return entry === undefined || entry.record.expiresAt <= now ? null : shown(entry.record);
  }

  page(filter: JobResultFilter, now: number): RecordPage<JobResultRecord> {
    const { limit, order, finishedAfter, finishedBefore } = filter;
    const cursor = filter.cursor === null ? null : readResultCursor(filter.cursor);
    const items: JobResultRecord[] = [];
    let last: Entry | null = null;
    let hasMore = false;
    const visit = (entry: Entry): boolean => {
      const { record } = entry;
      const isInTime = order === "oldest" ? isBefore(record, finishedBefore) : isAfter(record, finishedAfter);
      if (!isInTime) return false;
      if (record.expiresAt <= now || !matches(record, filter)) return true;
      hasMore = items.length === limit;
      if (hasMore) return false;
      items.push(shown(record));
      last = entry;
      return true;
    };
    if (order === "oldest") {
      const start = (entry: Entry): boolean =>
        isAfter(entry.record, finishedAfter) && (cursor === null || compareToCursor(entry, cursor) > 0);
      this.#byEnd.visitFrom(start, visit);
    } else {
      const start = (entry: Entry): boolean =>
        isBefore(entry.record, finishedBefore) && (cursor === null || compareToCursor(entry, cursor) < 0);
      this.#byEnd.visitBackFrom(start, visit);
    }
    return { items, cursor: hasMore && last !== null ? cursorAt(last) : null };
  }

  remove(selection: JobResultSelection, limit: number): number {
    const { finishedAfter, finishedBefore } = selection;
    const removed: Entry[] = [];
    this.#byEnd.visitFrom(
      ({ record }) => isAfter(record, finishedAfter),
      (entry) => {
        if (removed.length >= limit || !isBefore(entry.record, finishedBefore)) return false;
        if (matches(entry.record, selection)) removed.push(entry);
        return true;
      },
    );
    for (const entry of removed) this.#remove(entry);
    return removed.length;
  }

  hasExpired(now: number): boolean {
    return (this.#byExpiry.peek()?.record.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  }

  cleanup(now: number, limit: number): number {
    let removed = 0;
    for (; removed < limit; removed++) {
      const entry = this.#byExpiry.peek();
      if (entry === undefined || entry.record.expiresAt > now) break;
      this.#remove(entry);
    }
    return removed;
  }

  #remove(entry: Entry): void {
    this.#byExpiry.remove(entry);
    this.#byEnd.remove(entry);
    this.#byJobId.delete(entry.record.jobId);
  }
}

/** A copy that nobody can change through the record that was given. Copying field by field costs more than the rest of
 *  a small step, so that only what the record has is looked at. */
function copyOf(result: JobResultRecord): JobResultRecord {
  const copy: Mutable<JobResultRecord> = { ...result };
  const { error, job, attemptHistory, progress } = result;
  if (error !== null) copy.error = frozenCopy(error);
  if (job !== undefined) {
    const kept: Mutable<KeptJob> = { ...job };
    kept.metadata = frozenCopy(job.metadata);
    copy.job = kept;
  }
  if (attemptHistory !== undefined) copy.attemptHistory = frozenCopy(attemptHistory);
  if (progress !== undefined) copy.progress = frozenCopy(progress);
  return copy;
}

/** A copy for a reader. */
function shown(record: JobResultRecord): JobResultRecord {
  return record.job === undefined ? { ...record } : { ...record, job: { ...record.job } };
}

function matches(record: JobResultRecord, { taskId, scheduleId, outcome }: JobResultSelection): boolean {
  return (
    (taskId ?? record.taskId) === record.taskId &&
    (scheduleId ?? record.scheduleId) === record.scheduleId &&
    (outcome ?? record.outcome) === record.outcome
  );
}

function isAfter({ finishedAt }: JobResultRecord, instant = Number.NEGATIVE_INFINITY): boolean {
  return finishedAt >= instant;
}

function isBefore({ finishedAt }: JobResultRecord, instant = Number.POSITIVE_INFINITY): boolean {
  return finishedAt < instant;
}

function cursorAt({ record: { finishedAt }, seq: place }: Entry): string {
  return resultCursor({ finishedAt, place });
}

function inOrderOfEnds(a: Entry, b: Entry): number {
  return a.record.finishedAt - b.record.finishedAt || a.seq - b.seq;
}

function compareToCursor({ record, seq }: Entry, { finishedAt, place }: ResultCursor): number {
  return record.finishedAt - finishedAt || seq - place;
}
