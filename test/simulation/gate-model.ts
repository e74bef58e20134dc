import type { JobRecord } from "../../src/records/job.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type { TaskPause, TaskPauseRequest } from "../../src/stores/data-store.ts";
import { CLOCK_TOLERANCE_MS } from "../../src/stores/shared/limits.ts";
import type { History } from "./history.ts";

/** What the rate of one key let through. */
interface Bucket {
  /** The theoretical arrival time of the generic cell rate algorithm, times the rate's limit, which makes it whole. It is
   *  as early as `earliest` where a clock ahead found the bucket full and let the store forget it. */
  latest: number;
  /** As `latest`, where no repetition took a token: one that a clock ahead took would hide what was owed before. */
  unrepeated: number;
  earliest: number;
  /** The true times of the last starts, the oldest first. */
  readonly starts: number[];
}

/** Tokens come at fractions of a millisecond, and are taken in whole ones. */
const ROUNDING_MS = 1;

const { NEGATIVE_INFINITY } = Number;
const FULL = { latest: NEGATIVE_INFINITY, unrepeated: NEGATIVE_INFINITY, earliest: NEGATIVE_INFINITY };

/** The limits of concurrency keys, rates and pauses, told a second time. */
export class GateModel {
  readonly #history: History;
  readonly #tasks: ReadonlyMap<string, TaskRecord>;
  readonly #pauses = new Map<string, TaskPause>();
  readonly #buckets = new Map<string, Bucket>();
  /** Jobs that were admitted by this clock may be acquired by clocks that are behind. */
  #latestMs = Number.NEGATIVE_INFINITY;
  /** How far what the store was told of as the present was from the true time at most, to each side. */
  #behindMs = 0;
  #aheadMs = 0;
  /** The true times at which a clock told the store what time it is that was far from one before it. */
  readonly #switches: number[] = [];
  /** How far the clocks since the last switch were from the true time at least and at most. */
  #offsets: readonly [least: number, most: number] = [0, 0];

  constructor(history: History, tasks: ReadonlyMap<string, TaskRecord>) {
    this.#history = history;
    this.#tasks = tasks;
  }

  /** The latest present that the store was told of. */
  get latestMs(): number {
    return this.#latestMs;
  }

  get pauses(): Iterable<TaskPause> {
    return this.#pauses.values();
  }

  /** Whether a key has lost a token, so that a store may wait for one. */
  get hasBuckets(): boolean {
    return this.#buckets.size > 0;
  }

  /** Somebody told the store what time it is. */
  sawClock(now: number): void {
    const { nowMs } = this.#history;
    this.#latestMs = Math.max(this.#latestMs, now);
    for (const [gate, bucket] of this.#buckets) {
      const empty = this.#emptyAt(gate, now);
      // A look may empty the bucket, too, and the bucket of a key without jobs.
      if (empty !== null && bucket.latest > empty.from) bucket.earliest = Math.min(bucket.earliest, empty.tat);
    }
    const offset = now - nowMs;
    const [least, most] = [Math.min(this.#offsets[0], offset), Math.max(this.#offsets[1], offset)];
    const isSwitch = most - least > CLOCK_TOLERANCE_MS;
    if (isSwitch) this.#switches.push(nowMs);
    this.#offsets = isSwitch ? [offset, offset] : [least, most];
    if (Math.abs(offset) > CLOCK_TOLERANCE_MS) return;
    this.#behindMs = Math.max(this.#behindMs, nowMs - now);
    this.#aheadMs = Math.max(this.#aheadMs, now - nowMs);
  }

  /** The name of the gate that a job has to pass; null for none. */
  gateOf({ taskId, concurrencyKey }: JobRecord): string | null {
    if (concurrencyKey !== undefined) return gateName(taskId, concurrencyKey);
    const task = this.#tasks.get(taskId);
    const isShared = task?.rateLimit !== undefined || task?.fair === true;
    return isShared ? gateName(taskId, "") : null;
  }

  isFair({ taskId }: JobRecord): boolean {
    return this.#tasks.get(taskId)?.fair === true;
  }

  isRated({ taskId }: JobRecord): boolean {
    return this.#tasks.get(taskId)?.rateLimit !== undefined;
  }

  isPaused({ taskId, concurrencyKey }: JobRecord): boolean {
    if (this.#pauses.has(taskId)) return true;
    return concurrencyKey !== undefined && this.#pauses.has(gateName(taskId, concurrencyKey));
  }

  onPause({ taskId, key, paused, now }: TaskPauseRequest, answer: boolean): void {
    this.sawClock(now);
    if (answer !== this.#tasks.has(taskId)) this.#history.violate(`pausing task ${taskId} answered ${answer}`);
    if (!answer) return;
    const name = key === null ? taskId : gateName(taskId, key);
    this.#history.count(paused ? "pauses of tasks" : "ends of pauses of tasks");
    this.#history.trace("store", `${key === null ? "task" : "key"} ${name} ${paused ? "pauses" : "goes on"}`);
    if (paused) this.#pauses.set(name, { taskId, key });
    else this.#pauses.delete(name);
  }

  checkPauses(pauses: readonly TaskPause[]): void {
    const namesOf = (all: Iterable<TaskPause>): string =>
      [...all]
        .map(({ taskId, key }) => (key === null ? taskId : gateName(taskId, key)))
        .sort()
        .join(" ");
    const [expected, actual] = [namesOf(this.#pauses.values()), namesOf(pauses)];
    if (expected !== actual) this.#history.violate(`[${actual}] is said to be paused, not [${expected}]`);
  }

  /** A rate that changed begins anew. */
  onRateChanged(taskId: string): void {
    for (const gate of this.#buckets.keys()) if (gate.startsWith(`${taskId}/`)) this.#buckets.delete(gate);
  }

  /** Why a job must not be acquired, whatever clocks are wrong; null if it may. @param running jobs of its key */
  whyNot(record: JobRecord, gate: string | null, running: number, now: number): string | null {
    if (this.isPaused(record)) return "is paused";
    if (gate === null) return null;
    if (!this.#hasSlot(record, running)) return `is of a key of which ${running} run already`;
    // Then the starts alone tell, see take.
    if (this.#switches.length > 0) return null;
    const tokenAt = this.#tokenAt(record, gate, "earliest");
    return tokenAt > Math.max(now, this.#latestMs) ? `is of a key without a token until ${tokenAt}` : null;
  }

  /** Whether a job that is due has to be acquired by whoever can. */
  isOpen(record: JobRecord, gate: string | null, running: number, now: number): boolean {
    if (this.isPaused(record)) return false;
    if (gate === null) return true;
    return this.#hasSlot(record, running) && now >= this.tokenAt(record, gate);
  }

  /** Whether nothing but a token is missing, by all clocks, whatever the store forgot: a job that was admitted by a clock
   *  ahead waits for none. */
  lacksToken(record: JobRecord, gate: string | null, running: number, now: number): boolean {
    if (gate === null || this.isPaused(record) || !this.#hasSlot(record, running)) return false;
    if (this.#switches.length > 0) return false;
    return Math.max(now, this.#latestMs) < this.#tokenAt(record, gate, "earliest");
  }

  /** A commit saw a job that is due, and a clock that is far ahead may have taken the last token of its key: then the
   *  bucket is empty, and no more. */
  clampBucket(gate: string | null, now: number): void {
    const bucket = gate === null ? undefined : this.#buckets.get(gate);
    const empty = gate === null ? null : this.#emptyAt(gate, now);
    if (bucket === undefined || empty === null || bucket.latest <= empty.from) return;
    this.#history.count("buckets of wrong clocks");
    // Another clock, a little ahead, may have emptied it a moment ago.
    const aheadMs = Math.max(0, this.#history.nowMs + this.#aheadMs - now);
    const tat = empty.tat + aheadMs * empty.limit;
    if (bucket.unrepeated > empty.from) bucket.unrepeated = tat;
    bucket.latest = Math.max(tat, bucket.unrepeated);
    bucket.earliest = Math.min(bucket.earliest, empty.tat);
  }

  /** The `tat` of a bucket that is empty now, and the first one that only a wrong clock can have written. */
  #emptyAt(gate: string, now: number): { readonly tat: number; readonly from: number; readonly limit: number } | null {
    const rate = this.#tasks.get(gate.slice(0, gate.indexOf("/")))?.rateLimit;
    if (rate === undefined) return null;
    const { limit, burst, perMs } = rate;
    const tat = now * limit + burst * perMs;
    return { tat, from: tat + CLOCK_TOLERANCE_MS * limit, limit };
  }

  /** The first millisecond in which a key has a token, whatever the store forgot. */
  tokenAt(record: JobRecord, gate: string): number {
    return this.#tokenAt(record, gate, "latest");
  }

  #tokenAt({ taskId }: JobRecord, gate: string, bound: "earliest" | "latest"): number {
    const rate = this.#tasks.get(taskId)?.rateLimit;
    const bucket = this.#buckets.get(gate);
    if (rate === undefined || bucket === undefined) return Number.NEGATIVE_INFINITY;
    return Math.ceil((bucket[bound] - (rate.burst - 1) * rate.perMs) / rate.limit);
  }

  /** A repetition found jobs of the key that earlier tries of its commit acquired: their tokens may count from now on. */
  takeAgain({ taskId }: JobRecord, gate: string, count: number, now: number): void {
    const [rate, bucket] = [this.#tasks.get(taskId)?.rateLimit, this.#buckets.get(gate)];
    if (rate === undefined || bucket === undefined) return;
    bucket.latest = Math.max(bucket.latest, now * rate.limit + count * rate.perMs);
  }

  /** A job was acquired. */
  take(record: JobRecord, gate: string, now: number): void {
    const rate = this.#tasks.get(record.taskId)?.rateLimit;
    if (rate === undefined) return;
    const bucket = this.#buckets.get(gate) ?? { ...FULL, starts: [] };
    this.#buckets.set(gate, bucket);
    this.clampBucket(gate, now);
    const { limit, perMs } = rate;
    const { latest, unrepeated, earliest } = bucket;
    // Who takes a token in the first millisecond that has it takes it on time.
    const isOnTime = (tat: number): boolean => Math.ceil(tat / limit) >= now;
    const mayBeForgotten = Math.ceil(earliest / limit) + CLOCK_TOLERANCE_MS <= this.#latestMs;
    bucket.latest = (isOnTime(latest) ? latest : now * limit) + perMs;
    bucket.unrepeated = (isOnTime(unrepeated) ? unrepeated : now * limit) + perMs;
    const least = mayBeForgotten ? Math.min(earliest, now * limit) : earliest;
    // A bucket that is between the two may be on time where the earliest is not.
    const leastOnTime = isOnTime(latest) ? (now - 1) * limit + 1 : now * limit;
    bucket.earliest = (isOnTime(earliest) ? least : leastOnTime) + perMs;
    const { nowMs } = this.#history;
    const since = nowMs - (rate.perMs - this.#behindMs - this.#aheadMs - ROUNDING_MS);
    while ((bucket.starts[0] ?? nowMs) <= since && bucket.starts.length > 0) bucket.starts.shift();
    bucket.starts.push(nowMs);
    // Each switch between clocks that are far apart lets one burst more through, and one that was admitted may wait.
    const switches = this.#switches.filter((at) => at > since).length + Math.min(1, this.#switches.length);
    const most = rate.limit + rate.burst - 1 + switches * rate.burst;
    const count = bucket.starts.length;
    if (count > most) this.#history.violate(`${count} jobs of ${gate} started in ${nowMs - since} ms, not ${most}`);
  }

  #hasSlot({ taskId, concurrencyKey }: JobRecord, running: number): boolean {
    if (concurrencyKey === undefined) return true;
    return running < (this.#tasks.get(taskId)?.maxRunningPerKey ?? Number.POSITIVE_INFINITY);
  }
}

function gateName(taskId: string, key: string): string {
  return `${taskId}/${key}`;
}
