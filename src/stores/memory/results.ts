import { Heap, type HeapItem } from "../../core/heap.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobResultFilter, RecordPage } from "../data-store.ts";
import { frozenCopy, pageOf } from "./tables.ts";
import { Tombstones } from "./tombstones.ts";

interface Entry extends HeapItem {
  readonly record: JobResultRecord;
}

/** The results of a `MemoryDataStore`: by job id, and in a heap by `expiresAt`. */
export class MemoryResults {
  readonly #byJobId = new Map<string, Entry>();
  readonly #tombstones = new Tombstones();
  readonly #byExpiry = new Heap<Entry>((a, b) => a.record.expiresAt < b.record.expiresAt);

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
    const entry: Entry = { record: { ...result, error: frozenCopy(result.error) }, heapIndex: -1 };
    this.#byJobId.set(result.jobId, entry);
    this.#byExpiry.push(entry);
  }

  get(jobId: string, now: number): JobResultRecord | null {
    const entry = this.#byJobId.get(jobId);
    return entry === undefined || entry.record.expiresAt <= now ? null : { ...entry.record };
  }

  page(filter: JobResultFilter, now: number): RecordPage<JobResultRecord> {
    return pageOf(this.#byJobId.values(), filter, ({ record }) =>
      record.expiresAt > now &&
      (filter.taskId ?? record.taskId) === record.taskId &&
      (filter.scheduleId ?? record.scheduleId) === record.scheduleId &&
      (filter.outcome ?? record.outcome) === record.outcome
        ? record
        : null,
    );
  }

  hasExpired(now: number): boolean {
    return (this.#byExpiry.peek()?.record.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  }

  cleanup(now: number, limit: number): number {
    let removed = 0;
    for (; removed < limit; removed++) {
      const entry = this.#byExpiry.peek();
      if (entry === undefined || entry.record.expiresAt > now) break;
      this.#byExpiry.pop();
      this.#byJobId.delete(entry.record.jobId);
    }
    return removed;
  }
}
