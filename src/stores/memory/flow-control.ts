import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { AdmittedJob, TaskPause } from "../data-store.ts";
import { CLOCK_TOLERANCE_MS } from "../shared/limits.ts";
import type { PauseFacts } from "../shared/pauses.ts";
import { isBlockedByLimiter, type JobEntry, KeyLimiter, moveTo, type TaskEntry } from "./entries-of-jobs-and-tasks.ts";
import { FairQueues } from "./rates-and-fairness.ts";
import { SortedList } from "./sorted-list.ts";

/**
 * Flow control of a memory store: the *key limiters* of the jobs that have a concurrency key, or whose task has a rate
 * or is fair. A job that is due is *blocked* until its limiter has *admitted* it. Each change of a limiter costs
 * O(log n), so that a commit costs no more the more jobs are blocked.
 */
export class Flow {
  /** The limiters that can admit a job, now or later. */
  readonly #admitting = new SortedList<KeyLimiter>((a, b) => a.admitsAt - b.admitsAt || a.seq - b.seq);
  /** The limiters without a job, which are forgotten when their buckets have been full for a while. */
  readonly #idle = new SortedList<KeyLimiter>((a, b) => a.bucket.fullAt - b.bucket.fullAt || a.seq - b.seq);
  /** How many jobs are blocked. */
  #blockedCount = 0;
  #commit = 0;
  #admitted: AdmittedJob[] = [];
  /** The latest present that may have taken a token. */
  #now = Number.NEGATIVE_INFINITY;
  #seq = 0;

  get hasBlocked(): boolean {
    return this.#blockedCount > 0;
  }

  /** When the next job can be admitted; infinite for never. */
  get admitsAt(): number {
    return this.#admitting.first?.admitsAt ?? Number.POSITIVE_INFINITY;
  }

  beginCommit(): void {
    this.#commit++;
    this.#admitted = [];
  }

  /** The jobs that the commit has admitted and that were blocked before the commit. */
  get admitted(): readonly AdmittedJob[] {
    return this.#admitted;
  }

  /** Empties the buckets from which a clock took tokens that is far ahead of this present. */
  followClock(now: number, tasks: Iterable<TaskEntry>): void {
    const isBehind = now < this.#now - CLOCK_TOLERANCE_MS;
    if (isBehind || now > this.#now) this.#now = now;
    if (!isBehind) return;
    for (const { record, limiters } of tasks) {
      const rate = record?.rateLimit;
      if (rate === undefined) continue;
      for (const limiter of limiters.values()) this.#change(limiter, () => limiter.bucket.followClock(now, rate));
    }
  }

  /** Replaces the record of a task. Returns whether its limits changed: then its jobs have to leave their limiters, and
   *  to join them again. A rate that differs from the one before begins with full buckets. */
  configure(task: TaskEntry, record: TaskRecord): boolean {
    const { record: before, limiters } = task;
    const isOtherRate = textOf(before?.rateLimit) !== textOf(record.rateLimit);
    const isSame = before?.maxRunningPerKey === record.maxRunningPerKey && isFair(before) === isFair(record);
    task.record = record;
    if (isSame && !isOtherRate) return false;
    task.fairQueues = new FairQueues();
    for (const limiter of [...limiters.values()]) {
      this.#change(limiter, () => {
        if (isOtherRate) limiter.bucket.fill();
      });
    }
    return true;
  }

  /** Forgets the limiters of a task that has no jobs. */
  removeTask({ limiters }: TaskEntry): void {
    for (const limiter of limiters.values()) limiter.list?.delete(limiter);
    limiters.clear();
  }

  /** Applies a pause of a task or of a key, or its end. The caller has changed the task's record. */
  pause(task: TaskEntry, key: string | null, pause: PauseFacts | null): void {
    const isPaused = pause !== null;
    if (key !== null) this.#limiterOf(task, key).pause = pause;
    const changed = key === null ? [...task.limiters.values()] : [this.#limiterOf(task, key)];
    for (const limiter of changed) {
      if (isPaused) for (const entry of [...limiter.admitted.from()]) this.block(entry);
      this.#settle(limiter);
    }
  }

  /** Finds the limiter of an unfinished job, which is in no list, or waits for its `runAt`, or is under a lease. */
  join(entry: JobEntry): void {
    const { record, task } = entry;
    if (!needsAdmission(task.record, record)) return;
    const limiter = this.#limiterOf(task, record.concurrencyKey ?? "");
    entry.limiter = limiter;
    limiter.jobCount++;
    if (record.acquiredBy !== null) limiter.leasedCount++;
    this.#settle(limiter);
  }

  /** Takes a job away from its limiter: the job has ended, or is to join again. A job that was blocked, or admitted, is
   *  in no list then. */
  leave(entry: JobEntry): void {
    const { limiter } = entry;
    if (limiter === null) return;
    this.#unblock(entry);
    this.#unadmit(entry);
    if (entry.record.acquiredBy !== null) limiter.leasedCount--;
    limiter.jobCount--;
    entry.limiter = null;
    this.#settle(limiter);
  }

  /** Blocks a job that is due. */
  block(entry: JobEntry): void {
    const { limiter } = entry;
    if (limiter === null) return;
    this.#unadmit(entry);
    moveTo(limiter.blocked, entry);
    entry.blockedIn = this.#commit;
    entry.task.blockedCount++;
    this.#blockedCount++;
    this.#settle(limiter);
  }

  /** Admits the next job, which the caller must make ready; null for none. If there is no room for a job that is more
   *  urgent than one that was admitted, the one takes the place of the other. */
  admitNext(now: number): JobEntry | null {
    const limiter = this.#admitting.first;
    if (limiter === undefined || limiter.admitsAt > now) {
      this.#forgetIdle(now);
      return null;
    }
    const leastUrgent = limiter.admitted.last;
    if (leastUrgent !== undefined && limiter.isInverted() && limiter.roomAt() > now) this.block(leastUrgent);
    const entry = limiter.blocked.first;
    if (entry === undefined) return null;
    this.#unblock(entry);
    const { key, task, admitted } = limiter;
    const { priority } = entry.record;
    if (isFair(task.record)) {
      const others = [...admitted.from()].filter((other) => other.record.priority === priority);
      const times = others.map((other) => other.virtualTime ?? Number.NEGATIVE_INFINITY);
      entry.virtualTime = task.fairQueues.give(key, priority, times);
    }
    entry.isAdmitted = true;
    admitted.add(entry);
    if (entry.blockedIn < this.#commit) this.#admitted.push(admittedJob(entry.record));
    this.#settle(limiter);
    return entry;
  }

  /** An admitted job was leased. */
  leased(entry: JobEntry, now: number): void {
    const { limiter, virtualTime } = entry;
    if (limiter === null) return;
    const { key, task } = limiter;
    this.#unadmit(entry);
    limiter.leasedCount++;
    if (virtualTime !== null) task.fairQueues.take(key, entry.record.priority, virtualTime);
    if (task.record?.rateLimit !== undefined) limiter.bucket.take(now, task.record.rateLimit);
    this.#settle(limiter);
  }

  /** The lease on a job has ended. */
  leaseEnded({ limiter }: JobEntry): void {
    if (limiter === null) return;
    limiter.leasedCount--;
    this.#settle(limiter);
  }

  #unblock(entry: JobEntry): void {
    if (!isBlockedByLimiter(entry)) return;
    moveTo(null, entry);
    entry.task.blockedCount--;
    this.#blockedCount--;
  }

  #unadmit(entry: JobEntry): void {
    if (!entry.isAdmitted) return;
    entry.limiter?.admitted.delete(entry);
    entry.isAdmitted = false;
    if (entry.record.acquiredBy === null) moveTo(null, entry);
    entry.virtualTime = null;
  }

  #limiterOf(task: TaskEntry, key: string): KeyLimiter {
    let limiter = task.limiters.get(key);
    if (limiter === undefined) {
      limiter = new KeyLimiter(task, key, this.#seq++);
      task.limiters.set(key, limiter);
    }
    return limiter;
  }

  /** Changes what a place in a list depends on. */
  #change(limiter: KeyLimiter, change: () => void): void {
    this.#moveTo(null, limiter);
    limiter.admitsAt = Number.POSITIVE_INFINITY;
    change();
    this.#settle(limiter);
  }

  /** Puts a limiter into the list where it belongs after a change. */
  #settle(limiter: KeyLimiter): void {
    const admitsAt = limiter.nextAdmission();
    const isIdle = limiter.jobCount === 0 && !limiter.isPaused;
    if (admitsAt === limiter.admitsAt && limiter.list !== this.#idle && !isIdle) return;
    this.#moveTo(null, limiter);
    limiter.admitsAt = admitsAt;
    if (admitsAt !== Number.POSITIVE_INFINITY) this.#moveTo(this.#admitting, limiter);
    else if (isIdle && limiter.task.record?.rateLimit !== undefined) this.#moveTo(this.#idle, limiter);
    else if (isIdle) this.#forget(limiter);
  }

  #moveTo(list: SortedList<KeyLimiter> | null, limiter: KeyLimiter): void {
    limiter.list?.delete(limiter);
    limiter.list = list;
    list?.add(limiter);
  }

  #forgetIdle(now: number): void {
    for (let limiter = this.#idle.first; limiter !== undefined; limiter = this.#idle.first) {
      if (limiter.bucket.fullAt > now - CLOCK_TOLERANCE_MS) return;
      this.#moveTo(null, limiter);
      this.#forget(limiter);
    }
  }

  #forget({ task, key }: KeyLimiter): void {
    task.limiters.delete(key);
    if (task.limiters.size === 0) task.fairQueues = new FairQueues();
    else task.fairQueues.forget(key);
  }
}

/** The keys of a task that are paused. */
export function pausedKeys({ id: taskId, limiters }: TaskEntry): TaskPause[] {
  return [...limiters.values()].flatMap(({ key, pause }) => (pause === null ? [] : { taskId, key, ...pause }));
}

function needsAdmission(task: TaskRecord | null, { concurrencyKey }: JobRecord): boolean {
  return concurrencyKey !== undefined || task?.rateLimit !== undefined || isFair(task);
}

function isFair(task: TaskRecord | null): boolean {
  return task?.fair === true;
}

function textOf(rate: TaskRecord["rateLimit"]): string {
  return rate === undefined ? "" : `${rate.limit} ${rate.perMs} ${rate.burst}`;
}

export function admittedJob({ id: jobId, taskId, scheduleId, concurrencyKey }: JobRecord): AdmittedJob {
  return { jobId, taskId, scheduleId, ...(concurrencyKey === undefined ? {} : { concurrencyKey }) };
}
