import fc from "fast-check";
import { expect, test } from "vitest";
import { MaxIterationsReachedError } from "../../src/core/errors.ts";
import { Temporal } from "../../src/core/temporal.ts";
import type { DstPolicy } from "../../src/cron/spec.ts";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Clock changes of all kinds: half an hour, a whole day, at midnight, in Ramadan. */
const CHANGES: readonly [timeZone: string, at: string][] = [
  ["UTC", "2026-03-01T00:00:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
  ["Africa/Casablanca", "2026-02-15T02:00:00Z"],
  ["Europe/Berlin", "2026-03-29T01:00:00Z"],
  ["Europe/Berlin", "2026-10-25T01:00:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z"],
  ["America/Sao_Paulo", "2018-11-04T03:00:00Z"],
  ["America/Sao_Paulo", "2018-02-18T02:00:00Z"],
];
const TEXTS = ["30 2 * * *", "0,30 1-3 * * *", "*/20 * * * *", "0 0 * * *", "30 23 * * *", "5 0-4 * * *", "10 9 * * *"];

const GAPS = ["advance", "shift", "skip"] as const;
const OVERLAPS = ["first", "second", "both"] as const;
const policies: fc.Arbitrary<DstPolicy> = fc.oneof(
  fc.constant("auto" as const),
  fc.record({ gap: fc.constantFrom(...GAPS), overlap: fc.constantFrom(...OVERLAPS) }),
);

function simpleOnes(timeZone: string, changeMs: number): fc.Arbitrary<Trigger> {
  const startDate = dateAt(changeMs - 96 * HOUR_MS, timeZone);
  return fc.oneof(
    fc
      .tuple(fc.constantFrom(...TEXTS), policies)
      .map(([text, dst]) => CronTrigger.fromCrontab(text, { timeZone, dst })),
    fc
      .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: -7200, max: 0 }))
      .map(([n, at]) => new IntervalTrigger({ minutes: n * 17, startTime: new Date(changeMs + at * MINUTE_MS) })),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 15, 30), policies)
      .map(
        ([days, hour, minute, dst]) => new CalendarIntervalTrigger({ days, hour, minute, timeZone, dst, startDate }),
      ),
    fc.integer({ min: -3000, max: 3000 }).map((at) => new DateTrigger(new Date(changeMs + at * MINUTE_MS))),
  );
}

function triggers(timeZone: string, changeMs: number, depth: number): fc.Arbitrary<Trigger> {
  const simple = simpleOnes(timeZone, changeMs);
  if (depth === 0) return simple;
  const inner = triggers(timeZone, changeMs, depth - 1);
  const spans = fc.array(
    fc.tuple(fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 2 })).map(([start, days]) => {
      const from = dateAt(changeMs + start * 24 * HOUR_MS, timeZone);
      return { from, until: from.add({ days }) };
    }),
    { maxLength: 3 },
  );
  return fc.oneof(
    simple,
    fc.array(inner, { minLength: 1, maxLength: 3 }).map((children) => new OrTrigger(children)),
    fc
      .tuple(fc.array(inner, { minLength: 1, maxLength: 2 }), fc.integer({ min: 0, max: 90 }))
      .map(([children, minutes]) => new AndTrigger(children, { threshold: { minutes }, maxIterations: 200 })),
    fc.tuple(inner, spans).map(([trigger, excluded]) => new ExcludingTrigger(trigger, excluded)),
    fc.tuple(inner, inner).map(([trigger, excluded]) => new ExcludingTrigger(trigger, excluded)),
  );
}

function dateAt(epochMs: number, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone).toPlainDate();
}

test("previous inverts next around clock changes, for triggers within triggers, which match and copy", () => {
  const asked = fc
    .constantFrom(...CHANGES)
    .chain(([timeZone, at]) => fc.tuple(fc.constant(Date.parse(at)), triggers(timeZone, Date.parse(at), 2)));
  let checked = 0;
  fc.assert(
    fc.property(asked, ([changeMs, trigger]) => {
      const [fromMs, untilMs] = [changeMs - 50 * HOUR_MS, changeMs + 50 * HOUR_MS];
      const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
      const forwards: number[] = [];
      const backwards: number[] = [];
      try {
        for (let ms = trigger.nextMs(fromMs - 1); ms !== null && ms <= untilMs; ms = trigger.nextMs(ms)) {
          expect(ms).toBeGreaterThan(forwards.at(-1) ?? Number.NEGATIVE_INFINITY);
          forwards.push(ms);
        }
        for (let ms = copy.previousMs(untilMs + 1); ms !== null && ms >= fromMs; ms = copy.previousMs(ms)) {
          expect(ms).toBeLessThan(backwards.at(-1) ?? Number.POSITIVE_INFINITY);
          backwards.push(ms);
        }
      } catch (error) {
        // Some never come together, or exclude all.
        if (error instanceof MaxIterationsReachedError) return;
        throw error;
      }
      expect(backwards.reverse()).toEqual(forwards);
      expect(forwards.every((ms) => copy.matchesMs(ms))).toBe(true);
      checked++;
    }),
    { numRuns: 150 },
  );
  expect(checked).toBeGreaterThan(75);
});
