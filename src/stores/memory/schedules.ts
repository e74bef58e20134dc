import { Heap, type HeapItem } from "../../core/heap.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type {
  RecordPage,
  ScheduleAcquisition,
  ScheduleAcquisitionReport,
  ScheduleAddition,
  ScheduleAdditionReport,
  ScheduleChanges,
  ScheduleFilter,
} from "../data-store.ts";
import { Acquisitions } from "./acquisitions.ts";
import { frozenCopy, type Mutable, pageOf } from "./tables.ts";

interface Entry extends HeapItem {
  readonly record: Mutable<ScheduleRecord>;
  acquisitionId: string | null;
  heap: Heap<Entry> | null;
}

/** The schedules of a `MemoryDataStore`: by id, due ones in a heap by fire time, leased ones in a heap by lease end. */
export class MemorySchedules {
  readonly #byId = new Map<string, Entry>();
  readonly #waiting = new Heap<Entry>(isEarlier);
  readonly #leased = new Heap<Entry>((a, b) => (a.record.acquiredUntil ?? 0) < (b.record.acquiredUntil ?? 0));
  readonly #exhausted = new Set<Entry>();
  readonly #countByTask = new Map<string, number>();
  readonly #acquisitions = new Acquisitions<Entry>();

  isTaskInUse(taskId: string): boolean {
    return (this.#countByTask.get(taskId) ?? 0) > 0;
  }

  add(additions: readonly ScheduleAddition[]): ScheduleAdditionReport {
    const seen = new Set<string>();
    for (const { schedule, conflictPolicy } of additions) {
      if (conflictPolicy === "error" && (this.#byId.has(schedule.id) || seen.has(schedule.id))) {
        return { conflictId: schedule.id };
      }
      seen.add(schedule.id);
    }
    return { conflictId: null, results: additions.map((addition) => this.#addOne(addition)) };
  }

  get(id: string): ScheduleRecord | null {
    const entry = this.#byId.get(id);
    return entry === undefined ? null : { ...entry.record };
  }

  page(filter: ScheduleFilter): RecordPage<ScheduleRecord> {
    return pageOf(this.#byId.values(), filter, ({ record }) =>
      (filter.taskId ?? record.taskId) === record.taskId && (filter.paused ?? record.paused) === record.paused
        ? record
        : null,
    );
  }

  update(id: string, changes: ScheduleChanges, expectedFence: number | undefined): ScheduleRecord | null {
    const entry = this.#byId.get(id);
    if (entry === undefined || (expectedFence !== undefined && entry.record.fence !== expectedFence)) return null;
    this.#countTask(entry.record.taskId, -1);
    Object.assign(entry.record, changes);
    if (changes.metadata !== undefined) entry.record.metadata = frozenCopy(changes.metadata);
    this.#countTask(entry.record.taskId, 1);
    this.#endLease(entry, entry.record.fence + 1);
    return { ...entry.record };
  }

  remove(id: string): boolean {
    const entry = this.#byId.get(id);
    if (entry === undefined) return false;
    this.#byId.delete(id);
    this.#exhausted.delete(entry);
    entry.heap?.remove(entry);
    // Or a repetition of the acquisition that leased it would find it.
    this.#acquisitions.end(entry);
    this.#countTask(entry.record.taskId, -1);
    return true;
  }

  acquire(request: ScheduleAcquisition): ScheduleAcquisitionReport {
    const { now, schedulerId, acquisitionId, until, limit } = request;
    this.endExpiredLeases(now);
    const schedules: ScheduleRecord[] = [];
    const held = this.#acquisitions.heldUnder(acquisitionId).filter(({ record }) => record.acquiredBy === schedulerId);
    for (const entry of held) schedules.push({ ...entry.record });
    // What this acquisition leases is no news to its caller, so the others' leases are looked at without it.
    for (const entry of held) this.#leased.remove(entry);
    const othersLeaseEnd = this.#leased.peek()?.record.acquiredUntil ?? Number.POSITIVE_INFINITY;
    for (const entry of held) this.#leased.push(entry);
    while (schedules.length < limit) {
      const entry = this.#waiting.peek();
      if (entry === undefined || (entry.record.nextFireTime ?? Number.POSITIVE_INFINITY) > now) break;
      this.#waiting.pop();
      entry.record.acquiredBy = schedulerId;
      entry.record.acquiredUntil = until;
      entry.record.fence++;
      this.#acquisitions.begin(acquisitionId, entry);
      this.#place(entry);
      schedules.push({ ...entry.record });
    }
    const nextDueAt = Math.min(this.#waiting.peek()?.record.nextFireTime ?? Number.POSITIVE_INFINITY, othersLeaseEnd);
    return { schedules, nextDueAt: Number.isFinite(nextDueAt) ? nextDueAt : null };
  }

  /** Ends the lease and replaces the fields when the plan's fence still holds. */
  commit(
    plan: {
      scheduleId: string;
      fence: number;
      nextFireTime: number | null;
      lastFireTime: number | null;
      paused: boolean;
    },
    schedulerId: string,
  ): boolean {
    const entry = this.#byId.get(plan.scheduleId);
    if (entry === undefined || entry.record.fence !== plan.fence || entry.record.acquiredBy !== schedulerId)
      return false;
    entry.record.nextFireTime = plan.nextFireTime;
    entry.record.lastFireTime = plan.lastFireTime;
    entry.record.paused = plan.paused;
    this.#endLease(entry, entry.record.fence);
    return true;
  }

  giveUp(schedulerId: string): void {
    for (const entry of this.#byId.values()) {
      if (entry.record.acquiredBy === schedulerId) this.#endLease(entry, entry.record.fence);
    }
  }

  endExpiredLeases(now: number): void {
    for (;;) {
      const entry = this.#leased.peek();
      if (entry === undefined || (entry.record.acquiredUntil ?? 0) > now) return;
      this.#endLease(entry, entry.record.fence);
    }
  }

  /** Removes exhausted, unleased schedules that `isBusy` does not hold back. */
  cleanup(limit: number, isBusy: (scheduleId: string) => boolean): string[] {
    const removed: string[] = [];
    for (const { record } of this.#exhausted) {
      if (removed.length >= limit) break;
      if (record.acquiredBy === null && !isBusy(record.id)) removed.push(record.id);
    }
    for (const id of removed) this.remove(id);
    return removed;
  }

  #addOne({ schedule, conflictPolicy }: ScheduleAddition): {
    change: "added" | "replaced" | "kept";
    schedule: ScheduleRecord;
  } {
    const existing = this.#byId.get(schedule.id);
    if (existing === undefined) {
      const entry: Entry = {
        record: { ...schedule, metadata: frozenCopy(schedule.metadata) },
        acquisitionId: null,
        heap: null,
        heapIndex: -1,
      };
      this.#byId.set(schedule.id, entry);
      this.#countTask(schedule.taskId, 1);
      this.#place(entry);
      return { change: "added", schedule: { ...entry.record } };
    }
    if (conflictPolicy !== "replace") return { change: "kept", schedule: { ...existing.record } };
    const { record } = existing;
    const kept = record.triggerRule === schedule.triggerRule ? record : schedule;
    this.#countTask(record.taskId, -1);
    this.#countTask(schedule.taskId, 1);
    Object.assign(record, {
      ...schedule,
      metadata: frozenCopy(schedule.metadata),
      trigger: kept.trigger,
      nextFireTime: kept.nextFireTime,
      createdAt: record.createdAt,
      lastFireTime: record.lastFireTime,
      fence: record.fence,
    });
    this.#endLease(existing, record.fence + 1);
    return { change: "replaced", schedule: { ...record } };
  }

  #endLease(entry: Entry, fence: number): void {
    entry.heap?.remove(entry);
    entry.record.acquiredBy = null;
    entry.record.acquiredUntil = null;
    entry.record.fence = fence;
    this.#acquisitions.end(entry);
    this.#place(entry);
  }

  /** Puts an entry that is in no heap where it belongs. */
  #place(entry: Entry): void {
    const { acquiredBy, nextFireTime, paused } = entry.record;
    if (nextFireTime === null) this.#exhausted.add(entry);
    else this.#exhausted.delete(entry);
    if (acquiredBy !== null) entry.heap = this.#leased;
    else entry.heap = nextFireTime === null || paused ? null : this.#waiting;
    entry.heap?.push(entry);
  }

  #countTask(taskId: string, change: number): void {
    const sum = (this.#countByTask.get(taskId) ?? 0) + change;
    if (sum === 0) this.#countByTask.delete(taskId);
    else this.#countByTask.set(taskId, sum);
  }
}

function isEarlier(a: Entry, b: Entry): boolean {
  const difference = (a.record.nextFireTime ?? 0) - (b.record.nextFireTime ?? 0);
  return difference !== 0 ? difference < 0 : a.record.id < b.record.id;
}
