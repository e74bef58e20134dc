import type { JobRecord } from "../../records/job.ts";
import type { OccurrenceRecord, SkipVerdict } from "../../records/ledger.ts";
import type { JobOutcome } from "../../records/policies.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../../stores/shared/cursors-and-search.ts";
import { type OccurrenceVerdict, outcomeOfVerdict, verdictOfOutcome } from "../options/occurrence-verdicts.ts";
import { Occurrence } from "../views/occurrence.ts";
import type { Page } from "../views/page.ts";
import type { Known } from "./explain.ts";
import { type Finding, runFactsOf, unprocessedFrom } from "./finding.ts";
import { OCCURRENCE_STEPS_MAX, UNFINISHED_READ_MAX } from "./limits.ts";

/** Which occurrences, checked. `until` is not included. */
export interface OccurrenceFilter {
  readonly from?: number;
  readonly until?: number;
  readonly verdict?: readonly OccurrenceVerdict[];
  readonly order: "newest" | "oldest";
  readonly limit: number;
  readonly cursor: string | null;
}

/** A time of which all fire times have one verdict; one of them alone where `from` is `until`. */
interface Stretch extends Omit<Finding, "fireTime" | "verdict"> {
  readonly from: number;
  readonly until: number;
  readonly verdict: OccurrenceVerdict;
}

/** Most pages of entries that one page of occurrences reads, because skips may have no fire time left to show. */
const ENTRY_PAGES_MAX = 4;

/** Most entries that are looked at among the fire times that nobody has processed. Nearly always there are none. */
const UNPROCESSED_ENTRIES_MAX = 1000;

/**
 * A page of what became of the fire times of a schedule. Skips are opened up into their fire times, only as far as the
 * page needs. It takes at most eight requests to the store, two of `knownOf` among them.
 */
export async function occurrencePage(known: Known, filter: OccurrenceFilter): Promise<Page<Occurrence>> {
  const { order, limit } = filter;
  const range = rangeOf(known, filter);
  const scan = new OccurrenceScan(known, order, limit);
  if (range.from > range.until) return { items: scan.found, cursor: null };
  const unprocessed = unprocessedOf(known, filter);
  const jobs = await unfinishedJobs(known, filter, range, unprocessed);
  const ended = await endedWithin(known, filter, range, unprocessed);
  const end = borderOf(ended, order);
  const reach = before(end, range, order);
  let own = ownStretches(jobs, unprocessed, ended.stretches).filter((stretch) => isWanted(stretch, filter, reach));
  let rest = reach;
  let cursor: string | null = null;
  for (let pages = 0; pages < ENTRY_PAGES_MAX; pages++) {
    const entries = await entryPage(known, filter, reach, cursor);
    // The ledger was read last: what became an entry in the meantime is one.
    own = own.flatMap((stretch) => without(stretch, entries.stretches));
    const border = borderOf(entries, order);
    const last = scan.through(sorted([...entries.stretches, ...own], order), before(border, rest, order));
    if (last !== null) return { items: scan.found, cursor: occurrenceCursor(last) };
    cursor = entries.cursor;
    if (border === null || cursor === null) {
      return { items: scan.found, cursor: end === null ? null : occurrenceCursor(end) };
    }
    rest = beyond(border, rest, order);
  }
  return { items: scan.found, cursor: occurrenceCursor(order === "oldest" ? rest.from - 1 : rest.until + 1) };
}

type OccurrenceOrder = OccurrenceFilter["order"];

/** Up to where a page of entries has all of them: what lies beyond may come in between those of the next page. Null
 *  for the last page. */
function borderOf({ stretches, cursor }: EntryPage, order: OccurrenceOrder): number | null {
  if (cursor === null) return null;
  const at = readOccurrenceCursor(cursor);
  return order === "oldest" ? Math.max(at, stretches.at(-1)?.until ?? at) : at;
}

/** The part of a range up to a border, the border included. */
function before(border: number | null, range: Range, order: OccurrenceOrder): Range {
  if (border === null) return range;
  return order === "oldest"
    ? { ...range, until: Math.min(range.until, border) }
    : { ...range, from: Math.max(range.from, border) };
}

/** The rest of the range. */
function beyond(border: number, range: Range, order: OccurrenceOrder): Range {
  return order === "oldest"
    ? { ...range, from: Math.max(range.from, border + 1) }
    : { ...range, until: Math.min(range.until, border - 1) };
}

/** What is left of a stretch outside of others. */
function without(stretch: Stretch, others: readonly Stretch[]): readonly Stretch[] {
  const parts: Stretch[] = [];
  let { from } = stretch;
  for (const other of sorted(others, "oldest")) {
    if (other.until < from || other.from > stretch.until) continue;
    if (from < other.from) parts.push({ ...stretch, from, until: other.from - 1 });
    from = other.until + 1;
  }
  return from <= stretch.until ? [...parts, { ...stretch, from }] : parts;
}

interface Range {
  readonly from: number;
  readonly until: number;
}

/** What is left of the range after the cursor. Its instants are whole milliseconds, and `until` is included. */
function rangeOf({ now }: Known, { from, until, cursor, order }: OccurrenceFilter): Range {
  const range = { from: from ?? Number.MIN_SAFE_INTEGER, until: Math.min((until ?? now + 1) - 1, now) };
  if (cursor === null) return range;
  return beyond(readOccurrenceCursor(cursor), range, order);
}

interface EntryPage {
  readonly stretches: readonly Stretch[];
  readonly cursor: string | null;
}

/** Entries of the ledger. */
async function entryPage(
  { ledger, scheduleId }: Known,
  { verdict, order, limit }: OccurrenceFilter,
  range: Range,
  cursor: string | null,
): Promise<EntryPage> {
  const verdicts = verdict?.flatMap(storedVerdict);
  if (ledger === null || verdicts?.length === 0) return { stretches: [], cursor: null };
  const wanted = verdicts === undefined ? {} : { verdicts };
  const page = await ledger.getOccurrences({ scheduleId, ...range, ...wanted, order, limit, cursor });
  return { stretches: page.items.map(stretchOf), cursor: page.cursor };
}

function storedVerdict(verdict: OccurrenceVerdict): readonly (JobOutcome | SkipVerdict)[] {
  if (verdict === "waiting") return [];
  return [outcomeOfVerdict(verdict)];
}

const UNKNOWN = { run: null, skip: null, job: null };

function stretchOf(entry: OccurrenceRecord): Stretch {
  if (entry.kind === "skip") {
    return { from: entry.from, until: entry.until, verdict: entry.verdict, run: null, skip: entry, job: null };
  }
  const { fireTime, outcome } = entry;
  return { from: fireTime, until: fireTime, verdict: verdictOfOutcome(outcome), run: entry, skip: null, job: null };
}

/** What nobody has processed, if its verdict is asked for. */
function unprocessedOf({ schedule, now }: Known, filter: OccurrenceFilter): Stretch | null {
  const from = unprocessedFrom(schedule);
  if (schedule === null || from === null || from > now) return null;
  const verdict = schedule.paused ? "paused" : "waiting";
  return isAskedFor(verdict, filter) ? { ...UNKNOWN, from, until: now, verdict } : null;
}

/** The unfinished jobs of fire times. A schedule that was removed and added again has jobs from before, whose fire
 *  times it may not have processed anew. */
async function unfinishedJobs(
  { store, scheduleId }: Known,
  filter: OccurrenceFilter,
  range: Range,
  unprocessed: Stretch | null,
): Promise<readonly JobRecord[]> {
  if (unprocessed === null && !isAskedFor("waiting", filter)) return [];
  const { order } = filter;
  // No job runs before its fire time.
  const start = order === "oldest" && range.from > 0 ? { from: range.from } : {};
  const page = await store.getJobs({ scheduleId, ...start, order, limit: UNFINISHED_READ_MAX, cursor: null });
  return page.items.filter((job) => job.retryOf === undefined);
}

/** The entries among the unprocessed fire times: the schedule left them before it was removed and added again. Where no
 *  verdict is asked for, they are read with all others. */
async function endedWithin(
  known: Known,
  { verdict, ...filter }: OccurrenceFilter,
  range: Range,
  unprocessed: Stretch | null,
): Promise<EntryPage> {
  if (verdict === undefined || unprocessed === null) return { stretches: [], cursor: null };
  const part = { from: Math.max(range.from, unprocessed.from), until: Math.min(range.until, unprocessed.until) };
  if (part.from > part.until) return { stretches: [], cursor: null };
  return entryPage(known, { ...filter, limit: UNPROCESSED_ENTRIES_MAX }, part, null);
}

/** What the ledger does not have, because it is not over: unfinished jobs, and what nobody has processed.
 *  @param ended what is over nevertheless */
function ownStretches(
  jobs: readonly JobRecord[],
  unprocessed: Stretch | null,
  ended: readonly Stretch[],
): readonly Stretch[] {
  const waiting = jobs.flatMap((job): Stretch[] => {
    const { fireTime } = job;
    return fireTime === null ? [] : [{ ...UNKNOWN, from: fireTime, until: fireTime, verdict: "waiting", job }];
  });
  return unprocessed === null ? waiting : [...waiting, ...without(unprocessed, [...waiting, ...ended])];
}

function isWanted({ from, until, verdict }: Stretch, filter: OccurrenceFilter, range: Range): boolean {
  return from <= range.until && until >= range.from && isAskedFor(verdict, filter);
}

function isAskedFor(asked: OccurrenceVerdict, { verdict }: OccurrenceFilter): boolean {
  return verdict?.includes(asked) ?? true;
}

function sorted(stretches: readonly Stretch[], order: OccurrenceOrder): readonly Stretch[] {
  return [...stretches].sort((a, b) => (order === "oldest" ? a.from - b.from : b.until - a.until));
}

/** Turns stretches into occurrences, up to a limit. */
class OccurrenceScan {
  readonly found: Occurrence[] = [];
  readonly #known: Known;
  readonly #order: OccurrenceOrder;
  readonly #limit: number;
  #steps = 0;

  constructor(known: Known, order: OccurrenceOrder, limit: number) {
    this.#known = known;
    this.#order = order;
    this.#limit = limit;
  }

  /** Adds what lies in the range. The fire time at which the page ends; null when there was room for all. */
  through(stretches: readonly Stretch[], range: Range): number | null {
    for (const stretch of stretches) {
      for (const fireTime of this.#fireTimes(stretch, range)) {
        this.#add(stretch, fireTime);
        this.#steps++;
        if (this.found.length >= this.#limit || this.#steps >= OCCURRENCE_STEPS_MAX) return fireTime;
      }
    }
    return null;
  }

  #fireTimes({ from, until, run, skip, job }: Stretch, range: Range): Iterable<number> {
    // Parts of skips that nobody has counted may have no fire time.
    const isOne = run !== null || job !== null || (from === until && skip !== null && skip.count !== null);
    if (isOne) return from >= range.from && from <= range.until ? [from] : [];
    const { history } = this.#known;
    return history.fireTimes(Math.max(from, range.from), Math.min(until, range.until), this.#order);
  }

  #add({ verdict, run, skip, job }: Stretch, fireTime: number): void {
    const { scheduleId, history } = this.#known;
    const timeZone = history.ruleNear(fireTime).rule?.timeZone ?? "UTC";
    const facts = { scheduleId, timeZone, fireTime, verdict, into: skip?.into ?? null };
    this.found.push(new Occurrence({ ...facts, run: runFactsOf({ run, job }) }));
  }
}
