import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { IntlRules } from "../../src/cron/intl-rules.ts";
import { TemporalRules } from "../../src/cron/temporal-rules.ts";
import { fingerprintOfRules, zoneFingerprint, zoneWindowOf } from "../../src/cron/zone-fingerprint.ts";
import type { OffsetChange, ZoneRules } from "../../src/cron/zone-rules.ts";

const SPRING = Date.UTC(2026, 2, 29, 1) / 1000;
const AUTUMN = Date.UTC(2026, 9, 25, 1) / 1000;

function rulesOf(changes: readonly OffsetChange[], before = 3600): ZoneRules {
  return {
    timeZone: "Test/Zone",
    isFixed: false,
    offsetAt: () => before,
    changes: (from, until) => changes.filter(({ instant }) => instant >= from && instant < until),
  };
}

const BERLIN_2026 = [
  { instant: SPRING, offset: 7200 },
  { instant: AUTUMN, offset: 3600 },
];

describe("the fingerprint of a time zone", () => {
  test("names the first year of its window, and a hash", () => {
    expect(zoneFingerprint("Europe/Berlin", 2024)).toMatch(/^2024 [0-9a-f]{8}$/);
  });

  test("is that of the same clock changes, whoever tells them", () => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Gaza", "Australia/Lord_Howe"]) {
      const told = [new IntlRules(zone), new TemporalRules(zone, Temporal)].map((rules) =>
        fingerprintOfRules(rules, 2024),
      );
      expect([zone, ...told]).toEqual([zone, zoneFingerprint(zone, 2024), zoneFingerprint(zone, 2024)]);
    }
  });

  test("is another one when a clock change moves, comes, goes or leads to another offset", () => {
    const all = [
      BERLIN_2026,
      BERLIN_2026.map(({ instant, offset }) => ({ instant: instant + 3600, offset })),
      BERLIN_2026.slice(0, 1),
      [],
      BERLIN_2026.map(({ instant, offset }) => ({ instant, offset: offset + 1800 })),
    ].map((changes) => fingerprintOfRules(rulesOf(changes), 2024));
    const others = [fingerprintOfRules(rulesOf([], 7200), 2024), fingerprintOfRules(rulesOf(BERLIN_2026), 2020)];
    expect(new Set([...all, ...others]).size).toBe(7);
  });

  test("heeds no transition that leaves the offset as it is, and none outside of the window", () => {
    const renamed = { instant: SPRING + 86_400, offset: 7200 };
    const outside = [Date.UTC(2023, 11, 31), Date.UTC(2032, 0, 1)].map((ms) => ({ instant: ms / 1000, offset: 0 }));
    const [first, second] = BERLIN_2026 as [OffsetChange, OffsetChange];
    const changes = [outside[0], first, renamed, second, outside[1]].filter((change) => change !== undefined);
    expect(fingerprintOfRules(rulesOf(changes), 2024)).toBe(fingerprintOfRules(rulesOf(BERLIN_2026), 2024));
  });

  test("is missing where the offset never changes, and for a window that nobody writes", () => {
    expect(["UTC", "+05:30", "-0930"].map((zone) => zoneFingerprint(zone, 2024))).toEqual([null, null, null]);
    const windows = [1968, 2023, 2025, 9992, 2024.5, Number.NaN];
    expect(windows.map((year) => zoneFingerprint("Europe/Berlin", year))).toEqual(windows.map(() => null));
    expect(() => zoneFingerprint("Europe/Berlln", 2024)).toThrow("Europe/Berlln");
  });

  test("stays the same in the years for which its window is the one of the present", () => {
    const years = [1973, 2023, 2024, 2027, 2028];
    expect(years.map((year) => zoneWindowOf(Date.UTC(year, 11, 31, 23, 59)))).toEqual([1972, 2020, 2024, 2024, 2028]);
    expect(zoneWindowOf(Date.UTC(2028, 0, 1))).toBe(2028);
  });
});
