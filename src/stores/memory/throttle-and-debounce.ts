import { compareTexts } from "../../core/text.ts";
import type { NewJobRecord } from "../../records/job.ts";
import { CLOCK_TOLERANCE_MS, TOMBSTONE_MS } from "../shared/limits.ts";
import { RecentIds } from "./recent-ids.ts";
import { SortedList } from "./sorted-list.ts";

// What lets several additions make one job. A *window* is a time in which `throttle` or `uniqueFor` lets one job be
// added. A *burst* is the additions of a debounced job that nobody has acquired yet.

interface AdditionWindow {
  readonly name: string;
  readonly seq: number;
  readonly openedAt: number;
  readonly until: number;
  readonly jobId: string;
}

/** The windows of a memory store. */
export class Windows {
  readonly #byName = new Map<string, AdditionWindow>();
  readonly #byEnd = new SortedList<AdditionWindow>((a, b) => a.until - b.until || a.seq - b.seq);
  #seq = 0;

  /** The id of the job that opened the addition's window, if that window lasts; null if it does not. */
  openerOf(job: NewJobRecord): string | null {
    const window = this.#find(job);
    return window === undefined || window.until <= job.createdAt ? null : window.jobId;
  }

  /** Lets the window of an addition last from the addition on, if a wrong clock opened the window. */
  followClock(job: NewJobRecord): void {
    const window = this.#find(job);
    if (window === undefined || window.openedAt <= job.createdAt + CLOCK_TOLERANCE_MS) return;
    this.added({ ...job, id: window.jobId });
  }

  /** A job was added, and opens its window, if it has one. */
  added(job: NewJobRecord): void {
    if (job.once === undefined) return;
    const before = this.#find(job);
    if (before !== undefined) this.#byEnd.delete(before);
    const { taskId, once, createdAt: openedAt, id: jobId } = job;
    const window = { name: nameOf(taskId, once.kind, once.key), seq: this.#seq++, openedAt, until: once.until, jobId };
    this.#byName.set(window.name, window);
    this.#byEnd.add(window);
  }

  /** Whether there are windows that no repetition of an addition asks for any more. */
  hasOld(now: number): boolean {
    return (this.#byEnd.first?.until ?? Number.POSITIVE_INFINITY) <= now - TOMBSTONE_MS;
  }

  /** Removes such windows. Returns how many. */
  cleanup(now: number, limit: number): number {
    let removed = 0;
    for (let window = this.#byEnd.first; window !== undefined && removed < limit; window = this.#byEnd.first) {
      if (!this.hasOld(now)) break;
      this.#byEnd.delete(window);
      this.#byName.delete(window.name);
      removed++;
    }
    return removed;
  }

  #find({ once, taskId }: NewJobRecord): AdditionWindow | undefined {
    return once === undefined ? undefined : this.#byName.get(nameOf(taskId, once.kind, once.key));
  }
}

interface Burst {
  readonly name: string;
  readonly jobId: string;
  /** The last addition of the burst. */
  lastAt: number;
  lastId: string;
}

/** The bursts of a memory store. */
export class Bursts {
  readonly #byName = new Map<string, Burst>();
  readonly #byJob = new Map<string, Burst>();
  /** By the ids of additions that belong to the burst of another one: the job of that burst. */
  readonly #jobIds = new Map<string, string>();
  readonly #recentIds = new RecentIds();

  /** The id of the job that the addition belongs to, whether or not that job has ended, and whether the addition
   *  changes it, because it comes after all others of its burst; null when it begins a burst of its own. From then on,
   *  it is the last one. In one millisecond, the ids tell the order. */
  join({ debounce, taskId, createdAt, id }: NewJobRecord): { readonly jobId: string; readonly isLast: boolean } | null {
    if (debounce === undefined) return null;
    const jobId = this.#jobIds.get(id);
    if (jobId !== undefined) return { jobId, isLast: false };
    const burst = this.#byName.get(nameOf(taskId, debounce.key));
    if (burst === undefined) return null;
    for (const oldId of this.#recentIds.add(id, createdAt)) this.#jobIds.delete(oldId);
    this.#jobIds.set(id, burst.jobId);
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
