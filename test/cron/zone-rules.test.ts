import { Temporal as polyfill } from "temporal-polyfill/implementation";
import { describe, expect, test } from "vitest";
import { nativeTemporal } from "../../src/core/temporal.ts";
import { IntlRules, spelledZone } from "../../src/cron/intl-rules.ts";
import { TemporalRules } from "../../src/cron/temporal-rules.ts";
import { yearsByType } from "../../src/cron/year-types.ts";
import { fixedRules, type OffsetChange } from "../../src/cron/zone-rules.ts";
import { fromEnvironment } from "./differential.ts";

// The rules that Intl has are compared with those of the polyfill, which knows them from Intl as well, but searches in
// another way. All zones: npm run compare:zones

/** Zones with all that is difficult: offsets that last a week, seconds in offsets, changes one minute after midnight, a
 *  lost day, changes of half an hour and of two hours, negative daylight saving, Ramadan, none at all, old names. */
const HARD = [
  "America/Recife",
  "America/Argentina/Tucuman",
  "Asia/Gaza",
  "Africa/Casablanca",
  "Africa/Monrovia",
  "America/Goose_Bay",
  "Pacific/Apia",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
  "Europe/Dublin",
  "Asia/Tokyo",
  "Asia/Calcutta",
  "US/Pacific",
  "Etc/GMT+5",
];
const SEED = fromEnvironment("ZONE_SEED", Math.floor(Math.random() * 2 ** 31));
const ALL = Intl.supportedValuesOf("timeZone");
const isWhole = fromEnvironment("ZONES_ALL", 0) === 1;
const SAMPLE = isWhole ? [...new Set([...HARD, ...ALL])] : [...HARD, ALL[SEED % ALL.length] ?? "Asia/Tehran"];

const seconds = (year: number): number => Date.UTC(year, 0, 1) / 1000;

describe(`the rules that Intl has (ZONE_SEED=${SEED})`, () => {
  test.each(SAMPLE)("of %s are those of Temporal, from 1970 to 2100", (timeZone) => {
    const [start, end] = [seconds(1970), seconds(2101)];
    const expected = new TemporalRules(timeZone, polyfill).changes(start, end);
    expect(new IntlRules(timeZone).changes(start, end)).toEqual(expected);
  });

  test.each(SAMPLE)("of %s do not depend on where a search begins", (timeZone) => {
    const rules = new IntlRules(timeZone);
    const whole = rules.changes(seconds(1999), seconds(2043));
    for (const day of [1, 2, 3, 4, 5]) {
      const from = seconds(1999) + day * 86_400 + 4567;
      expect(rules.changes(from, seconds(2043))).toEqual(whole.filter(({ instant }) => instant >= from));
    }
    const parts: OffsetChange[] = [];
    for (let from = seconds(1999); from < seconds(2043); from += 200_003) {
      parts.push(...rules.changes(from, Math.min(from + 200_003, seconds(2043))));
    }
    expect(parts).toEqual(whole);
  });

  test.each(SAMPLE)("of %s have the offsets that Temporal has, before 1970 too", (timeZone) => {
    const rules = new IntlRules(timeZone);
    const temporal = new TemporalRules(timeZone, polyfill);
    let state = SEED;
    for (let count = 0; count < 100; count++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      // From the year 1560 to 2240: a step of 5 seconds that is no divisor of a minute.
      const instant = state * 5 - 12_900_000_000 + (count % 60);
      expect([instant, rules.offsetAt(instant)]).toEqual([instant, temporal.offsetAt(instant)]);
    }
    for (const instant of [-8.64e12, 8.64e12, seconds(0), seconds(9999)]) {
      expect([instant, rules.offsetAt(instant)]).toEqual([instant, temporal.offsetAt(instant)]);
    }
  });

  test("change at the very ends of what is asked for", () => {
    const rules = new IntlRules("Europe/Berlin");
    const change = { instant: Date.UTC(2026, 2, 29, 1) / 1000, offset: 7200 };
    expect(rules.changes(change.instant, change.instant + 1)).toEqual([change]);
    expect(rules.changes(change.instant + 1, change.instant + 2)).toEqual([]);
    expect(rules.changes(change.instant - 1, change.instant)).toEqual([]);
    expect(rules.changes(change.instant, change.instant)).toEqual([]);
  });
});

describe("years of the same type", () => {
  test.each(isWhole ? SAMPLE : HARD.slice(0, 6))("go alike in %s", (timeZone) => {
    const rules = nativeTemporal === null ? new IntlRules(timeZone) : new TemporalRules(timeZone, nativeTemporal);
    const models = rules.changes(seconds(2101), seconds(2129));
    const expected = rules.changes(seconds(2129), seconds(2502));
    expect(yearsByType(models, 2128, seconds(2502))).toEqual(expected);
  });
});

describe("names", () => {
  test("are spelled as Temporal spells them, in whatever case they come", () => {
    const names = [...SAMPLE, ...ALL, "Asia/Kolkata", "GB-Eire", "W-SU", "EST5EDT", "Etc/UCT", "NZ-CHAT", "Etc/GMT-14"];
    for (const name of names) {
      expect([name, name.toLowerCase(), name.toUpperCase()].map(spelledZone)).toEqual([name, name, name]);
    }
  });

  test.each(["PST", "act", "SystemV/PST8"])("that only Intl knows, as %s, are none", (name) => {
    expect(() => spelledZone(name)).toThrow(RangeError);
  });

  test.each([
    ["+05:30", "+05:30", 19_800],
    ["-0930", "-09:30", -34_200],
    ["+05", "+05:00", 18_000],
    ["-00:00", "+00:00", 0],
    ["utc", "UTC", 0],
    ["-23:59", "-23:59", -86_340],
  ])("that are offsets, as %s, are those of Temporal", (name, timeZone, offset) => {
    const rules = fixedRules(name);
    expect([rules?.timeZone, rules?.offsetAt(0), rules?.changes(0, 1)]).toEqual([timeZone, offset, []]);
    expect(new polyfill.ZonedDateTime(0n, name).timeZoneId).toBe(timeZone);
  });

  test.each(["+24:00", "+5", "+05:60", "5", "", "+05:30:00", "+05:3"])(
    "that are none, as %j, are no offsets",
    (name) => {
      expect(fixedRules(name)).toBeNull();
    },
  );
});
