import type { OccurrenceRecord, Run, Skip } from "../../records/ledger.ts";
import type { OccurrenceRecordFilter } from "../ledger.ts";
import { SortedList } from "./sorted-list.ts";

type RunRow = { readonly kind: "run" } & Run;
type SkipRow = { readonly kind: "skip" } & Skip;

interface StoredSkip {
  readonly row: SkipRow;
  /** Counts up with every skip of the history. */
  readonly seq: number;
}

/**
 * What became of the fire times of one schedule: a *run* for each whose job has ended, and *skips*, which are ranges.
 * Both are kept as they came; a reader finds out where they overlap. Runs come before skips, and earlier skips before
 * later ones, so that each fire time has one row.
 */
export class History {
  /** From when on the history has all fire times. */
  since: number;
  /** Whether the schedule was removed and added again: then an earlier life may have fire times of the later one. */
  isReopened = false;
  readonly #runs = new SortedList<RunRow>((a, b) => a.fireTime - b.fireTime);
  readonly #skips = new SortedList<StoredSkip>((a, b) => a.row.from - b.row.from || a.seq - b.seq);
  /** What a reader found out, until the history changes. */
  #rows: SortedList<OccurrenceRecord> | null = null;
  #seq = 0;

  constructor(since: number) {
    this.since = since;
  }

  get size(): number {
    return this.#runs.size + this.#skips.size;
  }

  /** Adds a run, which takes the place of an earlier run of its fire time. */
  addRun(run: Run): void {
    const last = this.#runs.last;
    const before = last === undefined || last.fireTime < run.fireTime ? undefined : this.#runAt(run.fireTime);
    if (before !== undefined) this.#runs.delete(before);
    this.#runs.add({ kind: "run", ...run });
    this.#rows = null;
  }

  addSkip(skip: Skip): void {
    this.#skips.add({ row: { kind: "skip", ...skip }, seq: this.#seq++ });
    this.#rows = null;
  }

  /** Gives a fire time a row of its own, if a skip of several has it, so that a run can take the place of the row. */
  isolate(fireTime: number): void {
    const skip = this.#skipAt(fireTime);
    if (skip === undefined || skip.row.from === skip.row.until) return;
    const { row, seq } = skip;
    this.#skips.delete(skip);
    const alone = { ...row, from: fireTime, until: fireTime, count: null };
    for (const part of [alone, ...partsOf(row, [[fireTime, fireTime]])])
      this.#skips.add({ row: { ...row, ...part }, seq });
    this.#rows = null;
  }

  /** Ends skips before an instant, because the schedule lives through the fire times from there on again. */
  cut(effectiveFrom: number): void {
    const reaching = [...this.#skips.from()].filter(({ row }) => row.until >= effectiveFrom);
    for (const skip of reaching) {
      this.#skips.delete(skip);
      const { row, seq } = skip;
      if (row.from < effectiveFrom) this.#skips.add({ row: { ...row, until: effectiveFrom - 1, count: null }, seq });
    }
    this.#rows = null;
  }

  /** Removes the oldest rows: those that end before an instant, and those of which there are too many. Returns how
   *  many. */
  trim(keptFrom: number, countMax: number): number {
    for (let removed = 0; ; removed++) {
      const [run, skip] = [this.#runs.first, this.#skips.first];
      const isRun = run !== undefined && (skip === undefined || run.fireTime <= skip.row.from);
      const end = isRun ? run.fireTime : skip?.row.until;
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
    this.#rows ??= rowsOf(this.#runs.from(), this.#skips.from());
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
    return this.#runAt(fireTime) ?? this.#skipAt(fireTime)?.row;
  }

  #skipAt(fireTime: number): StoredSkip | undefined {
    for (const skip of this.#skips.backFrom(({ row }) => row.from <= fireTime)) {
      if (skip.row.until >= fireTime) return skip;
    }
    return undefined;
  }

  #runAt(fireTime: number): RunRow | undefined {
    const [run] = this.#runs.from((row) => row.fireTime >= fireTime);
    return run?.fireTime === fireTime ? run : undefined;
  }
}

/** The rows of runs and skips, by fire time, without overlaps. */
function rowsOf(runs: Iterable<RunRow>, skips: Iterable<StoredSkip>): SortedList<OccurrenceRecord> {
  const rows = new SortedList<OccurrenceRecord>((a, b) => startOf(a) - startOf(b));
  for (const run of runs) rows.add(run);
  for (const { row } of [...skips].sort((a, b) => a.seq - b.seq)) {
    const taken: [number, number][] = [];
    for (const other of rows.from((one) => endOf(one) >= row.from)) {
      if (startOf(other) > row.until) break;
      taken.push([startOf(other), endOf(other)]);
    }
    for (const part of partsOf(row, taken)) rows.add({ kind: "skip", ...part });
  }
  return rows;
}

/** What a skip leaves outside of ranges, which are in order and do not overlap. Nobody has counted the fire times of a
 *  part. */
export function partsOf(skip: Skip, ranges: readonly (readonly [from: number, until: number])[]): readonly Skip[] {
  if (ranges.length === 0) return [skip];
  const parts: Skip[] = [];
  let from = skip.from;
  for (const [start, end] of ranges) {
    if (from < start) parts.push({ ...skip, from, until: start - 1, count: null });
    from = Math.max(from, end + 1);
  }
  if (from <= skip.until) parts.push({ ...skip, from, count: null });
  return parts;
}

function startOf(row: OccurrenceRecord): number {
  return row.kind === "run" ? row.fireTime : row.from;
}

function endOf(row: OccurrenceRecord): number {
  return row.kind === "run" ? row.fireTime : row.until;
}
