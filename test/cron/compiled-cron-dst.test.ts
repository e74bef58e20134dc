// Golden vectors: every row of the daylight saving tables of the semantics, with dates that no time zone update
// changes.
import { describe, expect, test } from "vitest";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import type { CronSpec, GapPolicy, OverlapPolicy } from "../../src/cron/spec.ts";
import { at, bits, bits32, EVERY_60, EVERY_HOUR, range, specOf } from "./spec-maker.ts";

const iso = (...times: string[]): string[] => times.map((time) => new Date(time).toISOString());

function between(spec: Partial<CronSpec>, from: string, until: string): string[] {
  const cron = new CompiledCron(specOf(spec));
  const forwards: number[] = [];
  for (let ms = cron.nextMs(Date.parse(from) - 1); ms !== null && ms <= Date.parse(until); ms = cron.nextMs(ms)) {
    forwards.push(ms);
  }
  const backwards: number[] = [];
  for (
    let ms = cron.previousMs(Date.parse(until) + 1);
    ms !== null && ms >= Date.parse(from);
    ms = cron.previousMs(ms)
  ) {
    backwards.push(ms);
  }
  // All ways to ask give the same answer.
  expect(backwards.reverse()).toEqual(forwards);
  expect([...cron.expand(Date.parse(from), Date.parse(until), 1000)]).toEqual(forwards);
  expect(cron.count(Date.parse(from), Date.parse(until))).toBe(forwards.length);
  for (const ms of forwards) expect(cron.matches(ms)).toBe(true);
  return forwards.map((ms) => new Date(ms).toISOString());
}

describe("a time that does not exist (02:30 in Berlin on 29 March 2026)", () => {
  const on = (gap: GapPolicy) =>
    between({ ...at("2:30"), timeZone: "Europe/Berlin", gap }, "2026-03-28T00:00:00Z", "2026-03-30T23:00:00Z");

  test("fires at the first instant after the gap with advance", () => {
    expect(on("advance")).toEqual(iso("2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"));
  });

  test("fires at the same distance after the gap's start with shift", () => {
    expect(on("shift")).toEqual(iso("2026-03-28T02:30+01:00", "2026-03-29T03:30+02:00", "2026-03-30T02:30+02:00"));
  });

  test("does not fire with skip", () => {
    expect(on("skip")).toEqual(iso("2026-03-28T02:30+01:00", "2026-03-30T02:30+02:00"));
  });
});

describe("a time that exists twice (02:30 in Berlin on 25 October 2026)", () => {
  const on = (overlap: OverlapPolicy) =>
    between({ ...at("2:30"), timeZone: "Europe/Berlin", overlap }, "2026-10-24T00:00:00Z", "2026-10-26T23:00:00Z");

  test("fires on its first occurrence with first", () => {
    expect(on("first")).toEqual(iso("2026-10-24T02:30+02:00", "2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"));
  });

  test("fires on its second occurrence with second", () => {
    expect(on("second")).toEqual(iso("2026-10-24T02:30+02:00", "2026-10-25T02:30+01:00", "2026-10-26T02:30+01:00"));
  });

  test("fires on both occurrences with both", () => {
    expect(on("both")).toEqual(
      iso("2026-10-24T02:30+02:00", "2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", "2026-10-26T02:30+01:00"),
    );
  });
});

describe("several times in one gap", () => {
  const quarterHours = { minutes: bits(0, 15, 30, 45), hours: bits32(2, 3), timeZone: "Europe/Berlin" };
  const night: [string, string] = ["2026-03-29T00:00:00Z", "2026-03-29T06:00:00Z"];

  test("fire once, together with a regular time at the same instant, with advance", () => {
    expect(between({ ...quarterHours, gap: "advance" }, ...night)).toEqual(
      iso("2026-03-29T01:00Z", "2026-03-29T01:15Z", "2026-03-29T01:30Z", "2026-03-29T01:45Z"),
    );
  });

  test("fire once with the regular times that they fall on with shift", () => {
    expect(between({ ...quarterHours, gap: "shift" }, ...night)).toEqual(
      iso("2026-03-29T01:00Z", "2026-03-29T01:15Z", "2026-03-29T01:30Z", "2026-03-29T01:45Z"),
    );
  });

  test("come in order between the regular times with shift", () => {
    // Lord Howe's clocks go from 02:00 to 02:30: 02:10 fires at 02:40, after 02:35, which exists.
    const spec = { minutes: bits(10, 35), hours: bits32(2), timeZone: "Australia/Lord_Howe", gap: "shift" } as const;
    expect(between(spec, "2026-10-03T12:00:00Z", "2026-10-04T12:00:00Z")).toEqual(
      iso("2026-10-04T02:35+11:00", "2026-10-04T02:40+11:00"),
    );
  });
});

test("every 15 minutes keeps its pace through both changes with skip and both", () => {
  const spec = { hours: EVERY_HOUR, minutes: bits(...range(0, 59, 15)), timeZone: "America/New_York" };
  for (const [from, until] of [
    ["2026-03-08T05:00:00Z", "2026-03-08T09:00:00Z"],
    ["2026-11-01T04:00:00Z", "2026-11-01T08:00:00Z"],
  ] as const) {
    const times = between(spec, from, until).map((time) => Date.parse(time));
    expect(times).toEqual(range(Date.parse(from), Date.parse(until), 15 * 60_000));
  }
});

test("an every-second spec misses no second of an overlap", () => {
  const spec = specOf({ seconds: EVERY_60, minutes: EVERY_60, hours: EVERY_HOUR, timeZone: "Europe/Berlin" });
  const from = Date.UTC(2026, 9, 24, 22);
  expect(new CompiledCron(spec).count(from, from + 25 * 3_600_000 - 1)).toBe(90_000);
});

describe("unusual zones", () => {
  test("Lord Howe's gap is half an hour", () => {
    // On 4 October 2026 the clocks go from 02:00 (+10:30) to 02:30 (+11).
    const on = (gap: GapPolicy) =>
      between({ ...at("2:15"), timeZone: "Australia/Lord_Howe", gap }, "2026-10-03T12:00:00Z", "2026-10-04T12:00:00Z");
    expect(on("advance")).toEqual(iso("2026-10-04T02:30+11:00"));
    expect(on("shift")).toEqual(iso("2026-10-04T02:45+11:00"));
    expect(on("skip")).toEqual([]);
  });

  test("Apia has no 30 December 2011", () => {
    const on = (gap: GapPolicy) =>
      between({ ...at("9:00"), timeZone: "Pacific/Apia", gap }, "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z");
    expect(on("skip")).toEqual(iso("2011-12-29T09:00-10:00", "2011-12-31T09:00+14:00"));
    expect(on("shift")).toEqual(iso("2011-12-29T09:00-10:00", "2011-12-31T09:00+14:00"));
    expect(on("advance")).toEqual(iso("2011-12-29T09:00-10:00", "2011-12-31T00:00+14:00", "2011-12-31T09:00+14:00"));
  });

  test("Monrovia was 44 minutes and 30 seconds behind until 1972", () => {
    const daily = { ...at("12:00"), timeZone: "Africa/Monrovia" };
    expect(between(daily, "1972-01-06T00:00:00Z", "1972-01-08T23:00:00Z")).toEqual(
      iso("1972-01-06T12:44:30Z", "1972-01-07T12:00:00Z", "1972-01-08T12:00:00Z"),
    );
    expect(
      between(
        { ...at("0:00:15"), timeZone: "Africa/Monrovia", gap: "advance" },
        "1972-01-07T00:00Z",
        "1972-01-07T12:00Z",
      ),
    ).toEqual(iso("1972-01-07T00:44:30Z"));
  });

  test("Sao Paulo lost midnight when its clocks still changed, and has it since", () => {
    const daily = { ...at("0:00"), timeZone: "America/Sao_Paulo", gap: "advance" } as const;
    expect(between(daily, "2018-11-03T12:00:00Z", "2018-11-04T12:00:00Z")).toEqual(iso("2018-11-04T01:00-02:00"));
    expect(between(daily, "2030-11-02T12:00:00Z", "2030-11-04T12:00:00Z")).toEqual(
      iso("2030-11-03T00:00-03:00", "2030-11-04T00:00-03:00"),
    );
  });

  test("Casablanca's clocks go back for Ramadan in years that no rule names", () => {
    const daily = { ...at("2:30"), timeZone: "Africa/Casablanca", overlap: "both" } as const;
    expect(between(daily, "2026-02-14T00:00:00Z", "2026-02-15T23:00:00Z")).toEqual(
      iso("2026-02-14T02:30+01:00", "2026-02-15T02:30+01:00", "2026-02-15T02:30+00:00"),
    );
  });
});
