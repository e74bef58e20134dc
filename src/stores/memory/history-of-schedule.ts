import type { OccurrenceRecord, OccurrenceRunRecord, Skip } from "../../records/ledger.ts";
import type { OccurrenceRecordFilter } from "../contract/ledger-types.ts";
import type { OverlapReport } from "../data-store.ts";
import { entriesOf, partsOf } from "../shared/runs-over-skips.ts";
import { SortedList } from "./sorted-list.ts";

/** What became of the jobs of a schedule that missed their turn, when its next fire time came. */
export interface Coalesced {
  readonly report: OverlapReport;
  /** The fire times of all of them, and of the fire. */
  readonly fireTimes: readonly number[];
  /** The fire times without a job of their own, as the ledger has them. */
  readonly skip: Skip & { readonly into: number };
  /** How long after its fire time each of them was to be overdue, if it was, as pairs of time and delay. */
  readonly waits: readonly (readonly [fireTime: number, delayMs: number])[];
}

type HistoryRun = { readonly kind: "run" } & OccurrenceRunRecord;

/**
 * What became of the fire times of one schedule: a *run* for each whose job has ended, and *skips*, which are ranges. A
 * reader finds out where runs and skips overlap: runs come before skips, so that each fire time has one row.
 */
export class History {
  /** From when on the history has all fire times. */
  since: number;
  /** Whether the schedule was removed and added again: then jobs of before may have fire times that come again. */
  isReopened = false;
  /** Whether the run that ended last has failed, besides those that say nothing about it. */
  isFailing = false;
  readonly #runs = new SortedList<HistoryRun>((a, b) => a.fireTime - b.fireTime);
  /** They do not overlap. */
  readonly #skips = new SortedList<Skip>((a, b) => a.from - b.from);
  /** What a reader found out, until the history changes. */
  #rows: SortedList<OccurrenceRecord> | null = null;

  constructor(since: number) {
    this.since = since;
  }

  get size(): number {
    return this.#runs.size + this.#skips.size;
  }

  /** Adds a run, which takes the place of an earlier run of its fire time. */
  addRun(run: HistoryRun): void {
    const last = this.#runs.last;
    const before = last === undefined || last.fireTime < run.fireTime ? undefined : this.#runAt(run.fireTime);
    if (before !== undefined) this.#runs.delete(before);
    this.#runs.add(run);
    this.#rows = null;
  }

  /** Adds a skip, which leaves out the fire times of earlier skips, and of unfinished jobs.
   *  @param unfinished the fire times of these jobs */
  addSkip(skip: Skip, unfinished: readonly number[] = []): void {
    const within = unfinished.filter((time) => time >= skip.from && time <= skip.until);
    const taken = within.map((time): [from: number, until: number] => [time, time]);
    for (const { from, until } of this.#skips.from((other) => other.until >= skip.from)) {
      if (from > skip.until) break;
      taken.push([from, until]);
    }
    const ranges = taken.sort(([a], [b]) => a - b);
    for (const part of partsOf(skip, ranges)) this.#skips.add(part);
    this.#rows = null;
  }

  /** Adds a skip in the place of those within it whose fire times one of these stood for. */
  standIn(fireTimes: readonly number[], skip: Skip, unfinished: readonly number[]): void {
    for (const one of [...this.#skips.from(({ from }) => from >= skip.from)]) {
      if (one.until > skip.until) break;
      if (one.verdict === "coalesced" && fireTimes.includes(one.into ?? -1)) this.#skips.delete(one);
    }
    this.addSkip(skip, unfinished);
  }

  /** Ends skips before a time, because the schedule passes the fire times from there on again. */
  cut(effectiveFrom: number): void {
    for (const skip of [...this.#skips.from(({ until }) => until >= effectiveFrom)]) {
      this.#skips.delete(skip);
      if (skip.from < effectiveFrom) this.#skips.add({ ...skip, until: effectiveFrom - 1, count: null });
    }
    this.#rows = null;
  }

  /** Removes the oldest rows: those that end before an instant, and those of which there are too many. Returns how
   *  many. */
  trim(keptFrom: number, countMax: number): number {
    for (let removed = 0; ; removed++) {
      const [run, skip] = [this.#runs.first, this.#skips.first];
      const isRun = run !== undefined && (skip === undefined || run.fireTime < skip.from);
      const end = isRun ? run.fireTime : skip?.until;
      if (end === undefined || (end >= keptFrom && this.size <= countMax)) return removed;
      if (isRun) this.#runs.delete(run);
      else if (skip !== undefined) this.#skips.delete(skip);
      this.since = Math.max(this.since, end + 1);
      this.#rows = null;
    }
  }

  /** The rows of a filter, in its order; its limit, verdicts and cursor do not matter. @param after where the page
   *  before ended; null for none */
  *read({ from, until, order }: OccurrenceRecordFilter, after: number | null): Iterable<OccurrenceRecord> {
    this.#rows ??= rowsOf(entriesOf(this.#runs.from(), this.#skips.from()));
    const rows =
      order === "newest"
        ? this.#rows.backFrom((row) => startOf(row) <= until && (after === null || startOf(row) < after))
        : this.#rows.from((row) => endOf(row) >= from && (after === null || startOf(row) > after));
    for (const row of rows) {
      if (startOf(row) > until || endOf(row) < from) return;
      yield { ...row };
    }
  }

  /** The run of a fire time, or a skip that has it. */
  find(fireTime: number): OccurrenceRecord | undefined {
    const run = this.#runAt(fireTime);
    if (run !== undefined) return run;
    const [skip] = this.#skips.from(({ until }) => until >= fireTime);
    return skip === undefined || skip.from > fireTime ? undefined : { kind: "skip", ...skip };
  }

  #runAt(fireTime: number): HistoryRun | undefined {
    const [run] = this.#runs.from((row) => row.fireTime >= fireTime);
    return run?.fireTime === fireTime ? run : undefined;
  }
}

function rowsOf(entries: Iterable<OccurrenceRecord>): SortedList<OccurrenceRecord> {
  const rows = new SortedList<OccurrenceRecord>((a, b) => startOf(a) - startOf(b));
  for (const entry of entries) rows.add(entry);
  return rows;
}

function startOf(row: OccurrenceRecord): number {
  return row.kind === "run" ? row.fireTime : row.from;
}

function endOf(row: OccurrenceRecord): number {
  return row.kind === "run" ? row.fireTime : row.until;
}
