import fc from "fast-check";
import type { BitSet64, CronSpec } from "../../src/cron/spec.ts";
import { transitionsOf } from "./oracle.ts";
import {
  bits,
  bits32,
  EVERY_60,
  EVERY_DAY,
  EVERY_HOUR,
  EVERY_ISO_WEEK,
  EVERY_MONTH,
  EVERY_WEEKDAY,
  nth,
  range,
  specOf,
  years,
} from "./spec-maker.ts";

/** Zones with everything that zones do: none, half-hour and one-day changes, sub-minute offsets, changes at midnight,
 *  abolished and irregular daylight saving, negative daylight saving. */
export const ZONES: readonly string[] = [
  "UTC",
  "+05:30",
  "-09:30",
  "Etc/GMT+5",
  "Europe/Berlin",
  "Europe/Dublin",
  "Europe/London",
  "Europe/Istanbul",
  "Europe/Lisbon",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "America/Caracas",
  "Africa/Casablanca",
  "Africa/Monrovia",
  "Africa/Cairo",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Asia/Pyongyang",
  "Asia/Amman",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
  "Pacific/Apia",
  "Pacific/Kwajalein",
  "Pacific/Kiritimati",
  "Pacific/Chatham",
];

/** Years in which cases lie. */
const YEAR_FIRST = 1970;
const YEAR_LAST = 2100;

const sometimes = <T>(usual: T, weight: number, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(usual), weight }, { arbitrary: other, weight: 1 });

const subset = (first: number, last: number): fc.Arbitrary<number[]> =>
  fc.oneof(
    fc.integer({ min: first, max: last }).map((value) => [value]),
    fc.uniqueArray(fc.integer({ min: first, max: last }), { minLength: 1, maxLength: 4 }),
    fc
      .tuple(
        fc.integer({ min: first, max: last }),
        fc.integer({ min: first, max: last }),
        fc.integer({ min: 1, max: 20 }),
      )
      .map(([a, b, step]) => range(Math.min(a, b), Math.max(a, b), step)),
    fc.integer({ min: 2, max: 30 }).map((step) => range(first, last, step)),
  );

const set64 = (first: number, last: number): fc.Arbitrary<BitSet64> =>
  subset(first, last).map((values) => bits(...values));
const set32 = (first: number, last: number): fc.Arbitrary<number> =>
  subset(first, last).map((values) => bits32(...values));
const NONE: BitSet64 = { lo: 0, hi: 0 };

const nthSet: fc.Arbitrary<BitSet64> = fc
  .uniqueArray(
    fc
      .tuple(fc.constantFrom<1 | 2 | 3 | 4 | 5 | "last">(1, 2, 3, 4, 5, "last"), fc.integer({ min: 0, max: 6 }))
      .map(([n, weekday]) => nth(n, weekday)),
    { minLength: 1, maxLength: 3 },
  )
  .map((values) => bits(...values));

/** A spec of any form; most have few restrictions, as users' do. */
const specs: fc.Arbitrary<CronSpec> = fc
  .record({
    seconds: fc.oneof(fc.constant(bits(0)), fc.constant(EVERY_60), set64(0, 59)),
    minutes: fc.oneof(fc.constant(bits(0)), fc.constant(EVERY_60), set64(0, 59)),
    hours: fc.oneof(fc.constant(EVERY_HOUR), set32(0, 23), set32(0, 4)),
    daysOfMonth: fc.oneof(
      { arbitrary: fc.constant(EVERY_DAY), weight: 3 },
      { arbitrary: set32(1, 31), weight: 1 },
      { arbitrary: fc.constant(0), weight: 1 },
    ),
    lastDayOffsets: sometimes(0, 4, set32(0, 30)),
    nearestWeekdays: sometimes(0, 4, set32(1, 31)),
    hasLastWeekday: sometimes(false, 4, fc.constant(true)),
    nthOfDay: sometimes(NONE, 4, nthSet),
    nthOfWeekday: sometimes(NONE, 5, nthSet),
    daysOfWeek: fc.oneof(
      { arbitrary: fc.constant(EVERY_WEEKDAY), weight: 3 },
      { arbitrary: set32(0, 6), weight: 2 },
      { arbitrary: fc.constant(0), weight: 1 },
    ),
    months: sometimes(EVERY_MONTH, 3, set32(1, 12)),
    isoWeeks: sometimes(EVERY_ISO_WEEK, 5, set64(1, 53)),
    years: sometimes<Uint32Array | null>(
      null,
      5,
      fc
        .oneof(
          fc.uniqueArray(fc.integer({ min: 1970, max: 2110 }), { minLength: 0, maxLength: 6 }),
          fc
            .tuple(fc.integer({ min: 1970, max: 2110 }), fc.integer({ min: 0, max: 60 }))
            .map(([a, n]) => range(a, a + n)),
        )
        .map((values) => years(...values)),
    ),
    dayMatch: fc.constantFrom<"and" | "or">("and", "or"),
    gap: fc.constantFrom<CronSpec["gap"]>("skip", "advance", "shift"),
    overlap: fc.constantFrom<CronSpec["overlap"]>("both", "first", "second"),
    timeZone: fc.constantFrom(...ZONES),
  })
  .map((fields) => specOf(fields));

/** An instant in epoch milliseconds; every second one is near a transition of the zone. */
function instantsFor(timeZone: string): fc.Arbitrary<number> {
  const anywhere = fc
    .integer({ min: Date.UTC(YEAR_FIRST, 0, 1) / 1000 - 90_000, max: Date.UTC(YEAR_LAST, 0, 1) / 1000 })
    .map((seconds) => seconds * 1000);
  const transitions = transitionsOf(timeZone)
    .map(({ at }) => at)
    .filter((at) => at > 0 && at < Date.UTC(YEAR_LAST, 0, 1) / 1000);
  const aligned = fc.oneof(
    fc.constant(0),
    fc.integer({ min: -7200, max: 7200 }),
    fc.integer({ min: -90_000, max: 90_000 }),
  );
  const subsecond = fc.oneof(fc.constant(0), fc.constantFrom(-1, 1, 500, 0.25));
  if (transitions.length === 0) return fc.tuple(anywhere, subsecond).map(([ms, by]) => ms + by);
  const near = fc.tuple(fc.constantFrom(...transitions), aligned).map(([at, by]) => (at + by) * 1000);
  return fc.tuple(fc.oneof(near, anywhere), subsecond).map(([ms, by]) => ms + by);
}

/** A spec with instants to ask it about. */
export function cases(perSpec: number): fc.Arbitrary<{ spec: CronSpec; instants: number[] }> {
  return specs.chain((spec) =>
    fc.record({
      spec: fc.constant(spec),
      instants: fc.array(instantsFor(spec.timeZone), { minLength: perSpec, maxLength: perSpec }),
    }),
  );
}
