import { textHash } from "../core/text-hash.ts";
import { zoneTable } from "./zone.ts";
import type { ZoneRules } from "./zone-rules.ts";

/** A window begins with a year that this number divides, and not with the present year: so processes mean the same
 *  window for years, and what a store knows of it stays good over New Year. */
const WINDOW_STEP_YEARS = 4;
/** So the present year and three more are always in the window. */
const WINDOW_YEARS = 8;
/** The first and the last first year of a window: before and after them zones have no rules that matter here. */
const FIRST_YEAR_MIN = 1972;
const FIRST_YEAR_MAX = 9988;
/** Most fingerprints that are kept: many more than there are zones. */
const FINGERPRINTS_MAX = 2_000;
const HASH_LENGTH = 8;

const kept = new Map<string, string | null>();

/** The year with which the window begins that an instant lies in, in UTC. @param nowMs epoch milliseconds */
export function zoneWindowOf(nowMs: number): number {
  const year = new Date(nowMs).getUTCFullYear();
  return year - (year % WINDOW_STEP_YEARS);
}

/** The instants for which a window is the one of the present, in epoch milliseconds. */
export function presentOf(firstYear: number): { readonly fromMs: number; readonly untilMs: number } {
  return { fromMs: startOf(firstYear) * 1000, untilMs: startOf(firstYear + WINDOW_STEP_YEARS) * 1000 };
}

/**
 * A short text that tells whether two runtimes know the same clock changes of a time zone in a window of eight years:
 * the first year of the window and a hash, such as `2024 1f2e3d4c`. The window's year is a part of the text, so that
 * another process can compute its own fingerprint of the same window. Null for `UTC` and other offsets that never
 * change, and for a window that no process would write.
 *
 * @param timeZone an IANA name as Temporal spells it. Aliases have fingerprints of their own
 * @param firstYear a year that {@link zoneWindowOf} returns
 * @throws {OptionsError} when the zone is unknown here
 */
export function zoneFingerprint(timeZone: string, firstYear: number): string | null {
  const key = `${timeZone} ${firstYear}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const fingerprint = fingerprintOfRules(zoneTable(timeZone).rules, firstYear);
  if (kept.size >= FINGERPRINTS_MAX) kept.clear();
  kept.set(key, fingerprint);
  return fingerprint;
}

/** {@link zoneFingerprint} of rules that are given; nothing is kept. */
export function fingerprintOfRules(rules: ZoneRules, firstYear: number): string | null {
  const isWindow = firstYear % WINDOW_STEP_YEARS === 0 && firstYear >= FIRST_YEAR_MIN && firstYear <= FIRST_YEAR_MAX;
  if (rules.isFixed || !isWindow) return null;
  const from = startOf(firstYear);
  let offset = rules.offsetAt(from - 1);
  const facts = [offset];
  for (const change of rules.changes(from, startOf(firstYear + WINDOW_YEARS))) {
    // Some runtimes also name transitions that only change the name of the time.
    if (change.offset === offset) continue;
    offset = change.offset;
    facts.push(change.instant, offset);
  }
  return `${firstYear} ${textHash(facts.join()).slice(0, HASH_LENGTH)}`;
}

/** In seconds. */
function startOf(year: number): number {
  return Date.UTC(year, 0, 1) / 1000;
}
