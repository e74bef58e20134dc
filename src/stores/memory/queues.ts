import { Heap, type HeapItem } from "../../core/heap.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobQueue } from "../data-store.ts";
import type { Stamped } from "./steps.ts";
import type { Mutable } from "./tables.ts";

/** A job as a `MemoryDataStore` keeps it. */
export interface JobEntry extends HeapItem, Stamped {
  readonly record: Mutable<JobRecord>;
  /** Counts up with every addition. */
  readonly seq: number;
  /** The heap that holds the entry; null before the first one. */
  heap: Heap<JobEntry> | null;
}

/** A queue that takes part in one acquisition, and how many more jobs of its task may start. */
interface Candidate extends HeapItem {
  readonly ready: Heap<JobEntry>;
  readonly slots: Slots;
}

interface Slots {
  left: number;
}

/** The jobs that wait. Delayed jobs are in one heap, by `runAt`. Ready jobs are in the heap of their queue, by the
 *  order of acquisition. */
export class MemoryQueues {
  readonly #delayed = new Heap<JobEntry>((a, b) => a.record.runAt < b.record.runAt);
  readonly #ready = new Map<string, Map<string, Heap<JobEntry>>>();
  readonly #runningByTask = new Map<string, number>();
  readonly #maxRunningJobs: (taskId: string) => number | null;

  constructor(maxRunningJobs: (taskId: string) => number | null) {
    this.#maxRunningJobs = maxRunningJobs;
  }

  /** The earliest `runAt` of a job that is not ready yet. */
  get nextRunAt(): number | null {
    return this.#delayed.peek()?.record.runAt ?? null;
  }

  add(entry: JobEntry, isReady: boolean): void {
    const { executor, taskId } = entry.record;
    moveTo(isReady ? this.#readyHeap(executor, taskId) : this.#delayed, entry);
  }

  /** Makes the delayed jobs ready whose `runAt` has come. */
  promote(now: number): void {
    for (
      let entry = this.#delayed.peek();
      entry !== undefined && entry.record.runAt <= now;
      entry = this.#delayed.peek()
    ) {
      this.add(entry, true);
    }
  }

  /** Adds to the number of running jobs of a task. */
  count(taskId: string, change: 1 | -1): void {
    countIn(this.#runningByTask, taskId, change);
  }

  /** How many jobs of a task are leased. */
  running(taskId: string): number {
    return this.#runningByTask.get(taskId) ?? 0;
  }

  hasReady(queues: readonly JobQueue[]): boolean {
    for (const { executor, taskId } of queues) {
      const ready = this.#ready.get(executor)?.get(taskId);
      if (ready !== undefined && ready.size > 0 && this.#slotsOf(taskId) > 0) return true;
    }
    return false;
  }

  /** Calls `lease` with at most `limit` jobs, in the order of acquisition. `lease` must move each job to another
   *  heap. */
  take(queues: readonly JobQueue[], limit: number, lease: (entry: JobEntry) => void): void {
    if (limit <= 0) return;
    const candidates = this.#candidates(queues);
    let left = limit;
    while (left > 0) {
      const candidate = candidates.pop();
      if (candidate === undefined) return;
      const entry = candidate.ready.peek();
      // A job of another queue may have taken the last slot of the task in the meantime.
      if (entry === undefined || candidate.slots.left <= 0) continue;
      candidate.slots.left--;
      left--;
      lease(entry);
      if (candidate.ready.size > 0) candidates.push(candidate);
    }
  }

  #candidates(queues: readonly JobQueue[]): Heap<Candidate> {
    const candidates = new Heap<Candidate>((a, b) => isFirst(a.ready.peek(), b.ready.peek()));
    const slotsByTask = new Map<string, Slots>();
    const seen = new Set<Heap<JobEntry>>();
    for (const { executor, taskId } of queues) {
      const ready = this.#ready.get(executor)?.get(taskId);
      if (ready === undefined || ready.size === 0 || seen.has(ready)) continue;
      seen.add(ready);
      let slots = slotsByTask.get(taskId);
      if (slots === undefined) {
        slots = { left: this.#slotsOf(taskId) };
        slotsByTask.set(taskId, slots);
      }
      if (slots.left > 0) candidates.push({ ready, slots, heapIndex: -1 });
    }
    return candidates;
  }

  #slotsOf(taskId: string): number {
    return (this.#maxRunningJobs(taskId) ?? Number.POSITIVE_INFINITY) - (this.#runningByTask.get(taskId) ?? 0);
  }

  #readyHeap(executor: string, taskId: string): Heap<JobEntry> {
    let byTask = this.#ready.get(executor);
    if (byTask === undefined) {
      byTask = new Map();
      this.#ready.set(executor, byTask);
    }
    let heap = byTask.get(taskId);
    if (heap === undefined) {
      heap = new Heap<JobEntry>(isFirst);
      byTask.set(taskId, heap);
    }
    return heap;
  }
}

export function moveTo(heap: Heap<JobEntry>, entry: JobEntry): void {
  entry.heap?.remove(entry);
  entry.heap = heap;
  heap.push(entry);
}

/** Adds to the count of a key. A count of 0 is removed, so that it takes no memory. */
export function countIn(counts: Map<string, number>, key: string, change: number): void {
  const sum = (counts.get(key) ?? 0) + change;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** The order of acquisition: priority (higher first), `runAt`, addition. */
function isFirst(a: JobEntry | undefined, b: JobEntry | undefined): boolean {
  if (a === undefined || b === undefined) return b === undefined;
  if (a.record.priority !== b.record.priority) return a.record.priority > b.record.priority;
  if (a.record.runAt !== b.record.runAt) return a.record.runAt < b.record.runAt;
  return a.seq < b.seq;
}
