import type { JobRecord } from "../../records/job.ts";
import { isMissed, type JobEntry } from "./gate.ts";
import { recordOf } from "./gates.ts";
import { JobsOfSchedules } from "./jobs-of-schedules.ts";
import { countIn } from "./queues.ts";
import { SortedList } from "./sorted-list.ts";

/** The unfinished jobs of a `MemoryDataStore`, and the ways to find them. */
export class JobTable {
  readonly ofSchedules: JobsOfSchedules = new JobsOfSchedules();
  /** The jobs that have an `alarmAt`, the earliest first. */
  readonly toAlarm: SortedList<JobEntry> = new SortedList(inOrderOfAlarms);
  /** The jobs that wait and may miss their start, the earliest `startDeadline` first. */
  readonly #toStart = new SortedList<JobEntry>(inOrderOfDeadlines);
  readonly #byId = new Map<string, JobEntry>();
  readonly #byKey = new Map<string, JobEntry>();
  readonly #byFireTime = new Map<string, JobEntry>();
  readonly #countByTask = new Map<string, number>();
  #seq = 0;

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  find(id: string): JobEntry | undefined {
    return this.#byId.get(id);
  }

  /** A copy of the job's record. */
  get(id: string): JobRecord | null {
    const entry = this.#byId.get(id);
    return entry === undefined ? null : recordOf(entry);
  }

  /** In the order of addition. */
  all(): Iterable<JobEntry> {
    return this.#byId.values();
  }

  /** Whether the entry is one of the table, and was not removed. */
  holds(entry: JobEntry): boolean {
    return this.#byId.get(entry.record.id) === entry;
  }

  /** How many jobs each task has; a task without jobs is left out. */
  get countByTask(): ReadonlyMap<string, number> {
    return this.#countByTask;
  }

  /** The job that keeps another one from being added, because both have the same key or fire time. */
  rivalOf({ idempotencyKey, taskId, scheduleId, fireTime, createdAt }: JobRecord): JobEntry | undefined {
    const holder = idempotencyKey === null ? undefined : this.#byKey.get(idempotencyOf(idempotencyKey, taskId));
    return (
      (holder === undefined || isMissed(holder, createdAt) ? undefined : holder) ??
      (scheduleId === null || fireTime === null ? undefined : this.#byFireTime.get(fireKey(fireTime, scheduleId)))
    );
  }

  hasFireTime(fireTime: number, scheduleId: string): boolean {
    return this.#byFireTime.has(fireKey(fireTime, scheduleId));
  }

  /** A copy of the record of the job that a fire time made. */
  ofFireTime(scheduleId: string, fireTime: number): JobRecord | null {
    const entry = this.fired(scheduleId, fireTime);
    return entry === undefined ? null : recordOf(entry);
  }

  /** The entry of the job that a fire time made. */
  fired(scheduleId: string, fireTime: number): JobEntry | undefined {
    const entry = this.#byFireTime.get(fireKey(fireTime, scheduleId));
    return entry?.record.retryOf === undefined ? entry : undefined;
  }

  /** Changes when somebody looks whether the job is overdue. */
  setAlarm(entry: JobEntry, alarmAt: number | null): void {
    if (entry.alarmAt !== null) this.toAlarm.remove(entry);
    entry.alarmAt = alarmAt;
    if (alarmAt !== null) this.toAlarm.add(entry);
  }

  /** The job waits, or no longer waits, to start by its `startDeadline`. */
  setWaiting(entry: JobEntry, isWaiting: boolean): void {
    const { startDeadline, failedAttempts, startedFence } = entry.record;
    // Nearly no job has one.
    if (startDeadline === null) return;
    if (!isWaiting) this.#toStart.remove(entry);
    else if (failedAttempts === 0 && startedFence === 0) this.#toStart.add(entry);
  }

  /** The first of the jobs that wait by their `startDeadline`. */
  nextToStart(): JobEntry | undefined {
    return this.#toStart.first;
  }

  insert(record: JobRecord): JobEntry {
    const seq = this.#seq++;
    const entry: JobEntry = {
      record,
      seq,
      stamp: null,
      gate: null,
      isPromoted: false,
      heldIn: 0,
      turn: null,
      heap: null,
      heapIndex: -1,
      older: null,
      newer: null,
      alarmAt: null,
    };
    this.#byId.set(record.id, entry);
    if (record.idempotencyKey !== null) this.#byKey.set(idempotencyOf(record.idempotencyKey, record.taskId), entry);
    if (record.scheduleId !== null) {
      if (record.fireTime !== null) this.#byFireTime.set(fireKey(record.fireTime, record.scheduleId), entry);
      this.ofSchedules.add(record.scheduleId, entry);
    }
    countIn(this.#countByTask, record.taskId, 1);
    this.setWaiting(entry, true);
    return entry;
  }

  remove(entry: JobEntry): void {
    const { record } = entry;
    this.#byId.delete(record.id);
    this.setAlarm(entry, null);
    this.setWaiting(entry, false);
    if (record.idempotencyKey !== null) {
      // Another job has the key of one that missed its start.
      const key = idempotencyOf(record.idempotencyKey, record.taskId);
      if (this.#byKey.get(key) === entry) this.#byKey.delete(key);
    }
    if (record.scheduleId !== null) {
      if (record.fireTime !== null) this.#byFireTime.delete(fireKey(record.fireTime, record.scheduleId));
      this.ofSchedules.remove(record.scheduleId, entry);
    }
    countIn(this.#countByTask, record.taskId, -1);
  }
}

function inOrderOfAlarms(a: JobEntry, b: JobEntry): number {
  return (a.alarmAt ?? 0) - (b.alarmAt ?? 0) || a.seq - b.seq;
}

function inOrderOfDeadlines(a: JobEntry, b: JobEntry): number {
  return (a.record.startDeadline ?? 0) - (b.record.startDeadline ?? 0) || a.seq - b.seq;
}

/** No key has a NUL character. */
function idempotencyOf(key: string, taskId: string): string {
  return `${key}\0${taskId}`;
}

function fireKey(fireTime: number, scheduleId: string): string {
  return `${fireTime} ${scheduleId}`;
}
