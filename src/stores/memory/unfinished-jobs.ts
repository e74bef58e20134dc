import { orderKey } from "../../core/text.ts";
import { isMadeByPlan } from "../../records/backfill.ts";
import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import { isMissed, type JobEntry, newTaskEntry, recordOf, type TaskEntry } from "./entries-of-jobs-and-tasks.ts";
import { RecentIds } from "./recent-ids.ts";
import { SortedList } from "./sorted-list.ts";

/** The unfinished jobs of a memory store, the tasks that they belong to, and the ways to find both. */
export class Jobs {
  /** The tasks that were put, and those that unfinished jobs belong to. */
  readonly tasks: Map<string, TaskEntry> = new Map();
  /** The jobs that may be overdue, the earliest `overdueAt` first. */
  readonly toWatch: SortedList<JobEntry> = new SortedList(
    (a, b) => (a.overdueAt ?? 0) - (b.overdueAt ?? 0) || a.seq - b.seq,
  );
  /** The jobs that wait and may miss their start, the earliest `startDeadline` first. */
  readonly #toStart = new SortedList<JobEntry>(
    (a, b) => (a.record.startDeadline ?? 0) - (b.record.startDeadline ?? 0) || a.seq - b.seq,
  );
  /** Null for a job that ended without a result a while ago, so that a repeated addition does not run it again. */
  readonly #byId = new Map<string, JobEntry | null>();
  readonly #endedIds = new RecentIds();
  readonly #byKey = new Map<string, JobEntry>();
  /** By schedule, then fire time, or id for jobs without a fire time. A job alone, as most are, has no costly Map. */
  readonly #bySchedule = new Map<string, JobEntry | Map<number | string, JobEntry>>();
  /** Whether somebody has listed jobs. From then on, each task has its jobs by id. */
  #isListed = false;
  #seq = 0;

  find(id: string): JobEntry | undefined {
    return this.#byId.get(id) ?? undefined;
  }

  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  /** Whether the job is unfinished, or has ended without a result, as far as the store remembers. */
  knows(id: string): boolean {
    return this.#byId.has(id);
  }

  /** A copy of the job's record. */
  get(id: string): JobRecord | null {
    const entry = this.find(id);
    return entry === undefined ? null : recordOf(entry);
  }

  /** Whether the entry is that of an unfinished job. */
  holds(entry: JobEntry): boolean {
    return this.#byId.get(entry.record.id) === entry;
  }

  *all(): Generator<JobEntry, void, undefined> {
    for (const entry of this.#byId.values()) if (entry !== null) yield entry;
  }

  /** The jobs of a task, by id. They are put into this order when somebody lists jobs for the first time, because most
   *  programs never do. */
  ofTask(task: TaskEntry): SortedList<JobEntry> {
    if (!this.#isListed) for (const entry of this.all()) addToList(entry);
    // Each start of a scheduler lists the jobs of a store that mostly is empty.
    this.#isListed ||= this.#byId.size > 0;
    return task.jobs;
  }

  /** The entry of a task, which is made for a task that the store does not know. */
  taskOf(id: string): TaskEntry {
    let task = this.tasks.get(id);
    if (task === undefined) {
      task = newTaskEntry(id);
      this.tasks.set(id, task);
    }
    return task;
  }

  /** The record of a task that was put. */
  taskRecord(id: string): TaskRecord | undefined {
    return this.tasks.get(id)?.record ?? undefined;
  }

  /** The existing job that keeps another one from being added, because both have the same key or fire time. */
  existingJob({ idempotencyKey, taskId, scheduleId, fireTime, createdAt }: JobRecord): JobEntry | undefined {
    if (idempotencyKey !== null) {
      const holder = this.#byKey.get(nameOfKey(taskId, idempotencyKey));
      if (holder !== undefined && !isMissed(holder, createdAt)) return holder;
    }
    return scheduleId === null || fireTime === null ? undefined : this.atFireTime(scheduleId, fireTime);
  }

  /** The job that has the fire time: the schedule made it, or it repeats such a job. */
  atFireTime(scheduleId: string, fireTime: number): JobEntry | undefined {
    const found = this.#bySchedule.get(scheduleId);
    if (found instanceof Map) return found.get(fireTime);
    return found?.record.fireTime === fireTime ? found : undefined;
  }

  /** The job that the schedule made for a fire time. */
  madeAt(scheduleId: string, fireTime: number): JobEntry | undefined {
    const entry = this.atFireTime(scheduleId, fireTime);
    return entry !== undefined && isMadeByPlan(entry.record) ? entry : undefined;
  }

  hasJobsOf(scheduleId: string): boolean {
    return this.#bySchedule.has(scheduleId);
  }

  ofSchedule(scheduleId: string): Iterable<JobEntry> {
    const found = this.#bySchedule.get(scheduleId);
    if (found instanceof Map) return found.values();
    return found === undefined ? [] : [found];
  }

  /** Gives the jobs of a schedule to another id, which has none with the same fire time. */
  renameSchedule(from: string, to: string): void {
    const moving = this.#bySchedule.get(from);
    if (moving === undefined || this.#bySchedule.has(to)) return;
    for (const { record } of this.ofSchedule(from)) record.scheduleId = to;
    this.#bySchedule.delete(from);
    this.#bySchedule.set(to, moving);
  }

  /** The jobs that fire times of the schedule made and that have not missed their start, the earliest fire time first.
   *  A job that repeats another one has its fire time too, as has one of a backfill, but somebody asked for it. */
  madeBy(scheduleId: string, now: number): JobEntry[] {
    return [...this.ofSchedule(scheduleId)]
      .filter((entry) => isMadeByPlan(entry.record) && !isMissed(entry, now))
      .sort((a, b) => (a.record.fireTime ?? 0) - (b.record.fireTime ?? 0));
  }

  /** Since when the first job that misses its turn waits, see {@link missedOf}; null for none. */
  missedSince(scheduleId: string, now: number): number | null {
    let first: JobRecord | null = null;
    for (const entry of this.ofSchedule(scheduleId)) {
      const { record } = entry;
      if (!isMadeByPlan(record)) continue;
      if (record.acquiredBy !== null) return null;
      if (!isDueUnstarted(entry, now)) continue;
      if (first === null || (record.fireTime ?? 0) < (first.fireTime ?? 0)) first = record;
    }
    return first?.runAt ?? null;
  }

  /** The jobs of fire times up to one that wait for their first start although they are due, by fire time; none while a
   *  job of the schedule is under a lease, because then they wait for their turn. */
  missedOf(scheduleId: string, until: number, now: number): JobEntry[] {
    if (this.missedSince(scheduleId, now) === null) return [];
    return this.madeBy(scheduleId, now).filter(
      (entry) => isDueUnstarted(entry, now) && (entry.record.fireTime ?? until) <= until,
    );
  }

  /** Changes when the job may be overdue. */
  watchAt(entry: JobEntry, overdueAt: number | null): void {
    if (entry.overdueAt !== null) this.toWatch.delete(entry);
    entry.overdueAt = overdueAt;
    if (overdueAt !== null) this.toWatch.add(entry);
  }

  /** The job begins, or ceases, to wait by its `startDeadline`. */
  setWaiting(entry: JobEntry, isWaiting: boolean): void {
    const { startDeadline, failedAttempts, startedFence } = entry.record;
    // Nearly no job has one.
    if (startDeadline === null) return;
    if (!isWaiting) this.#toStart.delete(entry);
    else if (failedAttempts === 0 && startedFence === 0) this.#toStart.add(entry);
  }

  /** The job with the earliest `startDeadline` of those that wait. */
  get nextToStart(): JobEntry | undefined {
    return this.#toStart.first;
  }

  insert(record: JobRecord): JobEntry {
    const { id, taskId, scheduleId, fireTime, idempotencyKey } = record;
    const task = this.taskOf(taskId);
    const entry: JobEntry = {
      record,
      orderKey: "",
      task,
      seq: this.#seq++,
      list: null,
      commitId: null,
      leaseSeq: 0,
      limiter: null,
      isAdmitted: false,
      blockedIn: 0,
      virtualTime: null,
      parents: null,
      overdueAt: null,
    };
    this.#byId.set(id, entry);
    task.jobCount++;
    if (this.#isListed) addToList(entry);
    if (idempotencyKey !== null) this.#byKey.set(nameOfKey(taskId, idempotencyKey), entry);
    if (scheduleId !== null) {
      const others = this.#bySchedule.get(scheduleId);
      if (others === undefined) this.#bySchedule.set(scheduleId, entry);
      else if (others instanceof Map) others.set(fireTime ?? id, entry);
      else this.#bySchedule.set(scheduleId, new Map([others, entry].map((one) => [placeOf(one), one])));
    }
    this.setWaiting(entry, true);
    return entry;
  }

  /** @param endedAt when the job ended, if it leaves no result and its id is to be remembered */
  remove(entry: JobEntry, endedAt: number | null): void {
    const { id, taskId, scheduleId, fireTime, idempotencyKey } = entry.record;
    if (endedAt === null) this.#byId.delete(id);
    else this.#remember(id, endedAt);
    entry.task.jobCount--;
    if (this.#isListed) entry.task.jobs.delete(entry);
    this.forgetTask(entry.task);
    if (entry.overdueAt !== null) this.watchAt(entry, null);
    this.setWaiting(entry, false);
    if (idempotencyKey !== null) {
      // Another job has the key of one that missed its start.
      const name = nameOfKey(taskId, idempotencyKey);
      if (this.#byKey.get(name) === entry) this.#byKey.delete(name);
    }
    if (scheduleId === null) return;
    const others = this.#bySchedule.get(scheduleId);
    if (others instanceof Map) others.delete(fireTime ?? id);
    const isLast = others instanceof Map ? others.size === 0 : others === entry;
    if (isLast) this.#bySchedule.delete(scheduleId);
  }

  #remember(id: string, now: number): void {
    this.#byId.set(id, null);
    for (const oldId of this.#endedIds.add(id, now)) {
      // A job that was added anew has an entry.
      if (this.#byId.get(oldId) === null) this.#byId.delete(oldId);
    }
  }

  /** Forgets a task of which nothing is to be remembered. */
  forgetTask({ id, record, maxRunningJobs, jobCount, limiters }: TaskEntry): void {
    if (record === null && maxRunningJobs === null && jobCount === 0 && limiters.size === 0) this.tasks.delete(id);
  }
}

/** What a job is found by among those of its schedule. */
function placeOf({ record: { id, fireTime } }: JobEntry): number | string {
  return fireTime ?? id;
}

function addToList(entry: JobEntry): void {
  entry.orderKey = orderKey(entry.record.id);
  entry.task.jobs.add(entry);
}

/** No key has a NUL character. */
function nameOfKey(taskId: string, key: string): string {
  return `${key}\0${taskId}`;
}

function isDueUnstarted(entry: JobEntry, now: number): boolean {
  const { acquiredBy, runAt, failedAttempts, recoveries, startedFence } = entry.record;
  const isUnstarted = acquiredBy === null && failedAttempts === 0 && recoveries === 0 && startedFence === 0;
  return isUnstarted && runAt <= now && !isMissed(entry, now);
}
