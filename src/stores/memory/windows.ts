import { Heap, type HeapItem } from "../../core/heap.ts";
import { CLOCK_TOLERANCE_MS, TOMBSTONE_MS } from "../../core/limits.ts";
import { compareTexts } from "../../core/text.ts";
import type { NewJobRecord } from "../../records/job.ts";
import { RecentMap } from "./recent-map.ts";

interface Window extends HeapItem {
  readonly name: string;
  readonly openedAt: number;
  readonly until: number;
  readonly jobId: string;
}

/** What `throttle` and `uniqueFor` let happen once in a time, in a `MemoryDataStore`. */
export class Windows {
  readonly #byName = new Map<string, Window>();
  readonly #byEnd = new Heap<Window>((a, b) => a.until < b.until);

  /** The id of the job that opened the addition's window, if that window lasts; null if it does not. */
  openerOf({ once, taskId, createdAt }: NewJobRecord): string | null {
    if (once === undefined) return null;
    const window = this.#byName.get(nameOf(taskId, once.kind, once.key));
    return window === undefined || window.until <= createdAt ? null : window.jobId;
  }

  /** Lets the window of an addition last from the addition on, if a wrong clock opened the window. */
  clamp(job: NewJobRecord): void {
    const { once, taskId, createdAt } = job;
    const window = once === undefined ? undefined : this.#byName.get(nameOf(taskId, once.kind, once.key));
    if (window === undefined || window.openedAt <= createdAt + CLOCK_TOLERANCE_MS) return;
    this.added({ ...job, id: window.jobId });
  }

  /** A job was added, and opens its window, if it has one. */
  added({ once, taskId, id: jobId, createdAt }: NewJobRecord): void {
    if (once === undefined) return;
    const name = nameOf(taskId, once.kind, once.key);
    const before = this.#byName.get(name);
    if (before !== undefined) this.#byEnd.remove(before);
    const window = { name, openedAt: createdAt, until: once.until, jobId, heapIndex: -1 };
    this.#byName.set(name, window);
    this.#byEnd.push(window);
  }

  /** Whether there are windows that no repetition of an addition asks for any more. */
  hasOld(now: number): boolean {
    return (this.#byEnd.peek()?.until ?? Number.POSITIVE_INFINITY) <= now - TOMBSTONE_MS;
  }

  /** Removes such windows. Returns how many. */
  cleanup(now: number, limit: number): number {
    let removed = 0;
    for (; removed < limit && this.hasOld(now); removed++) {
      const window = this.#byEnd.pop();
      if (window !== undefined) this.#byName.delete(window.name);
    }
    return removed;
  }
}

interface Burst {
  readonly name: string;
  readonly jobId: string;
  /** The last addition of the burst. */
  lastAt: number;
  lastId: string;
}

/** The bursts of additions whose jobs nobody has acquired yet, in a `MemoryDataStore`. */
export class Bursts {
  readonly #byName = new Map<string, Burst>();
  readonly #byJob = new Map<string, Burst>();
  /** The jobs of additions that belong to the burst of another one. */
  readonly #jobIds = new RecentMap<string>();

  /** The id of the job that the addition belongs to, whether or not that job has ended, and whether the addition
   *  changes it, because it comes after all others of its burst; null when it begins a burst of its own. From then on,
   *  it is the last one. In one millisecond, the ids tell the order. */
  join({ debounce, taskId, createdAt, id }: NewJobRecord): { readonly jobId: string; readonly isLast: boolean } | null {
    if (debounce === undefined) return null;
    const jobId = this.#jobIds.get(id);
    if (jobId !== undefined) return { jobId, isLast: false };
    const burst = this.#byName.get(nameOf(taskId, debounce.key));
    if (burst === undefined) return null;
    this.#jobIds.set(id, burst.jobId, createdAt);
    const isAfter = createdAt > burst.lastAt || (createdAt === burst.lastAt && compareTexts(id, burst.lastId) > 0);
    // A wrong clock made the last one.
    const isLast = isAfter || burst.lastAt > createdAt + CLOCK_TOLERANCE_MS;
    if (isLast) [burst.lastAt, burst.lastId] = [createdAt, id];
    return { jobId: burst.jobId, isLast };
  }

  /** A job was added, and begins its burst, if it has one. */
  added({ debounce, taskId, id, createdAt }: NewJobRecord): void {
    if (debounce === undefined) return;
    const burst = { name: nameOf(taskId, debounce.key), jobId: id, lastAt: createdAt, lastId: id };
    this.#byName.set(burst.name, burst);
    this.#byJob.set(id, burst);
  }

  /** A job was acquired, or has ended, so that its burst is over. */
  over(jobId: string): void {
    if (this.#byJob.size === 0) return;
    const burst = this.#byJob.get(jobId);
    if (burst === undefined) return;
    this.#byJob.delete(jobId);
    this.#byName.delete(burst.name);
  }
}

/** No key has a NUL character. */
function nameOf(...parts: readonly string[]): string {
  return parts.join("\0");
}
