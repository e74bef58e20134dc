import { valueError } from "../core/option-errors.ts";
import { editDistance } from "../core/suggest.ts";
import { nativeTemporal } from "../core/temporal.ts";
import { IntlRules } from "./intl-rules.ts";
import { kernel, views } from "./kernel.ts";
import { TemporalRules } from "./temporal-rules.ts";
import { yearsByType } from "./year-types.ts";
import { fixedRules, type OffsetChange, type ZoneRules } from "./zone-rules.ts";

const DAY = 86_400;
const YEAR = 365.2425 * DAY;
/** Older transitions are not asked for, because nothing fires before 1970 on any wall clock. */
const KNOWN_LO_MIN = -4 * DAY;
/** How far beyond either end of what the table answers for transitions must be known. No clock was ever put forward or
 *  back by more than this. */
const MARGIN = 2 * DAY;
/** How far {@link ZoneTable.changeAfter} looks ahead. */
const FAR = 4 * DAY;
/** What a new table learns around the instant that it is first asked about: enough for what fires once a year. */
const LEARN_BEFORE = 90 * DAY;
const LEARN_AFTER = 460 * DAY;
/** 2100-01-01 and 2500-01-01. From 2100 on, every zone follows a rule that repeats every 400 years, as the Gregorian
 *  calendar does. So a table that reaches 2500 has every answer: the year 2610 is answered as 2210. (The last irregular
 *  zones put their clocks back in Ramadan, and have their dates fixed up to 2087.) */
const FOLD_BASE = 4_102_444_800;
const FOLD_FROM = 16_725_225_600;
const CYCLE = 12_622_780_800;
const COMPLETE_HI = FOLD_FROM + 2 * YEAR;
/** The first and the last year, both included, that show how a year of each type goes. See {@link yearsByType}. */
const MODEL_FIRST = 2101;
const MODEL_LAST = 2128;
const MODELS_START = Date.UTC(MODEL_FIRST, 0, 1) / 1000;
const MODELS_END = Date.UTC(MODEL_LAST + 1, 0, 1) / 1000;
const BUCKET_MINUTES = 2 ** 15;
/** The end of 9999, on the wall clock and in UTC: nothing fires later. */
const LOCAL_END = 253_402_300_800;
/** How many clock changes before and after a stretch are looked at, because they may reach into it. More than this
 *  never lay within a few days. */
const NEAR_CHANGES = 3;
// The fields of a record, as in wasm/assembly/layout.ts.
const RECORD_BYTES = 32;
const RECORD_LO = 8;
const RECORD_SPAN = 12;
const RECORD_MIDNIGHT = 16;
const RECORD_DAY = 20;
const RECORD_OFFSET = 24;

const tables = new Map<string, ZoneTable>();
/** The table that was asked for last, because it is often asked for next as well. */
let latest: ZoneTable | null = null;

/** The table of a zone. All who ask for the zone share one table. `timeZone` is an IANA name or an offset, spelled as
 *  Temporal spells it.
 *  @throws {OptionsError} when the zone is unknown */
export function zoneTable(timeZone: string): ZoneTable {
  if (timeZone === latest?.timeZone) return latest;
  latest = tables.get(timeZone) ?? newTable(timeZone);
  return latest;
}

function newTable(timeZone: string): ZoneTable {
  const rules = rulesOf(timeZone);
  // The name may have come in another spelling than Temporal's.
  const table = tables.get(rules.timeZone) ?? new ZoneTable(rules);
  tables.set(rules.timeZone, table);
  return table;
}

/** A time zone's name as Temporal spells it. For example, `europe/berlin` is `Europe/Berlin`.
 *  @throws {OptionsError} when the zone is unknown, with a suggestion where one is near */
export function canonicalTimeZone(timeZone: string): string {
  return tables.has(timeZone) ? timeZone : newTable(timeZone).timeZone;
}

function rulesOf(timeZone: string): ZoneRules {
  try {
    return fixedRules(timeZone) ?? namedRules(timeZone);
  } catch (cause) {
    const shown = JSON.stringify(String(timeZone).slice(0, 80));
    const near = nearestName(String(timeZone));
    const message =
      `must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ${shown}` +
      (near === null ? "" : `: did you mean "${near}"?`);
    throw valueError("timeZone", message, cause);
  }
}

function namedRules(timeZone: string): ZoneRules {
  return nativeTemporal === null ? new IntlRules(timeZone) : new TemporalRules(timeZone, nativeTemporal);
}

/**
 * The transitions of a time zone, as the engine reads them in linear memory.
 *
 * The table is empty at first, because asking the runtime for a transition takes time: up to 20 microseconds. It learns
 * the years around the instant that it is first asked about, and is extended when a search reaches its end.
 */
export class ZoneTable {
  /** Where the table's header lies in linear memory. */
  readonly address: number;
  readonly #rules: ZoneRules;
  /** The instants of the transitions, in seconds, and the offset after each transition. */
  #transitions: number[] = [];
  #offsets: number[] = [];
  /** The offset before the first transition. */
  #firstOffset = 0;
  /** All transitions in [#knownLo, #knownHi) are known. */
  #knownLo = Number.POSITIVE_INFINITY;
  #knownHi = Number.NEGATIVE_INFINITY;
  #stepSeconds = 2 * YEAR;
  #blockAddress = 0;
  #blockBytes = 0;

  constructor(rules: ZoneRules) {
    this.#rules = rules;
    this.address = kernel.acquire(64);
    if (rules.isFixed) {
      this.#knownLo = Number.NEGATIVE_INFINITY;
      this.#knownHi = Number.POSITIVE_INFINITY;
      this.#firstOffset = rules.offsetAt(0);
    }
    this.#write();
  }

  /** The zone's name as Temporal spells it. */
  get timeZone(): string {
    return this.#rules.timeZone;
  }

  /** What the runtime knows of the zone: for instants before 1970, which the table leaves out. */
  get rules(): ZoneRules {
    return this.#rules;
  }

  /** Extends the table towards later instants, or towards earlier ones: up to the instant that is asked about, but by
   *  four years at least the first time, and by twice as much as the last time afterwards, until the table is complete.
   *  An empty table learns the time around the instant.
   *  @param instant in seconds */
  extend(isUp: boolean, instant: number): void {
    const isEmpty = this.#knownHi < this.#knownLo;
    if (isEmpty) {
      const middle = Math.floor(Math.min(Math.max(instant, 0), FOLD_BASE));
      const start = Math.max(middle - LEARN_BEFORE, KNOWN_LO_MIN);
      this.#firstOffset = this.#rules.offsetAt(start - 1);
      this.#knownLo = start > KNOWN_LO_MIN ? start : Number.NEGATIVE_INFINITY;
      this.#knownHi = start;
      this.#learnUp(middle + LEARN_AFTER);
    } else {
      this.#stepSeconds *= 2;
      if (isUp) this.#learnUp(Math.max(this.#knownHi + this.#stepSeconds, instant + LEARN_AFTER));
      else this.#learnDown(Math.min(this.#knownLo - this.#stepSeconds, instant - LEARN_BEFORE));
    }
    this.#write();
  }

  /** The offset at an instant from 1970 on, in seconds. Extends the table where it must. */
  offsetAt(instant: number): number {
    const index = this.#transitionsUntil(this.#folded(instant));
    return index === 0 ? this.#firstOffset : (this.#offsets[index - 1] ?? 0);
  }

  /** The first clock change after an instant from 1970 on, both in seconds; or null when there is none. The search
   *  looks a few days ahead: it is for callers who know that a change is near. */
  changeAfter(instant: number): number | null {
    const folded = this.#folded(instant + FAR) - FAR;
    const change = this.#transitions[this.#transitionsUntil(folded)];
    return change === undefined ? null : change + instant - folded;
  }

  // An instant of which the table knows the offset: the same one, or one some cycles of the calendar earlier.
  #folded(instant: number): number {
    while (instant >= this.#knownHi && this.#knownHi < COMPLETE_HI) this.extend(true, instant);
    while (instant < this.#knownLo) this.extend(false, instant);
    if (instant < FOLD_FROM || this.#knownHi === Number.POSITIVE_INFINITY) return instant;
    return instant - Math.floor((instant - FOLD_BASE) / CYCLE) * CYCLE;
  }

  #transitionsUntil(instant: number): number {
    let low = 0;
    let high = this.#transitions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#transitions[middle] ?? 0) <= instant) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The years that follow the last model year are not asked for: they go as the model years of their types.
  #learnUp(until: number): void {
    if (this.#knownHi >= COMPLETE_HI) return;
    const isComplete = until > MODELS_END;
    const end = Math.ceil(isComplete ? MODELS_END : until);
    this.#add(this.#rules.changes(this.#knownHi, end));
    this.#knownHi = end;
    if (!isComplete) return;
    const later = yearsByType(this.#changesFrom(MODELS_START), MODEL_LAST, COMPLETE_HI);
    this.#add(later);
    this.#knownHi = later.length === 0 ? Number.POSITIVE_INFINITY : COMPLETE_HI;
  }

  #add(changes: readonly OffsetChange[]): void {
    for (const { instant, offset } of changes) {
      this.#transitions.push(instant);
      this.#offsets.push(offset);
    }
  }

  #changesFrom(start: number): OffsetChange[] {
    const index = this.#transitionsUntil(start - 1);
    const instants = this.#transitions.slice(index);
    return instants.map((instant, ahead) => ({ instant, offset: this.#offsets[index + ahead] ?? 0 }));
  }

  #learnDown(until: number): void {
    if (this.#knownLo <= KNOWN_LO_MIN) return;
    const start = Math.floor(Math.max(until, KNOWN_LO_MIN));
    const earlier = this.#rules.changes(start, this.#knownLo);
    this.#firstOffset = this.#rules.offsetAt(start - 1);
    this.#transitions = [...earlier.map(({ instant }) => instant), ...this.#transitions];
    this.#offsets = [...earlier.map(({ offset }) => offset), ...this.#offsets];
    this.#knownLo = start > KNOWN_LO_MIN ? start : Number.NEGATIVE_INFINITY;
  }

  // Header and block as in wasm/assembly/layout.ts. Specs may keep the windows that they have copied from an older
  // block, because a longer table does not change what was known.
  #write(): void {
    const lastMinute = Math.max(Math.floor((this.#transitions.at(-1) ?? 0) / 60), 0);
    const bucketCount = Math.floor(lastMinute / BUCKET_MINUTES) + 2;
    const recordBytes = (this.#transitions.length + 3) * RECORD_BYTES;
    const bytes = recordBytes + bucketCount * 2;
    if (this.#blockBytes > 0) kernel.release(this.#blockAddress, this.#blockBytes);
    this.#blockAddress = kernel.acquire(bytes);
    this.#blockBytes = bytes;
    const isFolded = this.#knownHi >= COMPLETE_HI && this.#knownHi < Number.POSITIVE_INFINITY;
    const coverLo = this.#knownLo + MARGIN;
    const coverHi = this.#knownHi - MARGIN;
    this.#writeRecords(this.#blockAddress, coverLo, isFolded ? FOLD_FROM : coverHi);
    this.#writeBuckets(this.#blockAddress + recordBytes, bucketCount);
    const { f64, u32 } = views();
    f64[this.address / 8] = coverLo;
    f64[this.address / 8 + 1] = isFolded ? Number.POSITIVE_INFINITY : coverHi;
    f64[this.address / 8 + 2] = isFolded ? FOLD_FROM : Number.POSITIVE_INFINITY;
    u32[this.address / 4 + 6] = bucketCount - 1;
    u32[this.address / 4 + 7] = this.#blockAddress + recordBytes;
    u32[this.address / 4 + 8] = this.#blockAddress + RECORD_BYTES;
  }

  // One record for each stretch of constant offset, one before the first stretch and one after the last. The record's
  // window is the part of the stretch that no clock change touches. The window begins where no earlier change has any
  // effect, and it ends before the first wall-clock time that will come again. Several changes may lie within days.
  #writeRecords(address: number, fromSeconds: number, untilSeconds: number): void {
    const { f64, u32 } = views();
    const starts = [Number.NEGATIVE_INFINITY, ...this.#transitions, Number.POSITIVE_INFINITY];
    const offsets = [this.#firstOffset, ...this.#offsets, this.#offsets.at(-1) ?? this.#firstOffset];
    const deltas = offsets.map((offset, index) => offset - (offsets[Math.max(index - 1, 0)] ?? 0));
    for (let index = -1; index < starts.length; index++) {
      const at = address + (index + 1) * RECORD_BYTES;
      const offset = offsets[Math.max(index, 0)] ?? 0;
      f64[at >> 3] = starts[index] ?? Number.NEGATIVE_INFINITY;
      u32[(at + RECORD_OFFSET) >> 2] = offset;
      // Such a stretch gets no window, because windows count whole minutes, and an offset with seconds moves them.
      if (index < 0 || offset % 60 !== 0) continue;
      let lo = Math.max(fromSeconds, 0, -offset);
      let hi = Math.min(untilSeconds, LOCAL_END - Math.max(offset, 0));
      let moved = 0;
      for (let before = index; before > 0 && before > index - NEAR_CHANGES; before--) {
        moved += Math.abs(deltas[before] ?? 0);
        lo = Math.max(lo, (starts[before] ?? 0) + moved);
      }
      let back = 0;
      for (let after = index + 1; after < starts.length && after <= index + NEAR_CHANGES; after++) {
        back += Math.max(-(deltas[after] ?? 0), 0);
        hi = Math.min(hi, (starts[after] ?? 0) - back);
      }
      const loMinute = Math.ceil(lo / 60);
      const day = Math.floor((loMinute * 60 + offset) / DAY);
      u32[(at + RECORD_LO) >> 2] = loMinute;
      u32[(at + RECORD_SPAN) >> 2] = Math.max(Math.floor(hi / 60) - loMinute, 0);
      u32[(at + RECORD_MIDNIGHT) >> 2] = (day * DAY - offset) / 60;
      u32[(at + RECORD_DAY) >> 2] = day;
    }
  }

  // A bucket is 2^15 minutes long and names the record that its first instant lies in. A search starts at that record
  // and goes on from there. The first bucket also answers for everything before it.
  #writeBuckets(address: number, bucketCount: number): void {
    const buckets = new Uint16Array(kernel.memory.buffer, address, bucketCount);
    let from = 1;
    for (let record = 0; record <= this.#transitions.length; record++) {
      const start = this.#transitions[record] ?? Number.POSITIVE_INFINITY;
      const until = Math.min(Math.ceil(start / (BUCKET_MINUTES * 60)), bucketCount);
      if (until > from) buckets.fill(record, from, until);
      from = Math.max(from, until);
    }
  }
}

// The known name that differs in the fewest letters, or null when all names differ in many. `berlin` gives
// `Europe/Berlin`.
function nearestName(name: string): string | null {
  const wanted = name.toLowerCase().replaceAll(" ", "_");
  if (wanted.length > 40) return null;
  let best: string | null = null;
  let bestDistance = 3;
  for (const known of Intl.supportedValuesOf("timeZone")) {
    const lower = known.toLowerCase();
    if (lower.endsWith(`/${wanted}`)) return known;
    const distance = Math.abs(lower.length - wanted.length) < bestDistance ? editDistance(lower, wanted) : bestDistance;
    if (distance < bestDistance) {
      best = known;
      bestDistance = distance;
    }
  }
  return best;
}
