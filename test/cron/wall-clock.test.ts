import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import type { GapPolicy, OverlapPolicy } from "../../src/cron/spec.ts";
import { dayAt, startOfDay, wallTimes } from "../../src/cron/wall-clock.ts";

const DAY = 86_400;
/** Changes of half an hour, an hour and a day, at midnight and just after it, and before 1970. */
const CHANGES: readonly [timeZone: string, changes: readonly string[]][] = [
  ["Europe/Berlin", ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2610-03-28T01:00:00Z", "1949-10-02T01:00:00Z"]],
  ["Australia/Lord_Howe", ["2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"]],
  ["Pacific/Apia", ["2011-12-30T10:00:00Z"]],
  ["America/Sao_Paulo", ["2018-11-04T03:00:00Z", "2018-02-18T02:00:00Z"]],
  ["America/St_Johns", ["2010-03-14T03:31:00Z", "2010-11-07T02:31:00Z"]],
  ["Africa/Monrovia", ["1972-01-07T00:44:30Z"]],
  ["+05:30", ["2026-01-01T00:00:00Z"]],
];
const NEAR_SECONDS = [-90_000, -5400, -1800, -1, 0, 1, 1799, 3599, 3600, 7200, 43_200, 90_000];
const POLICIES: readonly [GapPolicy, OverlapPolicy][] = [
  ["advance", "first"],
  ["shift", "both"],
  ["skip", "second"],
];

/** The same, read from Temporal. */
function temporalTimes(local: number, timeZone: string, gap: GapPolicy, overlap: OverlapPolicy): number[] {
  const wall = new Temporal.PlainDateTime(1970, 1, 1).add({ seconds: local });
  const earlier = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  const later = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
  const both = [...new Set([earlier.epochMilliseconds, later.epochMilliseconds])];
  if (!earlier.toPlainDateTime().equals(wall)) {
    const end = earlier.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.NaN;
    return { skip: [], shift: [later.epochMilliseconds], advance: [end] }[gap];
  }
  return { both, first: both.slice(0, 1), second: both.slice(-1) }[overlap];
}

describe("the wall clock", () => {
  test.each(CHANGES)("of %s shows what Temporal says, around clock changes", (timeZone, changes) => {
    for (const change of changes) {
      const zoned = Temporal.Instant.from(change).toZonedDateTimeISO(timeZone);
      for (const near of NEAR_SECONDS) {
        const instantMs = zoned.epochMilliseconds + near * 1000;
        const local = Math.floor(zoned.epochMilliseconds / 1000 + zoned.offsetNanoseconds / 1e9) + near;
        const day = Math.floor(local / DAY);
        for (const [gap, overlap] of POLICIES) {
          expect([change, near, ...wallTimes(day, local - day * DAY, timeZone, gap, overlap)]).toEqual([
            change,
            near,
            ...temporalTimes(local, timeZone, gap, overlap),
          ]);
        }
        const date = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(timeZone).toPlainDate();
        expect(dayAt(instantMs, timeZone)).toBe(date.since("1970-01-01").days);
        const plain = new Temporal.PlainDate(1970, 1, 1).add({ days: day });
        expect(startOfDay(day, timeZone)).toBe(plain.toZonedDateTime(timeZone).epochMilliseconds);
      }
    }
  });

  test.each(["UTC", "Europe/Rome", "Pacific/Apia", "+05:30"])("of %s has an answer for every number", (timeZone) => {
    for (const ms of [-1e300, -8.64e15, -8.64e15 + 0.5, -1, 0, 8.64e15, 1e300]) {
      expect(Number.isFinite(dayAt(ms, timeZone))).toBe(true);
      const day = Math.floor(Math.max(-1e9, Math.min(ms / 86_400_000, 1e9)));
      expect(wallTimes(day, 0, timeZone, "advance", "both").every(Number.isFinite)).toBe(true);
      expect(Number.isFinite(startOfDay(day, timeZone))).toBe(true);
    }
  });
});
