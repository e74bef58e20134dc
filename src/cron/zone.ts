import { OptionsError } from "../core/errors.ts";
import { editDistance } from "../core/suggest.ts";
import { Temporal } from "../core/temporal.ts";
import { timerHost } from "../core/timer-host.ts";
import { kernel, views } from "./kernel.ts";

const DAY = 86_400;
const YEAR = 365.2425 * DAY;
/** Older transitions are not asked for, because nothing fires before 1970 on any wall clock. */
const KNOWN_LO_MIN = -4 * DAY;
/** How far beyond either end of what the table answers for transitions must be known. No clock was ever put forward or
 *  back by more than this. */
const MARGIN = 2 * DAY;
/** How far {@link ZoneTable.changeAfter} looks ahead. */
const FAR = 4 * DAY;
/** 2100-01-01 and 2500-01-01. From 2100 on, every zone follows a rule that repeats every 400 years, as the Gregorian
 *  calendar does. So a table that reaches 2500 has every answer: the year 2610 is answered as 2210. (The last irregular
 *  zones put their clocks back in Ramadan, and have their dates fixed up to 2087.) */
const FOLD_BASE = 4_102_444_800;
const FOLD_FROM = 16_725_225_600;
const CYCLE = 12_622_780_800;
const COMPLETE_HI = FOLD_FROM + 2 * YEAR;
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
/** The longest name has 32 characters. Longer text is refused here, because Temporal would parse a megabyte of it. */
const TIME_ZONE_LENGTH_MAX = 80;
const FIXED_OFFSET = /^(?:UTC|[+-]\d\d:\d\d)$/;

const tables = new Map<string, ZoneTable>();
/** The table that was asked for last, because it is often asked for next as well. */
let latest: ZoneTable | null = null;

/** The table of a zone. All who ask for the zone share one table. `timeZone` is an IANA name or an offset, spelled as
 *  Temporal spells it.
 *  @throws {OptionsError} when the zone is unknown */
export function zoneTable(timeZone: string): ZoneTable {
  if (timeZone === latest?.timeZone) return latest;
  let table = tables.get(timeZone);
  if (table === undefined) {
    table = new ZoneTable(canonicalTimeZone(timeZone));
    tables.set(timeZone, table);
  }
  latest = table;
  return table;
}

/** A time zone's name as Temporal spells it. For example, `europe/berlin` is `Europe/Berlin`.
 *  @throws {OptionsError} when the zone is unknown, with a suggestion where one is near */
export function canonicalTimeZone(timeZone: string): string {
  try {
    if (timeZone.length > TIME_ZONE_LENGTH_MAX) throw new RangeError("too long for the name of a time zone");
    return new Temporal.ZonedDateTime(0n, timeZone).timeZoneId;
  } catch (cause) {
    const shown = JSON.stringify(String(timeZone).slice(0, 80));
    const near = nearestName(String(timeZone));
    const message =
      `must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ${shown}` +
      (near === null ? "" : `: did you mean "${near}"?`);
    throw new OptionsError(`timeZone ${message}`, [{ path: "timeZone", message }], { cause });
  }
}

/**
 * The transitions of a time zone, as the engine reads them in linear memory.
 *
 * Asking Temporal for a transition costs up to a third of a millisecond where it is polyfilled, so the table starts
 * with the years around the present and is extended when a search reaches its end.
 */
export class ZoneTable {
  readonly timeZone: string;
  /** Where the table's header lies in linear memory. */
  readonly address: number;
  /** The instants of the transitions, in seconds, and the offset after each transition. */
  #transitions: number[] = [];
  #offsets: number[] = [];
  /** The offset before the first transition. */
  #firstOffset: number;
  /** All transitions in [#knownLo, #knownHi) are known. */
  #knownLo: number;
  #knownHi: number;
  #stepSeconds = 2 * YEAR;
  #blockAddress = 0;
  #blockBytes = 0;

  constructor(timeZone: string) {
    this.timeZone = timeZone;
    this.address = kernel.acquire(64);
    const now = Math.min(Math.max(Math.floor(timerHost.now() / 1000), 0), FOLD_BASE);
    this.#knownLo = Math.max(Math.floor(now - YEAR), KNOWN_LO_MIN);
    this.#knownHi = this.#knownLo;
    this.#firstOffset = offsetAt(this.#knownLo, timeZone);
    if (FIXED_OFFSET.test(timeZone)) {
      this.#knownLo = Number.NEGATIVE_INFINITY;
      this.#knownHi = Number.POSITIVE_INFINITY;
    } else {
      this.#learnUp(Math.ceil(now + 2 * YEAR));
    }
    this.#write();
  }

  /** Extends the table towards later instants, or towards earlier ones: by four years the first time, and by twice as
   *  much as the last time afterwards, until the table is complete. */
  extend(isUp: boolean): void {
    this.#stepSeconds *= 2;
    if (isUp) this.#learnUp(Math.ceil(Math.min(this.#knownHi + this.#stepSeconds, COMPLETE_HI)));
    else this.#learnDown(Math.floor(Math.max(this.#knownLo - this.#stepSeconds, KNOWN_LO_MIN)));
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
    while (instant >= this.#knownHi && this.#knownHi < COMPLETE_HI) this.extend(true);
    while (instant < this.#knownLo) this.extend(false);
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

  #learnUp(until: number): void {
    if (this.#knownHi >= until) return;
    let cursor = zonedAt(this.#knownHi - 1, this.timeZone);
    while (this.#knownHi < until) {
      const transition = cursor.getTimeZoneTransition("next");
      if (transition === null) {
        this.#knownHi = Number.POSITIVE_INFINITY;
        return;
      }
      this.#transitions.push(secondsOf(transition));
      this.#offsets.push(offsetOf(transition));
      this.#knownHi = secondsOf(transition) + 1;
      cursor = transition;
    }
  }

  #learnDown(until: number): void {
    const transitions: number[] = [];
    const offsets: number[] = [];
    if (this.#knownLo <= until) return;
    let cursor = zonedAt(this.#knownLo, this.timeZone);
    while (this.#knownLo > until) {
      const transition = cursor.getTimeZoneTransition("previous");
      if (transition === null || secondsOf(transition) < KNOWN_LO_MIN) {
        this.#knownLo = Number.NEGATIVE_INFINITY;
        break;
      }
      transitions.push(secondsOf(transition));
      offsets.push(offsetOf(transition));
      this.#knownLo = secondsOf(transition);
      this.#firstOffset = offsetAt(this.#knownLo - 1, this.timeZone);
      cursor = transition;
    }
    if (this.#knownLo <= KNOWN_LO_MIN) this.#knownLo = Number.NEGATIVE_INFINITY;
    this.#transitions = [...transitions.reverse(), ...this.#transitions];
    this.#offsets = [...offsets.reverse(), ...this.#offsets];
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
    const offsets = [this.#firstOffset, ...this.#offsets];
    const offsetOfStretch = (index: number): number => offsets[Math.min(Math.max(index, 0), offsets.length - 1)] ?? 0;
    const deltaAt = (index: number): number => offsetOfStretch(index) - offsetOfStretch(index - 1);
    for (let index = -1; index < starts.length; index++) {
      const at = address + (index + 1) * RECORD_BYTES;
      const offset = offsetOfStretch(index);
      f64[at >> 3] = starts[index] ?? Number.NEGATIVE_INFINITY;
      u32[(at + RECORD_OFFSET) >> 2] = offset;
      // Such a stretch gets no window, because windows count whole minutes, and an offset with seconds moves them.
      if (index < 0 || offset % 60 !== 0) continue;
      let lo = Math.max(fromSeconds, 0, -offset);
      let hi = Math.min(untilSeconds, LOCAL_END - Math.max(offset, 0));
      let moved = 0;
      for (let before = index; before > 0 && before > index - NEAR_CHANGES; before--) {
        moved += Math.abs(deltaAt(before));
        lo = Math.max(lo, (starts[before] ?? 0) + moved);
      }
      let back = 0;
      for (let after = index + 1; after < starts.length && after <= index + NEAR_CHANGES; after++) {
        back += Math.max(-deltaAt(after), 0);
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
    let record = 0;
    for (let bucket = 1; bucket < bucketCount; bucket++) {
      const start = bucket * BUCKET_MINUTES * 60;
      while ((this.#transitions[record] ?? Number.POSITIVE_INFINITY) <= start) record++;
      buckets[bucket] = record;
    }
  }
}

function zonedAt(seconds: number, timeZone: string): Temporal.ZonedDateTime {
  return new Temporal.ZonedDateTime(BigInt(seconds) * 1_000_000_000n, timeZone);
}

function offsetAt(seconds: number, timeZone: string): number {
  return offsetOf(zonedAt(seconds, timeZone));
}

// Some offsets have seconds (Monrovia until 1972), but none has fractions of one, because the time zone database has
// none.
function offsetOf(zoned: Temporal.ZonedDateTime): number {
  return Math.round(zoned.offsetNanoseconds / 1e9);
}

function secondsOf(zoned: Temporal.ZonedDateTime): number {
  return Math.floor(zoned.epochMilliseconds / 1000);
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
