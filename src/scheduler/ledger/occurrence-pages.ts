import { OCCURRENCE_STEPS_MAX, UNFINISHED_READ_MAX } from "../../core/limits.ts";
import type { JobRecord } from "../../records/job.ts";
import type { OccurrenceRecord, SkipVerdict } from "../../records/ledger.ts";
import type { JobOutcome } from "../../records/policies.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../../stores/occurrence-cursor.ts";
import { type OccurrenceVerdict, verdictOfOutcome } from "../options/occurrence-verdicts.ts";
import { Occurrence } from "../views/occurrence.ts";
import type { Page } from "../views/page.ts";
import type { Known } from "./explain.ts";
import { type Finding, runFactsOf, unprocessedFrom } from "./finding.ts";

/** Which occurrences, checked. */
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

/**
 * A page of what became of the fire times of a schedule. Skips are opened up into their fire times, only as far as the
 * page needs. It takes at most eight requests to the store, two of `knownOf` among them.
 */
export async function occurrencePage(known: Known, filter: OccurrenceFilter): Promise<Page<Occurrence>> {
  const { order, limit } = filter;
  const range = rangeOf(known, filter);
  const found: Occurrence[] = [];
  if (range.from > range.until) return { items: found, cursor: null };
  let own: readonly Stretch[] = ownStretches(known, await unfinishedJobs(known, filter, range), filter, range);
  const walk = new Walk(known, order, limit);
  let entries: EntryPage = { stretches: [], cursor: null };
  for (let pages = 0; pages < ENTRY_PAGES_MAX; pages++) {
    entries = await entryPage(known, filter, range, entries.cursor);
    // What lies beyond the entries of this page may come in between those of the next.
    const last = entries.cursor === null ? undefined : entries.stretches.at(-1);
    const isReached = (stretch: Stretch): boolean =>
      last === undefined || (order === "oldest" ? stretch.from <= last.until : stretch.until >= last.from);
    const stretches = [...entries.stretches, ...own.filter(isReached)];
    own = own.filter((stretch) => !isReached(stretch));
    const end = walk.through(sorted(stretches, order), range);
    if (end !== null) return { items: walk.found, cursor: occurrenceCursor(end) };
    if (entries.cursor === null) return { items: walk.found, cursor: null };
  }
  const reached = order === "oldest" ? entries.stretches.at(-1)?.until : entries.stretches.at(-1)?.from;
  return { items: walk.found, cursor: reached === undefined ? null : occurrenceCursor(reached) };
}

interface Range {
  readonly from: number;
  readonly until: number;
}

/** What is left of the range after the cursor. */
function rangeOf({ now }: Known, { from, until, cursor, order }: OccurrenceFilter): Range {
  const range = { from: from ?? Number.MIN_SAFE_INTEGER, until: Math.min(until ?? now, now) };
  if (cursor === null) return range;
  const last = readOccurrenceCursor(cursor);
  return order === "oldest"
    ? { ...range, from: Math.max(range.from, last + 1) }
    : { ...range, until: Math.min(range.until, last - 1) };
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
  return [verdict === "misfired" ? "missedStartDeadline" : verdict];
}

function stretchOf(entry: OccurrenceRecord): Stretch {
  if (entry.kind === "skip") {
    return { from: entry.from, until: entry.until, verdict: entry.verdict, run: null, skip: entry, job: null };
  }
  const { fireTime, outcome } = entry;
  return { from: fireTime, until: fireTime, verdict: verdictOfOutcome(outcome), run: entry, skip: null, job: null };
}

/** The unfinished jobs of fire times. */
async function unfinishedJobs(
  { store, scheduleId }: Known,
  { verdict, order }: OccurrenceFilter,
  range: Range,
): Promise<readonly JobRecord[]> {
  if (verdict !== undefined && !verdict.includes("waiting")) return [];
  // No job runs before its fire time.
  const since = order === "oldest" && range.from > 0 ? { runAfter: range.from } : {};
  const filter = { scheduleId, ...since, order, limit: UNFINISHED_READ_MAX, cursor: null };
  return (await store.getJobs(filter)).items.filter((job) => job.retryOf === undefined);
}

/** What the ledger does not have, because it is not over: unfinished jobs, and what nobody has processed. */
function ownStretches(
  { schedule, now }: Known,
  jobs: readonly JobRecord[],
  { verdict }: OccurrenceFilter,
  range: Range,
): Stretch[] {
  const none = { run: null, skip: null, job: null };
  const stretches: Stretch[] = jobs.flatMap((job): Stretch[] => {
    const { fireTime } = job;
    return fireTime === null ? [] : [{ ...none, from: fireTime, until: fireTime, verdict: "waiting", job }];
  });
  const from = unprocessedFrom(schedule);
  if (schedule !== null && from !== null && from <= now) {
    stretches.push({ ...none, from, until: now, verdict: schedule.paused ? "paused" : "waiting" });
  }
  return stretches.filter(
    (one) => one.from <= range.until && one.until >= range.from && (verdict?.includes(one.verdict) ?? true),
  );
}

function sorted(stretches: readonly Stretch[], order: "oldest" | "newest"): readonly Stretch[] {
  return [...stretches].sort((a, b) => (order === "oldest" ? a.from - b.from : b.until - a.until));
}

/** Turns stretches into occurrences, up to a limit. */
class Walk {
  readonly found: Occurrence[] = [];
  readonly #known: Known;
  readonly #order: "oldest" | "newest";
  readonly #limit: number;
  #steps = 0;

  constructor(known: Known, order: "oldest" | "newest", limit: number) {
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

  #fireTimes({ from, until, skip, verdict, job }: Stretch, range: Range): Iterable<number> {
    const isOne = from === until || (skip === null && job === null && verdict !== "waiting" && verdict !== "paused");
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
