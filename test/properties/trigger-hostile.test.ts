// Triggers as an enemy writes their JSON: nested, with long lists, extreme bounds and far zones. Whatever is asked, the
// answer comes within the budget of a question, or an error with a code does.
// FUZZ_CASES and FUZZ_SEED repeat a run: npm run fuzz:triggers -- 100000 SEED
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EscapementError } from "../../src/core/errors.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { QUESTION_STEPS_MAX } from "../../src/triggers/limits.ts";
import { stepsTaken } from "../../src/triggers/step-budget.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";
import { fromEnvironment } from "../cron/differential.ts";

const CASES = fromEnvironment("FUZZ_CASES", 150);
const SEED = fromEnvironment("FUZZ_SEED", Math.floor(Math.random() * 2 ** 31));
/** Bounds the work of one test, however many cases are asked for. */
const CASES_PER_TEST = 150;
/** A search looks at the budget once a round, and one question to the engine may look at all years up to 9999. */
const STEPS_MAX = QUESTION_STEPS_MAX + 50_000;

type Json = Readonly<Record<string, unknown>>;
const NOW = Date.UTC(2026, 0, 1);

/** Mostly what is understood: a trigger has many parts, and one bad part is enough to have it refused. */
const mostly = <Value>(good: fc.Arbitrary<Value>, ...bad: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 80, arbitrary: good }, { weight: 1, arbitrary: fc.constantFrom(...bad) });

const zone = mostly(
  fc.constantFrom(
    "UTC",
    "Europe/Rome",
    "America/New_York",
    "Africa/Casablanca",
    "Pacific/Apia",
    "Australia/Lord_Howe",
    "+05:30",
  ),
  "Mars/Olympus",
);
const dst = mostly(
  fc.constantFrom(undefined, { gap: "skip", overlap: "both" }, { gap: "shift", overlap: "second" }, { gap: "advance" }),
  { gap: "never" },
);
const instantMs = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -1e10, max: 1e10 }).map((offset) => NOW + offset) },
  fc.integer({ min: -1000, max: 1000 }).map((offset) => NOW + offset),
  fc.constantFrom(0, -1, 1e300, -1e300, 8.64e15, -8.64e15, 253_402_300_799_999, 0.5, NOW + 0.5),
  fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true }),
);
const near = (min: number, max: number) => fc.integer({ min, max }).map((ms) => new Date(NOW + ms).toISOString());
const start = mostly(
  fc.oneof(
    { weight: 5, arbitrary: near(-1e10, 0) },
    fc.constantFrom("-271821-04-20T00:00:00Z", "1970-01-01T00:00:00Z"),
  ),
  "+275760-09-13T00:00:00Z",
  "1970-01-01",
  5,
  null,
);
const end = mostly(
  fc.oneof(
    { weight: 5, arbitrary: near(1, 1e10) },
    fc.constantFrom("+275760-09-13T00:00:00Z", "9999-12-31T23:59:59.999Z"),
  ),
  "1970-01-01T00:00:00Z",
  {},
);
const dated = (min: number, max: number) =>
  fc.integer({ min, max }).map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
const startDate = mostly(
  fc.oneof(
    { weight: 5, arbitrary: dated(0, 20_000) },
    fc.constantFrom("-200000-01-01", "-271821-04-20", "0001-01-01", "2024-02-29"),
  ),
  "+275760-09-13",
  "2026-02-30",
);
const endDate = mostly(
  fc.oneof({ weight: 5, arbitrary: dated(20_000, 40_000) }, fc.constantFrom("+275760-09-13", "9999-12-31")),
  "2024-02-29",
  7,
);
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 3 });

const expression = mostly(
  fc.constantFrom(
    "* * * * * *",
    "* * * * *",
    "*/7 3 * * *",
    "0 9 * * *",
    "30 2 * 3 sunL",
    "0 0 29 2 *",
    "0 0 13 * fri",
    "0 0 0 1 1 * 9999",
    "0 0 0 29 2 * 2028,2400,9996",
    "0 0 0 1 1 * 1970/7",
    "0 0 * * thu week=53",
    `${Array.from({ length: 300 }, (_, index) => index % 60).join(",")} * * * *`,
  ),
  "0 0 30 2 *",
  "x",
  "",
);
const cron = fc
  .record({ expression, timeZone: zone, dst, startTime: optional(start), endTime: optional(end) })
  .map((fields): Json => ({ type: "cron", version: 1, ...fields }));
const interval = fc
  .record({
    milliseconds: mostly(
      fc.constantFrom(1, 7, 997, 1000, 1009, 60_000, 86_400_000, 253_402_300_799_999),
      2 ** 53,
      0,
      0.1,
    ),
    startTime: optional(start),
    endTime: optional(end),
    anchor: optional(start),
  })
  .map((fields): Json => ({ type: "interval", version: 1, ...fields }));
const amount = (...more: number[]) => fc.constantFrom(0, 0, 1, ...more);
const calendar = fc
  .record({
    years: amount(100),
    months: amount(2, 13, 1201),
    weeks: amount(10),
    days: fc.constantFrom(1, 30, 3_000_000),
    hour: amount(2, 9, 23),
    minute: amount(30),
    startDate: optional(startDate),
    endDate: optional(endDate),
    timeZone: zone,
    dst,
  })
  .map((fields): Json => ({ type: "calendarInterval", version: 1, ...fields }));
const once = end.map((runTime): Json => ({ type: "date", version: 1, runTime }));
const nothing = fc.constantFrom<Json>({ type: "none", version: 1 }, { type: "or", version: 1 }, { type: "and" });

function triggers(depth: number): fc.Arbitrary<Json> {
  const leaf = fc.oneof(
    { weight: 60, arbitrary: cron },
    { weight: 60, arbitrary: interval },
    { weight: 40, arbitrary: calendar },
    { weight: 10, arbitrary: once },
    { weight: 1, arbitrary: nothing },
  );
  if (depth === 0) return leaf;
  const inner = triggers(depth - 1);
  const lists = fc.oneof(
    { weight: 20, arbitrary: fc.array(inner, { minLength: 1, maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.tuple(inner, fc.integer({ min: 1, max: 101 })).map(([one, n]) => new Array(n).fill(one)),
    },
  );
  const and = fc
    .record({
      triggers: lists,
      threshold: mostly(fc.constantFrom(undefined, "PT0S", "PT0.001S", "PT1S", "PT1M", "P1D", "P365D"), "P1Y", -1),
      maxIterations: mostly(fc.constantFrom(undefined, 1, 100, 1_000_000), 1e9, 0),
    })
    .map((fields): Json => ({ type: "and", version: 1, ...fields }));
  const or = lists.map((list): Json => ({ type: "or", version: 1, triggers: list }));
  const span = fc.oneof(startDate, fc.record({ from: startDate, until: endDate }));
  const excluding = fc
    .record({
      trigger: inner,
      excluded: fc.oneof(inner, fc.array(span, { maxLength: 10 })),
      timeZone: optional(zone),
    })
    .map((fields): Json => ({ type: "excluding", version: 1, ...fields }));
  return fc.oneof({ weight: 1, arbitrary: leaf }, { weight: 3, arbitrary: and }, or, {
    weight: 2,
    arbitrary: excluding,
  });
}

/** Answers, or the errors with a code that are thrown instead. Anything else fails the test. */
function answer<Value>(ask: () => Value): Value | EscapementError {
  try {
    return ask();
  } catch (error) {
    if (error instanceof EscapementError) return error;
    throw error;
  }
}

const counts = { refused: 0, answered: 0, exhausted: 0 };

function ask(trigger: Trigger, atMs: number): void {
  const questions: readonly [ask: () => number | null, isRight: (found: number) => boolean][] = [
    [() => trigger.nextMs(atMs), (found) => found > atMs],
    [() => trigger.previousMs(atMs), (found) => found < atMs],
    [() => Number(trigger.matchesMs(atMs)), () => true],
    [() => trigger.firstMs(atMs), () => true],
  ];
  for (const [question, isRight] of questions) {
    const found = answer(question);
    expect(stepsTaken()).toBeLessThan(STEPS_MAX);
    if (found instanceof EscapementError) {
      expect(found.code).toBe("maxIterationsReached");
      counts.exhausted++;
    } else {
      expect(found === null || (isRight(found) && Number.isFinite(found))).toBe(true);
      counts.answered++;
    }
  }
}

function fuzz(count: number, seed: number): void {
  const asked = fc.tuple(fc.oneof(...[0, 1, 2, 3, 4].map(triggers)), instantMs);
  fc.assert(
    fc.property(asked, ([json, atMs]) => {
      const trigger = answer(() => triggerFromJSON(JSON.parse(JSON.stringify(json))));
      if (trigger instanceof EscapementError) {
        expect(trigger.code).toBe("deserialization");
        counts.refused++;
        return;
      }
      ask(trigger, atMs);
      // To write and read takes longer than most questions.
      if (counts.answered % 10 > 3) return;
      expect(trigger.describe()).not.toBe("");
      expect(triggerFromJSON(trigger.toJSON()).toJSON()).toEqual(trigger.toJSON());
    }),
    { numRuns: count, seed },
  );
}

describe("hostile triggers answer within the budget of a question, or throw an error with a code", () => {
  console.log(`trigger fuzz: FUZZ_CASES=${CASES} FUZZ_SEED=${SEED}`);
  for (let first = 0; first < CASES; first += CASES_PER_TEST) {
    const count = Math.min(CASES_PER_TEST, CASES - first);
    test(`in the random cases ${first} to ${first + count - 1}`, () => {
      fuzz(count, SEED + first);
    });
  }

  test("and most of them answer", () => {
    console.log(counts);
    expect(counts.answered).toBeGreaterThan(CASES);
  });
});
