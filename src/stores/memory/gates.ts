import { Heap } from "../../core/heap.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/limits.ts";
import type { JobRecord } from "../../records/job.ts";
import type { PromotedJob, TaskPause } from "../data-store.ts";
import { Gate, GatedTask, type GateSettings, type JobEntry } from "./gate.ts";

/**
 * The admission of the jobs that have a concurrency key, or whose task has a rate or is fair. A job that is due is held
 * by the gate of its key, until the gate promotes it. Each change of a gate costs O(log n), so that a step costs no
 * more the more jobs are held. A store without such jobs has no gates.
 */
export class MemoryGates {
  readonly #tasks = new Map<string, GatedTask>();
  /** The gates that can promote a job, now or later, by the time. */
  readonly #waking = new Heap<Gate>((a, b) => a.wakeAt < b.wakeAt);
  /** The gates without a job, which are forgotten when their buckets have been full for a while. */
  readonly #idle = new Heap<Gate>((a, b) => a.bucket.fullAt < b.bucket.fullAt);
  #step = 0;
  #promoted: PromotedJob[] = [];
  /** The latest present that may have taken a token. */
  #now = Number.NEGATIVE_INFINITY;

  /** Whether no job can be held. */
  get isEmpty(): boolean {
    return this.#tasks.size === 0;
  }

  /** When the next job can be promoted; infinite for never. */
  get wakeAt(): number {
    return this.#waking.peek()?.wakeAt ?? Number.POSITIVE_INFINITY;
  }

  beginStep(): void {
    this.#step++;
    this.#promoted = [];
  }

  /** Empties the buckets from which a clock took tokens that is far ahead of this present. */
  clampBuckets(now: number): void {
    const isBehind = now < this.#now - CLOCK_TOLERANCE_MS;
    if (isBehind || now > this.#now) this.#now = now;
    if (!isBehind) return;
    for (const { rate, gates } of this.#tasks.values()) {
      if (rate === null) continue;
      for (const gate of gates.values()) {
        // No gate is in a heap while its place there changes.
        this.#takeOut(gate);
        gate.bucket.clamp(now, rate);
        this.#settle(gate);
      }
    }
  }

  /** The jobs that the step has promoted and that were held before it. */
  get promoted(): readonly PromotedJob[] {
    return this.#promoted;
  }

  /** Replaces the settings of a task. Returns whether they changed: then the jobs of the task have to be admitted anew,
   *  see {@link MemoryGates.leave}. */
  configure(taskId: string, settings: GateSettings): boolean {
    const task = this.#tasks.get(taskId) ?? new GatedTask(taskId);
    if (task.has(settings)) return false;
    this.#tasks.set(taskId, task);
    // No gate is in a heap while its place there changes.
    for (const gate of task.gates.values()) this.#takeOut(gate);
    task.configure(settings);
    for (const gate of task.gates.values()) this.#settle(gate);
    this.#keepOrForget(task);
    return true;
  }

  /** Pauses a task or a key. The jobs have to be admitted anew. */
  pause({ taskId, key }: TaskPause, isPaused: boolean): void {
    const task = this.#taskOf(taskId);
    if (key === null) {
      task.isPaused = isPaused;
      for (const gate of task.gates.values()) this.#settle(gate);
      this.#keepOrForget(task);
      return;
    }
    const gate = this.#gateOf(task, key);
    gate.isPaused = isPaused;
    this.#settle(gate);
  }

  pauses(): TaskPause[] {
    const pauses: TaskPause[] = [];
    for (const { id: taskId, isPaused, gates } of this.#tasks.values()) {
      if (isPaused) pauses.push({ taskId, key: null });
      for (const gate of gates.values()) if (gate.isPaused) pauses.push({ taskId, key: gate.key });
    }
    return pauses;
  }

  /** Forgets a task that has no jobs. */
  removeTask(taskId: string): void {
    for (const gate of this.#tasks.get(taskId)?.gates.values() ?? []) gate.heap?.remove(gate);
    this.#tasks.delete(taskId);
  }

  /** How many jobs of a task are held. */
  heldCount(taskId: string): number {
    return this.#tasks.get(taskId)?.heldCount ?? 0;
  }

  /** Finds the gate of an unfinished job, which is in no heap or under a lease. */
  join(entry: JobEntry): void {
    const gate = this.#gateFor(entry.record);
    entry.gate = gate;
    if (gate === null) return;
    gate.jobCount++;
    if (entry.record.acquiredBy !== null) gate.leasedCount++;
    this.#settle(gate);
  }

  /** Takes a job away from its gate, and out of the heap of its gate. The job has ended, or has to be admitted anew. */
  leave(entry: JobEntry): void {
    const { gate } = entry;
    if (gate === null) return;
    if (isHeld(entry)) {
      gate.held.remove(entry);
      entry.heap = null;
      gate.task.heldCount--;
    }
    if (entry.isPromoted) {
      gate.removePromoted(entry);
      gate.task.turns?.giveBack(entry);
    }
    if (entry.record.acquiredBy !== null) gate.leasedCount--;
    gate.jobCount--;
    entry.gate = null;
    this.#settle(gate);
  }

  /** Holds a job that is due. */
  hold(entry: JobEntry): void {
    const { gate } = entry;
    if (gate === null) return;
    entry.heap?.remove(entry);
    entry.heap = gate.held;
    entry.turn = null;
    gate.held.push(entry);
    entry.heldIn = this.#step;
    gate.task.heldCount++;
    this.#settle(gate);
  }

  /** The next job that may be promoted, which the caller must make ready; null for none. If there is no room for a job
   *  that is more urgent than one that was promoted, the one takes the place of the other. */
  promote(now: number): JobEntry | null {
    const gate = this.#waking.peek();
    if (gate === undefined || gate.wakeAt > now) {
      this.#forgetIdle(now);
      return null;
    }
    if (gate.isInverted() && gate.roomAt() > now) this.#demote(gate);
    const entry = gate.held.pop();
    if (entry === undefined) return null;
    const { task } = gate;
    task.heldCount--;
    gate.addPromoted(entry);
    const { priority } = entry.record;
    if (task.turns !== null) entry.turn = task.turns.give(gate.key, entry, gate.promoted.get(priority) ?? []);
    if (entry.heldIn < this.#step) this.#promoted.push(promotedJob(entry.record));
    this.#settle(gate);
    return entry;
  }

  /** Notes that a promoted job was acquired. */
  lease(entry: JobEntry, now: number): void {
    const { gate } = entry;
    if (gate === null) return;
    const { task } = gate;
    gate.removePromoted(entry);
    gate.leasedCount++;
    task.turns?.take(gate.key, entry);
    if (task.rate !== null) gate.bucket.take(now, task.rate);
    this.#settle(gate);
  }

  /** Notes that a lease on a job has ended. */
  endLease({ gate }: JobEntry): void {
    if (gate === null) return;
    gate.leasedCount--;
    this.#settle(gate);
  }

  #demote(gate: Gate): void {
    const entry = gate.leastUrgent;
    if (entry === null) return;
    gate.removePromoted(entry);
    gate.task.turns?.giveBack(entry);
    this.hold(entry);
  }

  /** Null for a job that needs no admission. */
  #gateFor({ taskId, concurrencyKey }: JobRecord): Gate | null {
    if (concurrencyKey !== undefined) return this.#gateOf(this.#taskOf(taskId), concurrencyKey);
    const task = this.#tasks.get(taskId);
    return task?.hasOwnKey === true ? this.#gateOf(task, "") : null;
  }

  #taskOf(taskId: string): GatedTask {
    let task = this.#tasks.get(taskId);
    if (task === undefined) {
      task = new GatedTask(taskId);
      this.#tasks.set(taskId, task);
    }
    return task;
  }

  #gateOf(task: GatedTask, key: string): Gate {
    let gate = task.gates.get(key);
    if (gate === undefined) {
      gate = new Gate(task, key);
      task.gates.set(key, gate);
    }
    return gate;
  }

  /** Puts a gate where it belongs after a change. */
  #settle(gate: Gate): void {
    const wakeAt = gate.nextWakeAt();
    const isIdle = gate.jobCount === 0 && !gate.isPaused;
    if (wakeAt === gate.wakeAt && gate.heap !== this.#idle && !isIdle) return;
    this.#takeOut(gate);
    gate.wakeAt = wakeAt;
    if (wakeAt !== Number.POSITIVE_INFINITY) this.#putIn(this.#waking, gate);
    else if (isIdle && gate.task.rate !== null) this.#putIn(this.#idle, gate);
    else if (isIdle) this.#forget(gate);
  }

  #putIn(heap: Heap<Gate>, gate: Gate): void {
    gate.heap = heap;
    heap.push(gate);
  }

  #takeOut(gate: Gate): void {
    gate.heap?.remove(gate);
    gate.heap = null;
    gate.wakeAt = Number.POSITIVE_INFINITY;
  }

  #forgetIdle(now: number): void {
    const fullBy = now - CLOCK_TOLERANCE_MS;
    for (let gate = this.#idle.peek(); gate !== undefined && gate.bucket.fullAt <= fullBy; gate = this.#idle.peek()) {
      this.#takeOut(gate);
      this.#forget(gate);
    }
  }

  #forget({ task, key }: Gate): void {
    task.gates.delete(key);
    task.turns?.forget(key);
    this.#keepOrForget(task);
  }

  #keepOrForget(task: GatedTask): void {
    if (task.gates.size === 0 && task.isPlain) this.#tasks.delete(task.id);
    else this.#tasks.set(task.id, task);
  }
}

/** Whether the gate of a job holds the job. */
export function isHeld({ gate, heap }: JobEntry): boolean {
  return gate !== null && heap === gate.held;
}

/** A copy of the job's record, which tells whether the job is held. */
export function recordOf(entry: JobEntry): JobRecord {
  return isHeld(entry) ? { ...entry.record, heldBy: "limit" } : { ...entry.record };
}

function promotedJob({ id: jobId, taskId, scheduleId, concurrencyKey }: JobRecord): PromotedJob {
  return { jobId, taskId, scheduleId, ...(concurrencyKey === undefined ? {} : { concurrencyKey }) };
}
