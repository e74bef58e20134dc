import { Heap } from "../../core/heap.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobResultFilter, JobResultSelection, RecordPage } from "../data-store.ts";
import { type ResultCursor, readResultCursor, resultCursor } from "../result-cursor.ts";
import { isFound } from "../search.ts";
import { type KeptResult, keptResult, shownResult } from "./kept-result.ts";
import { SortedList } from "./sorted-list.ts";
import { Tombstones } from "./tombstones.ts";

/** The results of a `MemoryDataStore`: by job id, in the order of the ends, and in a heap by `expiresAt`. */
export class MemoryResults {
  readonly #byJobId = new Map<string, KeptResult>();
  readonly #tombstones = new Tombstones();
  readonly #byEnd = new SortedList<KeptResult>(inOrderOfEnds);
  readonly #byExpiry = new Heap<KeptResult>((a, b) => a.expiresAt < b.expiresAt);
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
    const kept = keptResult(result, this.#seq++);
    this.#byJobId.set(kept.jobId, kept);
    this.#byEnd.add(kept);
    this.#byExpiry.push(kept);
  }

  get(jobId: string, now: number): JobResultRecord | null {
    const kept = this.#byJobId.get(jobId);
    return kept === undefined || kept.expiresAt <= now ? null : shownResult(kept);
  }

  page(filter: JobResultFilter, now: number): RecordPage<JobResultRecord> {
    const { limit, order, finishedAfter, finishedBefore } = filter;
    const cursor = filter.cursor === null ? null : readResultCursor(filter.cursor);
    const items: JobResultRecord[] = [];
    let last: KeptResult | null = null;
    let hasMore = false;
    const visit = (kept: KeptResult): boolean => {
      const isInTime = order === "oldest" ? isBefore(kept, finishedBefore) : isAfter(kept, finishedAfter);
      if (!isInTime) return false;
      if (kept.expiresAt <= now || !matches(kept, filter) || !isSought(kept, filter)) return true;
      hasMore = items.length === limit;
      if (hasMore) return false;
      items.push(shownResult(kept));
      last = kept;
      return true;
    };
    if (order === "oldest") {
      const start = (kept: KeptResult): boolean =>
        isAfter(kept, finishedAfter) && (cursor === null || compareToCursor(kept, cursor) > 0);
      this.#byEnd.visitFrom(start, visit);
    } else {
      const start = (kept: KeptResult): boolean =>
        isBefore(kept, finishedBefore) && (cursor === null || compareToCursor(kept, cursor) < 0);
      this.#byEnd.visitBackFrom(start, visit);
    }
    return { items, cursor: hasMore && last !== null ? cursorAt(last) : null };
  }

  remove(selection: JobResultSelection, limit: number): number {
    const { finishedAfter, finishedBefore } = selection;
    const removed: KeptResult[] = [];
    this.#byEnd.visitFrom(
      (kept) => isAfter(kept, finishedAfter),
      (kept) => {
        if (removed.length >= limit || !isBefore(kept, finishedBefore)) return false;
        if (matches(kept, selection)) removed.push(kept);
        return true;
      },
    );
    for (const kept of removed) this.#remove(kept);
    return removed.length;
  }

  hasExpired(now: number): boolean {
    return (this.#byExpiry.peek()?.expiresAt ?? Number.POSITIVE_INFINITY) <= now;
  }

  cleanup(now: number, limit: number): number {
    let removed = 0;
    for (; removed < limit; removed++) {
      const kept = this.#byExpiry.peek();
      if (kept === undefined || kept.expiresAt > now) break;
      this.#remove(kept);
    }
    return removed;
  }

  #remove(kept: KeptResult): void {
    this.#byExpiry.remove(kept);
    this.#byEnd.remove(kept);
    this.#byJobId.delete(kept.jobId);
  }
}

function matches(kept: KeptResult, { taskId, scheduleId, outcome }: JobResultSelection): boolean {
  return (
    (taskId ?? kept.taskId) === kept.taskId &&
    (scheduleId ?? kept.scheduleId) === kept.scheduleId &&
    (outcome ?? kept.outcome) === kept.outcome
  );
}

function isSought(kept: KeptResult, { search }: JobResultFilter): boolean {
  if (search === undefined) return true;
  const { jobId, taskId, scheduleId, error, idempotencyKey, rare } = kept;
  const keys = [idempotencyKey, rare?.concurrencyKey];
  return isFound(search, [jobId, taskId, scheduleId, error?.name, error?.message, ...keys]);
}

function isAfter({ finishedAt }: KeptResult, instant = Number.NEGATIVE_INFINITY): boolean {
  return finishedAt >= instant;
}

function isBefore({ finishedAt }: KeptResult, instant = Number.POSITIVE_INFINITY): boolean {
  return finishedAt < instant;
}

function cursorAt({ finishedAt, seq: place }: KeptResult): string {
  return resultCursor({ finishedAt, place });
}

function inOrderOfEnds(a: KeptResult, b: KeptResult): number {
  return a.finishedAt - b.finishedAt || a.seq - b.seq;
}

function compareToCursor(kept: KeptResult, { finishedAt, place }: ResultCursor): number {
  return kept.finishedAt - finishedAt || kept.seq - place;
}
