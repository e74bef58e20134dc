import { expect, test } from "vitest";
import { staleZones } from "../../src/cli/zone-facts.ts";
import { Temporal } from "../../src/core/temporal.ts";

/** Time zone data as it was in a release: what it says of the zones that are asked about. */
const RELEASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2024b": {
    ...{ "America/Asuncion": "-04:00", "America/Vancouver": "-08:00", "America/Edmonton": "-07:00" },
    ...{ "Africa/Casablanca": "+01:00", "America/Inuvik": "-07:00" },
  },
  "2025c": {
    ...{ "America/Asuncion": "-03:00", "America/Vancouver": "-08:00", "America/Edmonton": "-07:00" },
    ...{ "Africa/Casablanca": "+01:00", "America/Inuvik": "-07:00" },
  },
  "2026b": {
    ...{ "America/Asuncion": "-03:00", "America/Vancouver": "-07:00", "America/Edmonton": "-07:00" },
    ...{ "Africa/Casablanca": "+01:00", "America/Inuvik": "-07:00" },
  },
  "2026d": {
    ...{ "America/Asuncion": "-03:00", "America/Vancouver": "-07:00", "America/Edmonton": "-06:00" },
    ...{ "Africa/Casablanca": "+00:00", "America/Inuvik": "-06:00" },
  },
};

test.each<[release: string, stale: string[]]>([
  ["2024b", ["America/Asuncion", "America/Vancouver", "America/Edmonton", "Africa/Casablanca", "America/Inuvik"]],
  ["2025c", ["America/Vancouver", "America/Edmonton", "Africa/Casablanca", "America/Inuvik"]],
  ["2026b", ["America/Edmonton", "Africa/Casablanca", "America/Inuvik"]],
  ["2026d", []],
])("data of %s does not know of the changes of %j", (release, stale) => {
  const found = staleZones((timeZone) => RELEASES[release]?.[timeZone] ?? null);
  expect(found.map(({ fact }) => fact.timeZone)).toEqual(stale);
});

test("a zone that the runtime does not know is one of them", () => {
  expect(staleZones(() => null).map(({ found }) => found)).toEqual([null, null, null, null, null]);
});

test("a fact is an offset of its zone that does not change within the days around", () => {
  for (const { fact } of staleZones(() => null)) {
    const at = Temporal.Instant.from(fact.instant);
    const offsets = [-48, 0, 48].map((hours) => at.add({ hours }).toZonedDateTimeISO(fact.timeZone).offset);
    expect(new Set(offsets).size).toBe(1);
    expect(fact.release).toMatch(/^20\d\d[a-z]$/);
  }
});
