// Random text of other dialects, made together with what it means: each element is drawn as values and then written
// down, so that nothing here reads text. The rules are those of the other programs, in the words of docs/triggers.md.
import fc from "fast-check";
import type { CronDialect, CronSpec } from "../../src/cron/spec.ts";
import { bits, bits32, nth, range, specOf, years } from "./spec-maker.ts";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface Unit {
  /** Numbers as they are written, first to last. */
  readonly min: number;
  readonly max: number;
  /** Names of the numbers, from `min` on. */
  readonly names?: readonly string[];
}

/** What a field says: its text, and the numbers as they are written. */
interface Field {
  readonly text: string;
  readonly values: readonly number[];
  /** Days that are no numbers, as changes of a spec. */
  readonly further?: Partial<CronSpec>;
}

const UNITS = {
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  day: { min: 1, max: 31 },
  month: { min: 1, max: 12, names: MONTHS },
} as const;
/** 7 is Sunday once more, and has no name of its own. */
const WEEKDAY: Unit = { min: 0, max: 7, names: WEEKDAYS };
const QUARTZ_WEEKDAY: Unit = { min: 1, max: 7, names: WEEKDAYS };

const upper = fc.boolean();

function written(value: number, { min, names = [] }: Unit): fc.Arbitrary<string> {
  const name = names[value - min];
  const number = String(value);
  if (name === undefined) return fc.constantFrom(number, number.padStart(2, "0"));
  return fc.oneof(
    fc.constant(number),
    upper.map((isUpper) => (isUpper ? name.toUpperCase() : name)),
  );
}

const stepped = (values: readonly number[], step: number): number[] => values.filter((_, at) => at % step === 0);

/** Elements that all fields have. */
function plain(dialect: CronDialect, unit: Unit): fc.Arbitrary<Field> {
  const { min, max } = unit;
  const all = range(min, max);
  const isQuartz = dialect === "quartz";
  // Of Quartz, a step that leads past its range is refused here.
  const within = (by: number, count: number): number => (isQuartz && by >= count ? 1 : by);
  const value = fc.integer({ min, max });
  const step = fc.oneof({ weight: 30, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.constant(100));
  // In Vixie cron and OCPS, the star of weekdays is 0 to 7.
  const star = fc.constant({ text: "*", values: all });
  const stars = step.map((by) => within(by, all.length)).map((by) => ({ text: `*/${by}`, values: stepped(all, by) }));
  const single = value.chain((one) => written(one, unit).map((text) => ({ text, values: [one] })));
  const ranges = fc.tuple(value, value, fc.option(step)).chain(([a, b, anyStep]) => {
    const [from, to] = isQuartz ? [a, b] : [Math.min(a, b), Math.max(a, b)];
    const circle = from <= to ? range(from, to) : [...range(from, max), ...range(min, to)];
    const by = anyStep === null ? null : within(anyStep, circle.length);
    const values = stepped(circle, by ?? 1);
    const tail = by === null ? "" : `/${by}`;
    if (isQuartz) {
      const numbers = fc.constant(`${from}-${to}${tail}`);
      const names = [from, to].map((one) => unit.names?.[one - min]);
      const texts =
        names.includes(undefined) || by !== null ? numbers : fc.constantFrom(names.join("-"), `${from}-${to}`);
      return texts.map((text) => ({ text, values }));
    }
    // Of a range, the first Sunday is 0 by name, and the last is 7: only numbers say it otherwise.
    const isSunday = unit === WEEKDAY && (to === 0 || from === 7);
    const ends = isSunday ? fc.constant([`${from}`, `${to}`]) : fc.tuple(written(from, unit), written(to, unit));
    return ends.map((texts) => ({ text: texts.join("-") + tail, values }));
  });
  const opens = fc
    .tuple(value, step)
    .map(([from, by]) => [from, within(by, max - from + 1)] as const)
    .map(([from, by]) => ({ text: `${from}/${by}`, values: stepped(range(from, max), by) }));
  return fc.oneof(star, stars, single, ranges, ...(isQuartz ? [opens] : []));
}

function listOf(element: fc.Arbitrary<Field>): fc.Arbitrary<Field> {
  return fc.array(element, { minLength: 1, maxLength: 3 }).map((items) => ({
    text: items.map(({ text }) => text).join(","),
    values: items.flatMap(({ values }) => values),
    further: merged(items.map(({ further }) => further ?? {})),
  }));
}

/** Further days of several elements. Each sets other properties, or bits of one. */
function merged(parts: readonly Partial<CronSpec>[]): Partial<CronSpec> {
  const result: { -readonly [Name in keyof CronSpec]?: CronSpec[Name] } = {};
  for (const part of parts) {
    if (part.lastDayOffsets !== undefined) result.lastDayOffsets = (result.lastDayOffsets ?? 0) | part.lastDayOffsets;
    if (part.nthOfWeekday === undefined) continue;
    const { lo, hi } = result.nthOfWeekday ?? { lo: 0, hi: 0 };
    result.nthOfWeekday = { lo: (lo | part.nthOfWeekday.lo) >>> 0, hi: (hi | part.nthOfWeekday.hi) >>> 0 };
  }
  return { ...Object.assign({}, ...parts), ...result };
}

const only = (text: string, further: Partial<CronSpec> = {}): Field => ({ text, values: [], further });
const question = (unit: Unit): fc.Arbitrary<Field> => fc.constant({ text: "?", values: range(unit.min, unit.max) });

const nearest = fc.integer({ min: 1, max: 31 }).map((day) => only(`${day}W`, { nearestWeekdays: bits32(day) }));
const lastDay = fc.constant(only("L", { lastDayOffsets: 1 }));
const quartzLasts = fc.oneof(
  lastDay,
  fc.integer({ min: 0, max: 30 }).map((by) => only(`L-${by}`, { lastDayOffsets: bits32(by) })),
  fc.constant(only("LW", { hasLastWeekday: true })),
);

const ocpsDays = fc.oneof(
  { weight: 4, arbitrary: listOf(plain("ocps", UNITS.day)) },
  listOf(fc.oneof(plain("ocps", UNITS.day), lastDay)),
  nearest,
  question(UNITS.day),
);

const ocpsNth = fc
  .tuple(
    fc.integer({ min: 0, max: 6 }),
    fc.integer({ min: 0, max: 6 }),
    fc.constantFrom<(number | "last")[]>(1, 2, 3, 4, 5, "last"),
  )
  .chain(([a, b, which]) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)];
    const days = range(from, to);
    const mark = which === "last" ? "L" : String(which);
    const nthOfWeekday = bits(...days.map((day) => nth(which, day)));
    return fc.tuple(written(from, WEEKDAY), written(to, WEEKDAY)).chain(([first, last]) => {
      const hash = from === to ? `${first}#${mark}` : `${first}-${last}#${mark}`;
      const texts = from === to && which === "last" ? [hash, `${first}L`] : [hash];
      return fc.constantFrom(...texts).map((text) => only(text, { nthOfWeekday }));
    });
  });

const ocpsWeekdays = fc.oneof(
  { weight: 4, arbitrary: listOf(plain("ocps", WEEKDAY)) },
  listOf(fc.oneof(plain("ocps", WEEKDAY), ocpsNth)),
  question(WEEKDAY),
);

const quartzNth = fc
  .tuple(fc.integer({ min: 1, max: 7 }), fc.constantFrom<(number | "last")[]>(1, 2, 3, 4, 5, "last"))
  .chain(([day, which]) =>
    written(day, { min: 1, max: 7, names: WEEKDAYS })
      .map((text) => (text.startsWith("0") ? text.slice(1) : text))
      .map((text) =>
        only(which === "last" ? `${text}L` : `${text}#${which}`, { nthOfWeekday: bits(nth(which, day - 1)) }),
      ),
  );

/** One of the two day fields of Quartz is a question mark. */
const quartzDays: fc.Arbitrary<[Field, Field]> = fc.oneof(
  fc.tuple(
    fc.oneof({ weight: 2, arbitrary: listOf(plain("quartz", UNITS.day)) }, quartzLasts, nearest),
    question(QUARTZ_WEEKDAY),
  ),
  fc.tuple(
    question(UNITS.day),
    fc.oneof(
      { weight: 2, arbitrary: listOf(plain("quartz", QUARTZ_WEEKDAY)) },
      quartzNth,
      fc.constant({ text: "L", values: [7] }),
    ),
  ),
);

const daysOf: Readonly<Record<CronDialect, fc.Arbitrary<[Field, Field]>>> = {
  ocps: fc.tuple(ocpsDays, ocpsWeekdays),
  quartz: quartzDays,
  vixie: fc.tuple(listOf(plain("vixie", UNITS.day)), listOf(plain("vixie", WEEKDAY))),
};

const YEARS: Unit = { min: 1970, max: 9999 };
const yearField = (dialect: CronDialect): fc.Arbitrary<Field> => {
  const near = fc.integer({ min: dialect === "ocps" ? 1950 : 1970, max: 2110 });
  const span = fc.tuple(
    near,
    fc.integer({ min: dialect === "quartz" ? 9 : 0, max: 60 }),
    fc.integer({ min: 1, max: 9 }),
  );
  return listOf(
    fc.oneof(
      near.map((year) => ({ text: String(year), values: [year] })),
      span.map(([from, count, by]) => ({
        text: `${from}-${from + count}/${by}`,
        values: stepped(range(from, from + count), by),
      })),
      fc.integer({ min: 1, max: 9 }).map((by) => ({ text: `*/${by}`, values: stepped(range(1970, 9999), by) })),
      fc.constant({ text: "*", values: range(YEARS.min, YEARS.max) }),
    ),
  );
};

export interface DialectCase {
  readonly text: string;
  readonly spec: CronSpec;
}

/** Text of a dialect, and the spec that it stands for, in a zone. */
export function dialectCases(dialect: CronDialect, timeZone: string): fc.Arbitrary<DialectCase> {
  const isQuartz = dialect === "quartz";
  const second = listOf(plain(dialect, UNITS.minute));
  const zero: fc.Arbitrary<Field> = fc.constant({ text: "", values: [0] });
  return fc
    .record({
      second: dialect === "vixie" ? zero : isQuartz ? second : fc.oneof(zero, second),
      minute: listOf(plain(dialect, UNITS.minute)),
      hour: listOf(plain(dialect, UNITS.hour)),
      days: daysOf[dialect],
      month: listOf(plain(dialect, UNITS.month)),
      year: fc.option(dialect === "vixie" ? fc.constant(null) : yearField(dialect), { freq: 2 }),
      plus: dialect === "ocps" ? fc.constantFrom("", "", "+") : fc.constant(""),
    })
    .map(({ second, minute, hour, days: [day, weekday], month, year, plus }) => {
      const isOpen = ({ text }: Field): boolean =>
        dialect === "vixie" ? text.startsWith("*") : /^([*?]$|\*,)/.test(text);
      const isEither = !isQuartz && plus === "" && !isOpen(day) && !isOpen(weekday);
      const isWildcardJob = [minute, hour].some(({ text }) => text.startsWith("*"));
      const isEveryHour = new Set(hour.values).size === 24;
      const isElapsed = dialect === "vixie" ? isWildcardJob : isEveryHour;
      const hasYear = year !== null && second.text !== "";
      const words = [second.text, minute.text, hour.text, day.text, month.text, plus + weekday.text];
      const spec = specOf({
        seconds: bits(...second.values),
        minutes: bits(...minute.values),
        hours: bits32(...hour.values),
        daysOfMonth: bits32(...day.values),
        months: bits32(...month.values),
        daysOfWeek: bits32(...weekday.values.map((value) => (isQuartz ? value - 1 : value % 7))),
        ...day.further,
        ...weekday.further,
        years: hasYear ? years(...year.values.filter((value) => value >= 1970)) : null,
        dayMatch: isEither ? "or" : "and",
        gap: dialect === "ocps" || isElapsed ? "skip" : "advance",
        overlap: dialect !== "ocps" && isElapsed ? "both" : "first",
        timeZone,
      });
      return { text: [...words, hasYear ? year.text : ""].filter((word) => word !== "").join(" "), spec };
    });
}
