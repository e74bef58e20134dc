import type { Mutable } from "../../core/mutable.ts";
import { compareKeys } from "../../core/text.ts";
import { hasMissedStart, type JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { PauseFacts } from "../shared/pauses.ts";
import { TURNS_AHEAD_MAX } from "./limits.ts";
import { FairQueues, TokenBucket } from "./rates-and-fairness.ts";
import { SortedList } from "./sorted-list.ts";

// What a memory store knows of jobs, tasks and keys. An *entry* is a record and what belongs to it. A *key limiter* has
// the jobs of one concurrency key of a task, or those of a task without a key: they are *blocked* until the limiter has
// *admitted* them. All three are here, because each knows the others.

export interface JobEntry {
  readonly record: Mutable<JobRecord>;
  /** Stands for the id where jobs are in its order; empty until somebody lists jobs. */
  orderKey: string;
  readonly task: TaskEntry;
  /** Counts up with every addition. */
  readonly seq: number;
  /** The list that holds the entry: jobs that are delayed, blocked, ready or leased. Null for a job that waits for its
   *  parents. */
  list: SortedList<JobEntry> | null;
  /** Id of the commit that leased the job, or put it back. */
  commitId: string | null;
  /** Counts up with every lease of the store. */
  leaseSeq: number;
  /** Null for a job that needs no admission. */
  limiter: KeyLimiter | null;
  isAdmitted: boolean;
  /** The commit in which the job was last blocked; commits count up. */
  blockedIn: number;
  /** Where the job of a fair task stands among those of its priority; null for its `runAt`. See {@link FairQueues}. */
  virtualTime: number | null;
  /** The parents that have not ended; null for a job that does not wait for parents. */
  parents: Set<string> | null;
  /** When the job may be overdue; null for never. */
  overdueAt: number | null;
}

export interface TaskEntry {
  readonly id: string;
  /** Null for a task that was never put, or that was removed. */
  record: TaskRecord | null;
  /** The `maxRunningJobs` of the record, which outlives it. */
  maxRunningJobs: number | null;
  /** The unfinished jobs, by id; none until somebody lists jobs. See `Jobs.ofTask`. */
  readonly jobs: SortedList<JobEntry>;
  /** How many unfinished jobs the task has. */
  jobCount: number;
  /** The jobs that can be acquired, by executor. */
  readonly ready: Map<string, SortedList<JobEntry>>;
  /** How many jobs are under a lease. */
  leasedCount: number;
  /** How many jobs are blocked, or wait for their parents. */
  blockedCount: number;
  readonly limiters: Map<string, KeyLimiter>;
  fairQueues: FairQueues;
}

export function newTaskEntry(id: string): TaskEntry {
  return {
    id,
    record: null,
    maxRunningJobs: null,
    jobs: new SortedList<JobEntry>(inOrderOfIds),
    jobCount: 0,
    ready: new Map(),
    leasedCount: 0,
    blockedCount: 0,
    limiters: new Map(),
    fairQueues: new FairQueues(),
  };
}

/** How many more jobs of a task may be leased. */
export function freeSlots({ record, maxRunningJobs, leasedCount }: TaskEntry): number {
  if (record?.paused === true) return 0;
  return maxRunningJobs === null ? Number.POSITIVE_INFINITY : maxRunningJobs - leasedCount;
}

export class KeyLimiter {
  readonly task: TaskEntry;
  /** Empty for the jobs without a key. */
  readonly key: string;
  /** Counts up with every limiter. */
  readonly seq: number;
  /** The jobs that are due and not admitted, in the order of their admission. */
  readonly blocked: SortedList<JobEntry> = new SortedList(inOrderOfAcquisition);
  /** The jobs that are admitted and wait to be acquired. */
  readonly admitted: SortedList<JobEntry> = new SortedList(inOrderOfAcquisition);
  readonly bucket: TokenBucket = new TokenBucket();
  /** What was said of the pause of the key; null while it is not paused. */
  pause: PauseFacts | null = null;
  /** How many unfinished jobs the key has, and how many of these are under a lease. */
  jobCount = 0;
  leasedCount = 0;
  /** When the limiter can admit the next job, as it was last computed; infinite for never. */
  admitsAt: number = Number.POSITIVE_INFINITY;
  /** The list that holds the limiter: of those that will admit a job, or of those without a job. */
  list: SortedList<KeyLimiter> | null = null;

  constructor(task: TaskEntry, key: string, seq: number) {
    this.task = task;
    this.key = key;
    this.seq = seq;
  }

  get isPaused(): boolean {
    return this.pause !== null;
  }

  get admittedCount(): number {
    return this.admitted.size;
  }

  /** When the limiter can admit the next job, if nothing else changes. */
  nextAdmission(): number {
    if (this.blocked.size === 0 || this.isPaused || this.task.record?.paused === true) return Number.POSITIVE_INFINITY;
    return this.isInverted() ? Number.NEGATIVE_INFINITY : this.roomAt();
  }

  /** Whether an admitted job waits that is less urgent than a blocked one. */
  isInverted(): boolean {
    const [blocked, admitted] = [this.blocked.first, this.admitted.last];
    return blocked !== undefined && admitted !== undefined && blocked.record.priority > admitted.record.priority;
  }

  /** When there is room for one more admitted job, if nothing else changes. */
  roomAt(): number {
    const { task, admittedCount } = this;
    const { maxRunningPerKey = Number.POSITIVE_INFINITY, rateLimit, fair } = task.record ?? {};
    const isFull = this.key !== "" && admittedCount + this.leasedCount >= maxRunningPerKey;
    if (isFull || (fair === true && admittedCount >= TURNS_AHEAD_MAX)) return Number.POSITIVE_INFINITY;
    return rateLimit === undefined ? Number.NEGATIVE_INFINITY : this.bucket.timeOf(admittedCount + 1, rateLimit);
  }
}

/** Whether the limiter of a job blocks the job. */
export function isBlockedByLimiter({ limiter, list }: JobEntry): boolean {
  return limiter !== null && list === limiter.blocked;
}

export function isBlocked(entry: JobEntry): boolean {
  return entry.parents !== null || isBlockedByLimiter(entry);
}

/** A copy of the job's record, which tells whether the job is blocked. */
export function recordOf(entry: JobEntry): JobRecord {
  if (!isBlocked(entry)) return { ...entry.record };
  return { ...entry.record, blockedBy: entry.parents === null ? "limit" : "parents" };
}

/** Whether a job that waits has missed its `startDeadline`, and counts as ended. */
export function isMissed({ record }: JobEntry, now: number): boolean {
  return record.acquiredBy === null && hasMissedStart(record, now);
}

/** Moves a job from the list that holds it to another one. */
export function moveTo(list: SortedList<JobEntry> | null, entry: JobEntry): void {
  entry.list?.delete(entry);
  entry.list = list;
  list?.add(entry);
}

/** Priority (higher first), virtual time or `runAt`, addition. */
export function inOrderOfAcquisition(a: JobEntry, b: JobEntry): number {
  return (
    b.record.priority - a.record.priority ||
    (a.virtualTime ?? a.record.runAt) - (b.virtualTime ?? b.record.runAt) ||
    a.seq - b.seq
  );
}

/** The order of entries by id. */
export function inOrderOfIds(a: { readonly orderKey: string }, b: { readonly orderKey: string }): number {
  return compareKeys(a.orderKey, b.orderKey);
}
