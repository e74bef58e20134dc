import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { Temporal } from "../../src/core/temporal.ts";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import { canonicalTimeZone, zoneTable } from "../../src/cron/zone.ts";
import { ZONES } from "./arbitraries.ts";
import { at, EVERY_60, EVERY_HOUR, range, specOf } from "./spec-maker.ts";

describe("names", () => {
  test("a zone is spelled as Temporal spells it", () => {
    expect(canonicalTimeZone("europe/berlin")).toBe("Europe/Berlin");
    expect(canonicalTimeZone("utc")).toBe("UTC");
    expect(canonicalTimeZone("+05:30")).toBe("+05:30");
  });

  test.each([
    [
      "Europe/Berlim",
      'timeZone must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ' +
        '"Europe/Berlim": did you mean "Europe/Berlin"?',
    ],
    [
      "berlin",
      'timeZone must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ' +
        '"berlin": did you mean "Europe/Berlin"?',
    ],
    [
      "Mars/Olympus_Mons",
      'timeZone must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ' +
        '"Mars/Olympus_Mons"',
    ],
    ["", 'timeZone must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ""'],
  ])("the unknown zone %j is refused", (name, message) => {
    const error = errorOf(() => new CompiledCron(specOf({ timeZone: name })));
    expect(error).toBeInstanceOf(OptionsError);
    expect(error).toMatchObject({ message, issues: [{ path: "timeZone", message: message.replace("timeZone ", "") }] });
  });

  test("a megabyte of name is refused in a short message", () => {
    expect(String(errorOf(() => canonicalTimeZone("x".repeat(1_000_000))))).toHaveLength(191);
  });

  function errorOf(action: () => unknown): unknown {
    try {
      action();
    } catch (error) {
      return error;
    }
    return null;
  }
});

describe("tables", () => {
  test("all specs of a zone share one", () => {
    expect(zoneTable("Europe/Berlin")).toBe(zoneTable("Europe/Berlin"));
  });

  test("extending a complete table changes nothing", () => {
    const table = zoneTable("America/Phoenix");
    for (let round = 0; round < 20; round++) table.extend(round % 2 === 0, 0);
    const cron = new CompiledCron(specOf({ ...at("12:00"), timeZone: "America/Phoenix" }));
    expect(cron.nextMs(Date.UTC(9000, 0, 1))).toBe(Date.UTC(9000, 0, 1, 19));
    expect(cron.nextMs(Date.UTC(1970, 0, 2))).toBe(Date.UTC(1970, 0, 2, 19));
  });

  const YEARS_NEAR = [2026, 1985, 2040, 1970, 2090, 2099, 2100, 2101];
  const YEARS_FAR = [2026, 9998, 2499, 2500, 2501, 1971, 3333];

  // Years are in no order, so that tables are extended in both directions.
  test.each([
    ...ZONES.map((timeZone) => ({ timeZone, years: YEARS_NEAR })),
    ...["Europe/Berlin", "America/New_York", "Africa/Casablanca"].map((timeZone) => ({ timeZone, years: YEARS_FAR })),
  ])("noon in $timeZone is noon by Temporal, in the years $years", ({ timeZone, years }) => {
    const cron = new CompiledCron(specOf({ ...at("12:00"), timeZone }));
    for (const year of years) {
      for (const month of [0, 2, 3, 5, 9, 10]) {
        const ms = cron.nextMs(Date.UTC(year, month, 20)) ?? Number.NaN;
        const zoned = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
        expect(zoned.toPlainTime().toString()).toBe("12:00:00");
      }
    }
  });

  test("clock changes repeat every 400 years from 2100 on, as Temporal has them", () => {
    for (const timeZone of ["Europe/Berlin", "America/New_York"]) {
      const cron = new CompiledCron(
        specOf({ seconds: EVERY_60, minutes: EVERY_60, hours: EVERY_HOUR, timeZone, gap: "skip", overlap: "first" }),
      );
      for (const year of range(2480, 2520, 3)) {
        let zoned = new Temporal.ZonedDateTime(BigInt(Date.UTC(year, 0, 1)) * 1_000_000n, timeZone);
        for (let count = 0; count < 2; count++) {
          zoned = zoned.getTimeZoneTransition("next") ?? zoned;
          // With "first", the second pass of an overlap is silent; a gap takes no real second away.
          const before = zoned.subtract({ seconds: 1 });
          const repeated = Math.max(0, (before.offsetNanoseconds - zoned.offsetNanoseconds) / 1e6);
          expect(cron.nextMs(zoned.epochMilliseconds - 1)).toBe(zoned.epochMilliseconds + repeated);
        }
      }
    }
  });
});
