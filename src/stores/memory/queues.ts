import { Heap, type HeapItem } from "../../core/heap.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobCapacity, JobQueue } from "../data-store.ts";
import { isFirst, type JobEntry } from "./gate.ts";
import type { MemoryGates } from "./gates.ts";

/** A queue that takes part in one acquisition, and how many more jobs of its task may start. */
interface Candidate extends HeapItem {
  readonly ready: Heap<JobEntry>;
  readonly slots: Slots;
  /** How many more jobs of its executor may start. */
  readonly ofExecutor: Slots;
  /** For a queue whose jobs have turns: the `runAt` of the first one, which counts for all of them among the queues. */
  readonly age: number | null;
}

interface Slots {
  left: number;
}

/** How many more jobs a step may acquire, by executor that has a bound. */
export type ExecutorSlots = ReadonlyMap<string, Slots>;

const UNBOUNDED: ExecutorSlots = new Map();

/** @param acquired what the step has acquired */
export function executorSlots({ bounds }: JobCapacity, acquired: readonly JobRecord[]): ExecutorSlots {
  if (bounds === undefined) return UNBOUNDED;
  const byExecutor = new Map([...bounds].map(([executor, left]) => [executor, { left }]));
  for (const { executor } of acquired) {
    const slots = byExecutor.get(executor);
    if (slots !== undefined) slots.left--;
  }
  return byExecutor;
}

/** The jobs that wait. Delayed jobs are in one heap, by `runAt`. Ready jobs are in the heap of their queue, by the
 *  order of acquisition; but those that need admission are in the heap of their gate first. */
export class MemoryQueues {
  readonly #delayed = new Heap<JobEntry>((a, b) => a.record.runAt < b.record.runAt);
  readonly #ready = new Map<string, Map<string, Heap<JobEntry>>>();
  readonly #runningByTask = new Map<string, number>();
  readonly #maxRunningJobs: (taskId: string) => number | null;
  readonly #gates: MemoryGates;

  constructor(maxRunningJobs: (taskId: string) => number | null, gates: MemoryGates) {
    this.#maxRunningJobs = maxRunningJobs;
    this.#gates = gates;
  }

  /** When the next job that is not ready yet is due, or may be admitted. */
  nextRunAt(now: number): number | null {
    const runAt = this.#delayed.peek()?.record.runAt ?? Number.POSITIVE_INFINITY;
    const { wakeAt } = this.#gates;
    const next = wakeAt > now && wakeAt < runAt ? wakeAt : runAt;
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  isDelayed(entry: JobEntry): boolean {
    return entry.heap === this.#delayed;
  }

  /** @param isDue whether the job need not wait for its `runAt` */
  add(entry: JobEntry, isDue: boolean): void {
    if (!isDue) moveTo(this.#delayed, entry);
    else if (entry.gate !== null) this.#gates.hold(entry);
    else {
      if (entry.turn !== null) {
        // The place of an entry in a heap must not change.
        entry.heap?.remove(entry);
        entry.turn = null;
      }
      this.#makeReady(entry);
    }
  }

  /** Lets the delayed jobs whose `runAt` has come become due. */
  makeDue(now: number): void {
    for (
      let entry = this.#delayed.peek();
      entry !== undefined && entry.record.runAt <= now;
      entry = this.#delayed.peek()
    ) {
      this.add(entry, true);
    }
  }

  /** Makes the jobs ready that the gates admit. Returns how many these are. */
  admit(now: number): number {
    let count = 0;
    for (let entry = this.#gates.promote(now); entry !== null; entry = this.#gates.promote(now)) {
      this.#makeReady(entry);
      count++;
    }
    return count;
  }

  /** Adds to the number of running jobs of a task. */
  count(taskId: string, change: 1 | -1): void {
    countIn(this.#runningByTask, taskId, change);
  }

  /** How many jobs of a task are leased. */
  running(taskId: string): number {
    return this.#runningByTask.get(taskId) ?? 0;
  }

  /** Whether there are jobs of these queues to acquire, or any to admit. */
  hasReady(queues: readonly JobQueue[], byExecutor: ExecutorSlots, now: number): boolean {
    if (this.#gates.wakeAt <= now) return true;
    for (const { executor, taskId } of queues) {
      if ((byExecutor.get(executor)?.left ?? 1) <= 0) continue;
      const ready = this.#ready.get(executor)?.get(taskId);
      if (ready !== undefined && ready.size > 0 && this.#slotsOf(taskId) > 0) return true;
    }
    return false;
  }

  /** Calls `lease` with at most `limit` jobs, in the order of acquisition. `lease` must move each job to another heap.
   *  Returns how many these are. */
  take(
    queues: readonly JobQueue[],
    limit: number,
    lease: (entry: JobEntry) => void,
    byExecutor: ExecutorSlots = UNBOUNDED,
  ): number {
    if (limit <= 0) return 0;
    const candidates = this.#candidates(queues, byExecutor);
    let left = limit;
    while (left > 0) {
      const candidate = candidates.pop();
      if (candidate === undefined) return limit - left;
      const entry = candidate.ready.peek();
      // A job of another queue may have taken the last slot of the task or the executor in the meantime.
      if (entry === undefined || candidate.slots.left <= 0 || candidate.ofExecutor.left <= 0) continue;
      candidate.slots.left--;
      candidate.ofExecutor.left--;
      left--;
      lease(entry);
      if (candidate.ready.size > 0) candidates.push(candidate);
    }
    return limit;
  }

  #makeReady(entry: JobEntry): void {
    moveTo(this.#readyHeap(entry.record.executor, entry.record.taskId), entry);
  }

  #candidates(queues: readonly JobQueue[], byExecutor: ExecutorSlots): Heap<Candidate> {
    const candidates = new Heap<Candidate>(isFirstQueue);
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
      const first = ready.peek();
      const age = first?.turn == null ? null : first.record.runAt;
      const ofExecutor = byExecutor.get(executor) ?? { left: Number.POSITIVE_INFINITY };
      if (slots.left > 0) candidates.push({ ready, slots, ofExecutor, age, heapIndex: -1 });
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

/** The order of acquisition between queues: priority (higher first), `runAt`, turn, addition. */
function isFirstQueue(one: Candidate, other: Candidate): boolean {
  const [a, b] = [one.ready.peek(), other.ready.peek()];
  if (a === undefined || b === undefined || a.record.priority !== b.record.priority) return isFirst(a, b);
  const [ageOfA, ageOfB] = [one.age ?? a.record.runAt, other.age ?? b.record.runAt];
  return ageOfA === ageOfB ? isFirst(a, b) : ageOfA < ageOfB;
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
