import { Heap, type HeapItem } from "../../core/heap.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type {
  CancelReport,
  JobAddition,
  JobFilter,
  JobQueue,
  JobRelease,
  LeaseExtension,
  LeaseExtensionReport,
  RecordPage,
  RecoveredJob,
  RecoveryReport,
  ReleaseStatus,
  TurnReport,
  TurnRequest,
} from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { Acquisitions } from "./acquisitions.ts";
import type { MemoryResults } from "./results.ts";
import { frozenCopy, type Mutable, pageOf } from "./tables.ts";

interface Entry extends HeapItem {
  readonly record: Mutable<JobRecord>;
  readonly seq: number;
  acquisitionId: string | null;
  heap: Heap<Entry> | null;
}

/** A queue that takes part in one acquisition, and how many more of its task may start. */
interface Candidate extends HeapItem {
  readonly ready: Heap<Entry>;
  readonly slots: Slots;
}

interface Slots {
  left: number;
}

/**
 * The unfinished jobs of a `MemoryDataStore`. A job is in exactly one heap: delayed ones by `runAt`, ready ones in
 * their queue's by order of acquisition, leased ones by lease end. So no step looks at more jobs than it moves.
 */
export class MemoryJobs {
  readonly #byId = new Map<string, Entry>();
  readonly #byKey = new Map<string, Entry>();
  readonly #byFireTime = new Map<string, Entry>();
  readonly #countByTask = new Map<string, number>();
  readonly #countBySchedule = new Map<string, number>();
  readonly #runningByTask = new Map<string, number>();
  readonly #delayed = new Heap<Entry>((a, b) => a.record.runAt < b.record.runAt);
  readonly #leased = new Heap<Entry>((a, b) => (a.record.acquiredUntil ?? 0) < (b.record.acquiredUntil ?? 0));
  readonly #ready = new Map<string, Map<string, Heap<Entry>>>();
  readonly #acquisitions = new Acquisitions<Entry>();
  readonly #results: MemoryResults;
  readonly #maxRunningJobs: (taskId: string) => number | null;
  #seq = 0;

  constructor(results: MemoryResults, maxRunningJobs: (taskId: string) => number | null) {
    this.#results = results;
    this.#maxRunningJobs = maxRunningJobs;
  }

  isTaskInUse(taskId: string): boolean {
    return (this.#countByTask.get(taskId) ?? 0) > 0;
  }

  hasJobsOf(scheduleId: string): boolean {
    return (this.#countBySchedule.get(scheduleId) ?? 0) > 0;
  }

  add(job: JobRecord): JobAddition {
    if (this.#byId.has(job.id) || this.#results.has(job.id)) return { job, isNew: true };
    const existing =
      (job.idempotencyKey === null ? undefined : this.#byKey.get(job.idempotencyKey)) ??
      (job.scheduleId === null || job.fireTime === null ? undefined : this.#byFireTime.get(fireKey(job)));
    if (existing !== undefined) return { job: { ...existing.record }, isNew: false };
    // What is kept is a copy, so the caller's record can go back as it is.
    this.#insert(job);
    return { job, isNew: true };
  }

  /** Adds a job of a schedule unless its fire time has one already. */
  addOfSchedule(job: JobRecord): boolean {
    if (this.#byId.has(job.id) || this.#byFireTime.has(fireKey(job))) return false;
    this.#insert(job);
    return true;
  }

  get(id: string): JobRecord | null {
    const entry = this.#byId.get(id);
    return entry === undefined ? null : { ...entry.record };
  }

  page(filter: JobFilter): RecordPage<JobRecord> {
    return pageOf(this.#byId.values(), filter, ({ record }) =>
      (filter.taskId ?? record.taskId) === record.taskId &&
      (filter.scheduleId ?? record.scheduleId) === record.scheduleId
        ? record
        : null,
    );
  }

  turn(request: TurnRequest): TurnReport {
    const { now, schedulerId, acquisition } = request;
    const ended: JobResultRecord[] = [];
    const releases = request.releases.map((release) => this.#release(release, schedulerId, now, ended));
    const recovered = this.#recover(now, ended);
    this.#promote(now);
    const acquired: JobRecord[] = [];
    let hasMore = false;
    if (acquisition !== null) hasMore = this.#acquire(acquisition, schedulerId, acquired);
    const nextDueAt = Math.min(
      this.#delayed.peek()?.record.runAt ?? Number.POSITIVE_INFINITY,
      this.#leased.peek()?.record.acquiredUntil ?? Number.POSITIVE_INFINITY,
    );
    return { releases, recovered, ended, acquired, hasMore, nextDueAt: Number.isFinite(nextDueAt) ? nextDueAt : null };
  }

  giveUp(schedulerId: string, now: number): RecoveryReport {
    const recovered: RecoveredJob[] = [];
    const ended: JobResultRecord[] = [];
    for (const entry of [...this.#byId.values()]) {
      if (entry.record.acquiredBy === schedulerId) this.#takeBack(entry, now, recovered, ended);
    }
    return { recovered, ended };
  }

  extendLeases(extension: LeaseExtension): LeaseExtensionReport {
    const lost: string[] = [];
    const cancelRequested: string[] = [];
    for (const { jobId, fence } of extension.jobs) {
      const entry = this.#byId.get(jobId);
      if (entry === undefined || entry.record.fence !== fence || entry.record.acquiredBy !== extension.schedulerId) {
        lost.push(jobId);
        continue;
      }
      this.#leased.remove(entry);
      entry.record.acquiredUntil = extension.until;
      this.#leased.push(entry);
      if (entry.record.cancelRequested) cancelRequested.push(jobId);
    }
    return { lost, cancelRequested };
  }

  cancel(id: string, now: number): CancelReport {
    const entry = this.#byId.get(id);
    if (entry === undefined) return { status: "missing" };
    const { record } = entry;
    if (record.acquiredBy !== null) {
      record.cancelRequested = true;
      return { status: "requested", taskId: record.taskId, acquiredBy: record.acquiredBy };
    }
    return { status: "cancelled", result: this.#end(entry, endedWithoutRun(record, "cancelled", now), now) };
  }

  #insert(job: JobRecord): void {
    const record = { ...job, metadata: frozenCopy(job.metadata) };
    const entry: Entry = { record, seq: this.#seq++, acquisitionId: null, heap: null, heapIndex: -1 };
    this.#byId.set(job.id, entry);
    if (job.idempotencyKey !== null) this.#byKey.set(job.idempotencyKey, entry);
    if (job.scheduleId !== null) {
      if (job.fireTime !== null) this.#byFireTime.set(fireKey(job), entry);
      count(this.#countBySchedule, job.scheduleId, 1);
    }
    count(this.#countByTask, job.taskId, 1);
    // One that is due already needs no look at the clock; the others become ready in the turn that finds them due.
    this.#move(entry, job.runAt <= job.createdAt ? this.#readyHeap(job.executor, job.taskId) : this.#delayed);
  }

  #remove(entry: Entry): void {
    const { record } = entry;
    this.#endLease(entry);
    entry.heap?.remove(entry);
    this.#byId.delete(record.id);
    if (record.idempotencyKey !== null) this.#byKey.delete(record.idempotencyKey);
    if (record.scheduleId !== null) {
      if (record.fireTime !== null) this.#byFireTime.delete(fireKey(record));
      count(this.#countBySchedule, record.scheduleId, -1);
    }
    count(this.#countByTask, record.taskId, -1);
  }

  #end(entry: Entry, result: JobResultRecord, now: number): JobResultRecord {
    this.#remove(entry);
    this.#results.keep(result, now);
    return result;
  }

  #release(release: JobRelease, schedulerId: string, now: number, ended: JobResultRecord[]): ReleaseStatus {
    const entry = this.#byId.get(release.jobId);
    if (entry === undefined) return "missing";
    if (entry.record.fence !== release.fence || entry.record.acquiredBy !== schedulerId) return "fenced";
    if (release.kind === "finish") {
      this.#end(entry, release.result, now);
      return "released";
    }
    if (entry.record.cancelRequested) {
      ended.push(this.#end(entry, endedWithoutRun(entry.record, "cancelled", now), now));
      return "released";
    }
    this.#endLease(entry);
    if (release.kind === "retry") {
      entry.record.runAt = release.runAt;
      entry.record.failedAttempts = release.failedAttempts;
    } else if (release.hasStarted === true) {
      entry.record.startDeadline = null;
    }
    this.#move(entry, this.#delayed);
    return "released";
  }

  /** Takes back the leases that are no longer live. */
  #recover(now: number, ended: JobResultRecord[]): RecoveredJob[] {
    const recovered: RecoveredJob[] = [];
    for (let entry = this.#leased.peek(); entry !== undefined; entry = this.#leased.peek()) {
      if ((entry.record.acquiredUntil ?? 0) > now) break;
      this.#takeBack(entry, now, recovered, ended);
    }
    return recovered;
  }

  #takeBack(entry: Entry, now: number, recovered: RecoveredJob[], ended: JobResultRecord[]): void {
    const { record } = entry;
    if (record.cancelRequested || record.recoveries >= record.maxRecoveries) {
      const outcome = record.cancelRequested ? "cancelled" : "abandoned";
      ended.push(this.#end(entry, endedWithoutRun(record, outcome, now), now));
      return;
    }
    this.#endLease(entry);
    record.recoveries++;
    this.#move(entry, this.#delayed);
    const { id: jobId, taskId, scheduleId } = record;
    recovered.push({ jobId, taskId, scheduleId, attempt: record.failedAttempts + record.recoveries });
  }

  #promote(now: number): void {
    for (
      let entry = this.#delayed.peek();
      entry !== undefined && entry.record.runAt <= now;
      entry = this.#delayed.peek()
    ) {
      this.#move(entry, this.#readyHeap(entry.record.executor, entry.record.taskId));
    }
  }

  /** Returns whether the limit left acquirable jobs behind. */
  #acquire(acquisition: NonNullable<TurnRequest["acquisition"]>, schedulerId: string, acquired: JobRecord[]): boolean {
    const { acquisitionId, limit, until } = acquisition;
    for (const { record } of this.#acquisitions.heldUnder(acquisitionId)) {
      if (record.acquiredBy === schedulerId) acquired.push({ ...record });
    }
    const candidates = this.#candidates(acquisition.queues);
    while (acquired.length < limit) {
      const candidate = candidates.pop();
      if (candidate === undefined) break;
      const entry = candidate.slots.left > 0 ? candidate.ready.peek() : undefined;
      if (entry === undefined) continue;
      candidate.slots.left--;
      this.#lease(entry, schedulerId, acquisitionId, until);
      acquired.push({ ...entry.record });
      if (candidate.ready.size > 0) candidates.push(candidate);
    }
    for (let rest = candidates.pop(); rest !== undefined; rest = candidates.pop()) {
      if (rest.slots.left > 0) return true;
    }
    return false;
  }

  #candidates(queues: readonly JobQueue[]): Heap<Candidate> {
    const candidates = new Heap<Candidate>((a, b) => isFirst(a.ready.peek(), b.ready.peek()));
    const slotsByTask = new Map<string, Slots>();
    for (const { executor, taskId } of queues) {
      const ready = this.#ready.get(executor)?.get(taskId);
      if (ready === undefined || ready.size === 0) continue;
      let slots = slotsByTask.get(taskId);
      if (slots === undefined) {
        const limit = this.#maxRunningJobs(taskId) ?? Number.POSITIVE_INFINITY;
        slots = { left: limit - (this.#runningByTask.get(taskId) ?? 0) };
        slotsByTask.set(taskId, slots);
      }
      if (slots.left > 0) candidates.push({ ready, slots, heapIndex: -1 });
    }
    return candidates;
  }

  #lease(entry: Entry, schedulerId: string, acquisitionId: string, until: number): void {
    entry.record.acquiredBy = schedulerId;
    entry.record.acquiredUntil = until;
    entry.record.fence++;
    this.#acquisitions.begin(acquisitionId, entry);
    count(this.#runningByTask, entry.record.taskId, 1);
    this.#move(entry, this.#leased);
  }

  #endLease(entry: Entry): void {
    if (entry.record.acquiredBy === null) return;
    this.#leased.remove(entry);
    entry.record.acquiredBy = null;
    entry.record.acquiredUntil = null;
    this.#acquisitions.end(entry);
    count(this.#runningByTask, entry.record.taskId, -1);
  }

  #move(entry: Entry, heap: Heap<Entry>): void {
    entry.heap?.remove(entry);
    entry.heap = heap;
    heap.push(entry);
  }

  #readyHeap(executor: string, taskId: string): Heap<Entry> {
    let byTask = this.#ready.get(executor);
    if (byTask === undefined) {
      byTask = new Map();
      this.#ready.set(executor, byTask);
    }
    let heap = byTask.get(taskId);
    if (heap === undefined) {
      heap = new Heap<Entry>(isFirst);
      byTask.set(taskId, heap);
    }
    return heap;
  }
}

/** The order of acquisition: priority (higher first), `runAt`, addition. */
function isFirst(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return b === undefined;
  if (a.record.priority !== b.record.priority) return a.record.priority > b.record.priority;
  if (a.record.runAt !== b.record.runAt) return a.record.runAt < b.record.runAt;
  return a.seq < b.seq;
}

function fireKey(job: JobRecord): string {
  return `${job.fireTime} ${job.scheduleId}`;
}

function count(counts: Map<string, number>, key: string, change: number): void {
  const sum = (counts.get(key) ?? 0) + change;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
