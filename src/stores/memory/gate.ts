import { Heap, type HeapItem } from "../../core/heap.ts";
import { TURNS_AHEAD_MAX } from "../../core/limits.ts";
import { hasMissedStart, type JobRecord } from "../../records/job.ts";
import type { RateLimit } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { Stamped } from "./steps.ts";
import type { Mutable } from "./tables.ts";
import { TokenBucket } from "./token-bucket.ts";
import { Turns } from "./turns.ts";

// An entry knows its gate, and a gate its entries, so that both are here.

/** A job as a `MemoryDataStore` keeps it. */
export interface JobEntry extends HeapItem, Stamped {
  readonly record: Mutable<JobRecord>;
  /** Counts up with every addition. */
  readonly seq: number;
  /** The gate of the job's concurrency key; null for a job that needs no admission. */
  gate: Gate | null;
  /** Whether the gate has promoted the job, which waits to be acquired. */
  isPromoted: boolean;
  /** The step in which the job was last held; that of the gates counts up. */
  heldIn: number;
  /** Where the job stands among those of its priority, if not at its `runAt` (see `Turns`). */
  turn: number | null;
  /** The heap that holds the entry; null before the first one. */
  heap: Heap<JobEntry> | null;
  /** The neighbours among the unfinished jobs of its schedule, in the order of addition. */
  older: JobEntry | null;
  newer: JobEntry | null;
  /** When somebody has to look whether the job is overdue, in epoch milliseconds; null for never. */
  alarmAt: number | null;
}

/** The settings of a task that its gates heed. */
export type GateSettings = Pick<TaskRecord, "maxRunningPerKey" | "rateLimit" | "fair">;

/** A task with gates, or with settings for gates. */
export class GatedTask {
  readonly id: string;
  readonly gates: Map<string, Gate> = new Map();
  maxRunningPerKey: number = Number.POSITIVE_INFINITY;
  rate: RateLimit | null = null;
  /** Null for a task that is not fair. */
  turns: Turns | null = null;
  isPaused = false;
  /** How many jobs the gates hold. */
  heldCount = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** Whether jobs without a key need admission. */
  get hasOwnKey(): boolean {
    return this.rate !== null || this.turns !== null;
  }

  get isPlain(): boolean {
    return !this.hasOwnKey && !this.isPaused && this.maxRunningPerKey === Number.POSITIVE_INFINITY;
  }

  has({ maxRunningPerKey = Number.POSITIVE_INFINITY, rateLimit, fair = false }: GateSettings): boolean {
    return this.maxRunningPerKey === maxRunningPerKey && this.#hasRate(rateLimit) && (this.turns !== null) === fair;
  }

  /** A rate that differs from the one before begins with full buckets. */
  configure({ maxRunningPerKey = Number.POSITIVE_INFINITY, rateLimit, fair = false }: GateSettings): void {
    if (!this.#hasRate(rateLimit)) for (const gate of this.gates.values()) gate.bucket.fill();
    this.maxRunningPerKey = maxRunningPerKey;
    this.rate = rateLimit ?? null;
    this.turns = fair ? new Turns() : null;
  }

  #hasRate(rate: RateLimit | undefined): boolean {
    const { limit, perMs, burst } = this.rate ?? {};
    return limit === rate?.limit && perMs === rate?.perMs && burst === rate?.burst;
  }
}

/** Admits the jobs of one concurrency key of a task, so that no acquisition reads a job that may not run yet. */
export class Gate implements HeapItem {
  readonly task: GatedTask;
  /** Empty for the jobs without a key. */
  readonly key: string;
  /** The jobs that are due and not promoted, in the order of their promotion. */
  readonly held: Heap<JobEntry> = new Heap<JobEntry>(isFirst);
  /** The jobs that are promoted and wait, by priority. */
  readonly promoted: Map<number, Set<JobEntry>> = new Map();
  readonly bucket: TokenBucket = new TokenBucket();
  isPaused = false;
  /** The unfinished jobs of the key; those that are promoted and wait; those under leases. */
  jobCount = 0;
  promotedCount = 0;
  leasedCount = 0;
  /** When the next job can be promoted, if nothing else changes; infinite for never. */
  wakeAt: number = Number.POSITIVE_INFINITY;
  /** The heap that holds the gate: of those that have something to do, or of those that may be forgotten. */
  heap: Heap<Gate> | null = null;
  heapIndex = -1;

  constructor(task: GatedTask, key: string) {
    this.task = task;
    this.key = key;
  }

  /** What {@link Gate.wakeAt} has to be. */
  nextWakeAt(): number {
    if (this.held.size === 0 || this.isPaused || this.task.isPaused) return Number.POSITIVE_INFINITY;
    return this.isInverted() ? Number.NEGATIVE_INFINITY : this.roomAt();
  }

  /** Whether a promoted job waits that is less urgent than a held one. */
  isInverted(): boolean {
    const first = this.promoted.size === 0 ? undefined : this.held.peek();
    return first !== undefined && lowestOf(this.promoted) < first.record.priority;
  }

  /** The promoted job that is to make room for a more urgent one: the last one of the lowest priority. */
  get leastUrgent(): JobEntry | null {
    let last: JobEntry | null = null;
    for (const entry of this.promoted.get(lowestOf(this.promoted)) ?? []) {
      if (last === null || isFirst(last, entry)) last = entry;
    }
    return last;
  }

  addPromoted(entry: JobEntry): void {
    const { priority } = entry.record;
    const others = this.promoted.get(priority);
    if (others === undefined) this.promoted.set(priority, new Set([entry]));
    else others.add(entry);
    entry.isPromoted = true;
    this.promotedCount++;
  }

  removePromoted(entry: JobEntry): void {
    const { priority } = entry.record;
    const all = this.promoted.get(priority);
    all?.delete(entry);
    if (all?.size === 0) this.promoted.delete(priority);
    entry.isPromoted = false;
    this.promotedCount--;
  }

  /** When there is room to promote one more job, if nothing else changes. */
  roomAt(): number {
    const { task, promotedCount } = this;
    const isFull = this.key !== "" && promotedCount + this.leasedCount >= task.maxRunningPerKey;
    if (isFull || (task.turns !== null && promotedCount >= TURNS_AHEAD_MAX)) return Number.POSITIVE_INFINITY;
    return task.rate === null ? Number.NEGATIVE_INFINITY : this.bucket.timeOf(promotedCount + 1, task.rate);
  }
}

function lowestOf(promoted: ReadonlyMap<number, unknown>): number {
  return Math.min(...promoted.keys());
}

/** Whether a job that waits has missed its `startDeadline`, and counts as ended. */
export function isMissed({ record }: JobEntry, now: number): boolean {
  return record.acquiredBy === null && hasMissedStart(record, now);
}

/** The order of acquisition: priority (higher first), turn or `runAt`, addition. */
export function isFirst(a: JobEntry | undefined, b: JobEntry | undefined): boolean {
  if (a === undefined || b === undefined) return b === undefined;
  if (a.record.priority !== b.record.priority) return a.record.priority > b.record.priority;
  const placeOfA = a.turn ?? a.record.runAt;
  const placeOfB = b.turn ?? b.record.runAt;
  if (placeOfA !== placeOfB) return placeOfA < placeOfB;
  return a.seq < b.seq;
}
