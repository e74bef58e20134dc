/** What clocks of a zone show since a government changed its rules: data of an earlier release says otherwise. */
interface ZoneFact {
  /** The release of the IANA time zone database that knows it. */
  readonly release: string;
  readonly timeZone: string;
  readonly instant: string;
  /** Such as `-07:00`. */
  readonly offset: string;
}

/** By release, the newest last. Times between clock changes, so that one look tells old data from new. */
const FACTS: readonly ZoneFact[] = [
  // Paraguay keeps its summer time since October 2024.
  { release: "2025a", timeZone: "America/Asuncion", instant: "2025-07-01T12:00:00Z", offset: "-03:00" },
  // British Columbia did not go back in November 2026, nor did Alberta and the Northwest Territories.
  { release: "2026b", timeZone: "America/Vancouver", instant: "2026-12-01T12:00:00Z", offset: "-07:00" },
  { release: "2026c", timeZone: "America/Edmonton", instant: "2026-12-01T12:00:00Z", offset: "-06:00" },
  // Morocco is on UTC since September 2026.
  { release: "2026c", timeZone: "Africa/Casablanca", instant: "2026-12-01T12:00:00Z", offset: "+00:00" },
  { release: "2026d", timeZone: "America/Inuvik", instant: "2026-12-01T12:00:00Z", offset: "-06:00" },
];

/** A fact that the time zone data of a runtime does not know. */
export interface StaleZone {
  readonly fact: ZoneFact;
  /** What the runtime says; null where it does not know the zone. */
  readonly found: string | null;
}

/** Looks for zones whose rules changed lately, of which a runtime does not know.
 *  @param offsetAt what the runtime says */
export function staleZones(offsetAt: (timeZone: string, instant: string) => string | null): readonly StaleZone[] {
  return FACTS.map((fact) => ({ fact, found: offsetAt(fact.timeZone, fact.instant) })).filter(
    ({ fact, found }) => found !== fact.offset,
  );
}
