import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { type OccurrenceRecord, SKIP_VERDICTS, type Skip } from "../../records/ledger.ts";
import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { OccurrenceRecordFilter } from "../ledger.ts";

// An entry is a row of numbers. A number that is missing is NaN. The columns of skips besides those of all entries have
// the names of `Skip`.

/** The fire time of a run; the first one of a skip. */
const START = 0;
/** The last fire time of a skip; the fire time with jitter of a run. */
const UNTIL = 1;
/** The place of a run's outcome in `JOB_OUTCOMES`. The place of a skip's verdict in `SKIP_VERDICTS`, counted from -1
 *  downwards. */
const VERDICT = 2;
const CREATED_AT = 3;
const COUNT = 3;
const STARTED_AT = 4;
const INTO = 4;
const FINISHED_AT = 5;
const ATTEMPTS = 6;
const IS_KEYED = 7;
const COLUMNS = 8;

/** Rows of the first table. Each further one has twice as many. */
const ROWS_MIN = 4;

/** Parts of the allowed count by which a book may be too long before it is cut, so that the cut costs little. */
const SLACK_PARTS = 8;

/**
 * The entries of one schedule, by fire time. They are kept as numbers in one table, because a store may have very many
 * of them, and each object costs memory and the time of the garbage collector.
 */
export class Book {
  /** From when on it has all fire times. */
  since: number;
  /** Whether its schedule was removed and added again: then an earlier life may have fire times of the later one. */
  isReopened = false;
  #table = new Float64Array(ROWS_MIN * COLUMNS);
  /** One for each row; null for skips. */
  readonly #jobIds: (string | null)[] = [];

  constructor(since: number) {
    this.since = since;
  }

  get length(): number {
    return this.#jobIds.length;
  }

  /** Adds the run of a job; takes the place of the entry of the same fire time. */
  addRun(fireTime: number, job: JobRecord, result: JobResultRecord, isKeyed: boolean): void {
    const at = this.#rowOf(fireTime, result.jobId);
    const table = this.#table;
    table[at + UNTIL] = job.scheduledFireTime ?? fireTime;
    table[at + VERDICT] = JOB_OUTCOMES.indexOf(result.outcome);
    table[at + CREATED_AT] = job.createdAt;
    table[at + STARTED_AT] = result.startedAt ?? Number.NaN;
    table[at + FINISHED_AT] = result.finishedAt;
    table[at + ATTEMPTS] = result.attempts;
    table[at + IS_KEYED] = isKeyed ? 1 : 0;
  }

  /** Adds what a skip leaves of itself outside of the entries that there are.
   *  @param taken fire times that are to have an entry of their own */
  addSkip(skip: Skip, taken: readonly number[] = []): void {
    for (const { from, until, verdict, count, into } of this.#partsOf(skip, taken)) {
      const at = this.#rowOf(from, null);
      this.#table[at + UNTIL] = until;
      this.#table[at + VERDICT] = -1 - SKIP_VERDICTS.indexOf(verdict);
      this.#table[at + COUNT] = count ?? Number.NaN;
      this.#table[at + INTO] = into ?? Number.NaN;
    }
  }

  /** Gives a fire time an entry of its own, if it is in a skip of several, so that a run can take its place. */
  isolate(fireTime: number): void {
    const place = this.#placeOf(fireTime + 1) - 1;
    const entry = place < 0 ? null : this.#entry(place);
    if (entry?.kind !== "skip" || entry.until < fireTime || entry.from === entry.until) return;
    this.#remove(place, 1);
    this.addSkip({ ...entry, from: fireTime, until: fireTime, count: null });
    this.addSkip({ ...entry, count: null });
  }

  #partsOf(skip: Skip, taken: readonly number[]): readonly Skip[] {
    const spans = taken.filter((at) => at >= skip.from && at <= skip.until).map((at) => [at, at] as const);
    // The entry before may reach into the skip.
    let place = Math.max(this.#placeOf(skip.from) - 1, 0);
    for (; place < this.length && this.#start(place) <= skip.until; place++) {
      if (this.#end(place) >= skip.from) spans.push([this.#start(place), this.#end(place)]);
    }
    if (spans.length === 0) return [skip];
    const parts: Skip[] = [];
    let from = skip.from;
    for (const [start, end] of spans.sort(([a], [b]) => a - b)) {
      if (from < start) parts.push({ ...skip, from, until: start - 1, count: null });
      from = Math.max(from, end + 1);
    }
    if (from <= skip.until) parts.push({ ...skip, from, count: null });
    return parts;
  }

  /** Ends skips before an instant, because the schedule lives through the fire times from there on again. */
  cut(effectiveFrom: number): void {
    for (let place = this.length - 1; place >= 0; place--) {
      if (this.#end(place) < effectiveFrom) continue;
      const entry = this.#entry(place);
      if (entry.kind === "run") continue;
      if (entry.from < effectiveFrom) {
        this.#table[place * COLUMNS + UNTIL] = effectiveFrom - 1;
        this.#table[place * COLUMNS + COUNT] = Number.NaN;
      } else {
        this.#remove(place, 1);
      }
    }
  }

  /** Removes the oldest entries of which there are too many, once there are so many of them that it is worth it. */
  trimRoughly(countMax: number): void {
    if (this.length > countMax + countMax / SLACK_PARTS) this.trim(Number.NEGATIVE_INFINITY, countMax);
  }

  /** Removes the oldest entries: those that end before an instant, and those of which there are too many.
   *  Returns how many. */
  trim(keptFrom: number, countMax: number): number {
    let count = Math.max(this.length - countMax, 0);
    while (count < this.length && this.#end(count) < keptFrom) count++;
    if (count === 0) return 0;
    this.since = Math.max(this.since, this.#end(count - 1) + 1);
    this.#remove(0, count);
    return count;
  }

  /** The entries of a filter, in its order; its limit, verdicts and cursor do not matter. @param after where the page
   *  before ended; null for none */
  *read({ from, until, order }: OccurrenceRecordFilter, after: number | null): Iterable<OccurrenceRecord> {
    if (order === "newest") {
      let place = this.#placeOf(Math.min(until + 1, after ?? Number.POSITIVE_INFINITY)) - 1;
      for (; place >= 0 && this.#end(place) >= from; place--) yield this.#entry(place);
      return;
    }
    // The entry before may be a skip that reaches into the window.
    let place = Math.max(this.#placeOf(from) - 1, this.#placeOf((after ?? Number.NEGATIVE_INFINITY) + 1), 0);
    for (; place < this.length && this.#start(place) <= until; place++) {
      if (this.#end(place) >= from) yield this.#entry(place);
    }
  }

  /** The entry in which a fire time is. */
  find(fireTime: number): OccurrenceRecord | undefined {
    const place = this.#placeOf(fireTime + 1) - 1;
    return place >= 0 && this.#end(place) >= fireTime ? this.#entry(place) : undefined;
  }

  #start(place: number): number {
    return this.#table[place * COLUMNS + START] ?? Number.NaN;
  }

  #end(place: number): number {
    const isRun = this.#jobIds[place] !== null;
    return this.#table[place * COLUMNS + (isRun ? START : UNTIL)] ?? Number.NaN;
  }

  #entry(place: number): OccurrenceRecord {
    const at = place * COLUMNS;
    const row = this.#table.subarray(at, at + COLUMNS);
    const [start = 0, until = 0, verdict = 0, created = 0, started = 0, finishedAt = 0, attempts = 0] = row;
    const jobId = this.#jobIds[place] ?? null;
    if (jobId === null) {
      const name = SKIP_VERDICTS[-1 - verdict] ?? "coalesced";
      return { kind: "skip", from: start, until, verdict: name, count: orNull(row[COUNT]), into: orNull(row[INTO]) };
    }
    return {
      kind: "run",
      fireTime: start,
      scheduledFireTime: until,
      jobId,
      outcome: JOB_OUTCOMES[verdict] ?? "success",
      createdAt: created,
      startedAt: orNull(started),
      finishedAt,
      attempts,
      isKeyed: row[IS_KEYED] === 1,
    };
  }

  /** Where the row of a fire time begins in the table. Makes room for it, if there is none. */
  #rowOf(start: number, jobId: string | null): number {
    const { length } = this;
    // Most entries come in order.
    const place = length === 0 || this.#start(length - 1) < start ? length : this.#placeOf(start);
    const at = place * COLUMNS;
    if (place < length && this.#start(place) === start) {
      this.#jobIds[place] = jobId;
      return at;
    }
    if ((length + 1) * COLUMNS > this.#table.length) {
      const table = new Float64Array(this.#table.length * 2);
      table.set(this.#table);
      this.#table = table;
    }
    if (place === length) {
      this.#jobIds.push(jobId);
    } else {
      this.#table.copyWithin(at + COLUMNS, at, length * COLUMNS);
      this.#jobIds.splice(place, 0, jobId);
    }
    this.#table[at + START] = start;
    return at;
  }

  #remove(place: number, count: number): void {
    this.#table.copyWithin(place * COLUMNS, (place + count) * COLUMNS, this.length * COLUMNS);
    this.#jobIds.splice(place, count);
  }

  /** Index of the first entry that begins at an instant or later. */
  #placeOf(instant: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#start(middle) < instant) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function orNull(value = Number.NaN): number | null {
  return Number.isNaN(value) ? null : value;
}
