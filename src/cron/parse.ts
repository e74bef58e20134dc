import { CronSyntaxError } from "../core/errors.ts";
import type { Mutable } from "../core/mutable.ts";
import { checkDialect, enterDialect } from "./dialects.ts";
import {
  checkFieldNames,
  checkText,
  expandNickname,
  joinNthWeekdays,
  noFieldSet,
  timeZonePrefix,
  wrongFieldCount,
} from "./expression.ts";
import { FieldReader, WORDS_MAX } from "./field-reader.ts";
import {
  type CronField,
  type CronFields,
  DAY_OF_WEEK,
  FIELDS_BY_SIGNIFICANCE,
  FIELDS_OF_CRONTAB,
  WEEK,
  YEAR,
} from "./fields.ts";
import { CRON_TEXT_LENGTH_MAX } from "./limits.ts";
import type { BitSet64, CronDialect, CronSpec, DstPolicy, ParsedCron } from "./spec.ts";
import { quote } from "./syntax.ts";

/** What applies to an expression as a whole. The values are trusted: whoever calls has checked them. */
export interface CronSettings {
  /** IANA name as Temporal spells it. */
  readonly timeZone: string;
  readonly dst: DstPolicy;
  readonly dayMatch: "and" | "or";
  readonly dialect?: CronDialect | undefined;
}

// Sets are signed 32-bit integers, as bit operations return them, because V8 allocates memory for larger numbers.
const EMPTY: BitSet64 = Object.freeze({ lo: 0, hi: 0 });
const ZERO: BitSet64 = Object.freeze({ lo: 1, hi: 0 });
const SIXTY: BitSet64 = Object.freeze({ lo: -1, hi: 0x0fffffff });
const WEEKS: BitSet64 = Object.freeze({ lo: -2, hi: 0x003fffff });
const HOURS = 0xffffff;
const DAYS = -2;
const FIRST_28_DAYS = 0x1ffffffe;
const MONTHS = 0x1ffe;
const WEEKDAYS = 0x7f;
/** The last word of a full year bitmap: 9999 is bit 29. */
const LAST_YEARS = 2 ** ((YEAR.max - YEAR.min + 1) & 31) - 1;

/** One reader serves all calls, because no two calls run at a time, and making a reader takes as long as using it. */
const reader = new FieldReader();

const STAR = 42;
const PLUS = 43;
const QUESTION = 63;
const AT_SIGN = 64;
const WEEK_WORD = "week=";

/**
 * Compiles crontab text of 5, 6 (seconds first) or 7 fields (and year last), or a nickname. A last word `week=10-20`
 * restricts the ISO week, which crontab has no field for.
 *
 * @throws {CronSyntaxError}
 */
export function parseCrontab(
  text: string,
  settings: CronSettings,
  lengthMax: number = CRON_TEXT_LENGTH_MAX,
): ParsedCron {
  checkText(text, null, lengthMax);
  let count = reader.begin(text);
  const { starts, ends } = reader;
  const { dialect } = settings;
  if (text.charCodeAt(starts[0] ?? 0) === AT_SIGN && dialect !== "quartz") {
    return parseCrontab(expandNickname(text, dialect), settings);
  }
  if (dialect !== undefined) enterDialect(dialect, reader, count);
  const hasWeek =
    dialect === undefined && count > 5 && count <= WORDS_MAX && text.startsWith(WEEK_WORD, starts[count - 1]);
  if (hasWeek) count--;
  if (count < 5 || count > 7) {
    throw timeZonePrefix(text) ?? withFieldCountHint(wrongFieldCount(text, count), text, settings);
  }
  try {
    const draft = newDraft(settings);
    if (count === 5) draft.seconds = ZERO;
    const first = count === 5 ? 1 : 0;
    for (let word = 0; word < count; word++) {
      readInto(draft, FIELDS_OF_CRONTAB[word + first] ?? YEAR, starts[word] ?? 0, ends[word] ?? 0);
    }
    if (hasWeek) readInto(draft, WEEK, (starts[count] ?? 0) + WEEK_WORD.length, ends[count] ?? 0);
    if (dialect !== undefined) checkDialect(dialect, reader, count);
    return finish(draft, settings);
  } catch (error) {
    if (!(error instanceof CronSyntaxError)) throw error;
    throw timeZonePrefix(text) ?? (count === 6 ? withFieldCountHint(error, text, settings) : error);
  }
}

/**
 * Compiles the fields of a `CronTrigger`. Unset fields below the least significant one that is set take their
 * minimum, the others every value; `week` and `dayOfWeek` always take every value when unset.
 *
 * @throws {CronSyntaxError}
 */
export function parseFields(fields: CronFields, settings: CronSettings): ParsedCron {
  checkFieldNames(fields);
  const draft = newDraft(settings);
  let isAnySet = false;
  for (let index = FIELDS_BY_SIGNIFICANCE.length - 1; index >= 0; index--) {
    const field = FIELDS_BY_SIGNIFICANCE[index] ?? YEAR;
    const value = fields[field.name];
    if (value === undefined && (isAnySet || field === WEEK || field === DAY_OF_WEEK)) continue;
    isAnySet ||= value !== undefined;
    reader.begin(checkText(value === undefined ? field.min : value, field, CRON_TEXT_LENGTH_MAX));
    readInto(draft, field, 0, reader.text.length);
  }
  if (!isAnySet) throw noFieldSet();
  return finish(draft, settings);
}

/**
 * Whether a date matches for certain, told without a search: in every year, each of the first 28 days of each month
 * falls on each weekday sooner or later. False says nothing.
 */
export function isSurelyPossible({ daysOfMonth, daysOfWeek, isoWeeks, years }: CronSpec): boolean {
  return (daysOfMonth & FIRST_28_DAYS) !== 0 && daysOfWeek !== 0 && isoWeeks === WEEKS && years === null;
}

function newDraft(settings: CronSettings): Mutable<ParsedCron> {
  reader.reset(settings.dialect);
  return {
    seconds: SIXTY,
    minutes: SIXTY,
    hours: HOURS,
    daysOfMonth: DAYS,
    lastDayOffsets: 0,
    nearestWeekdays: 0,
    hasLastWeekday: false,
    nthOfDay: EMPTY,
    nthOfWeekday: EMPTY,
    daysOfWeek: WEEKDAYS,
    months: MONTHS,
    isoWeeks: WEEKS,
    years: null,
    dayMatch: settings.dayMatch,
    gap: "skip",
    overlap: "both",
    timeZone: settings.timeZone,
    yearText: "*",
  };
}

/** Reads a field into the draft. Until then, the draft has every value of the field. */
function readInto(draft: Mutable<ParsedCron>, field: CronField, start: number, end: number): void {
  // A star changes nothing. Most fields of most expressions are stars, so it is looked for first.
  if (end - start === 1 && reader.text.charCodeAt(start) === STAR) return;
  const code = reader.text.charCodeAt(start);
  const hasPlus = code === PLUS && field === DAY_OF_WEEK;
  reader.read(field, hasPlus ? start + 1 : start, end);
  switch (field.name) {
    case "second":
      draft.seconds = sixty();
      return;
    case "minute":
      draft.minutes = sixty();
      return;
    case "hour":
      draft.hours = reader.lo;
      return;
    case "day":
      if (!isStar(code, start)) reader.restricted |= 1;
      draft.daysOfMonth = reader.lo;
      draft.lastDayOffsets = reader.lastDays;
      draft.nearestWeekdays = reader.nearestWeekdays;
      draft.hasLastWeekday = reader.hasLastWeekday;
      draft.nthOfDay = nthOf();
      return;
    case "month":
      draft.months = reader.lo;
      return;
    case "dayOfWeek":
      if (!isStar(code, start) && !hasPlus) reader.restricted |= 2;
      draft.daysOfWeek = reader.lo;
      draft.nthOfWeekday = nthOf();
      return;
    case "week":
      draft.isoWeeks = { lo: reader.lo, hi: reader.hi };
      return;
    case "year":
      if (reader.years === null || isEveryYear(reader.years)) return;
      draft.years = reader.years;
      draft.yearText = reader.text.slice(start, end).replaceAll(" ", "");
      return;
    default:
      field.name satisfies never;
  }
}

/** Brings the draft into its canonical form: all spellings of a rule give equal specs. */
function finish(draft: Mutable<ParsedCron>, settings: CronSettings): ParsedCron {
  const isEither = settings.dayMatch === "or" && reader.restricted === 3;
  const isEitherFull = isEither && (draft.daysOfMonth === DAYS || draft.daysOfWeek === WEEKDAYS);
  if (isEitherFull || draft.daysOfMonth === DAYS) {
    draft.daysOfMonth = DAYS;
    draft.lastDayOffsets = draft.nearestWeekdays = 0;
    draft.hasLastWeekday = false;
    draft.nthOfDay = EMPTY;
  }
  if (isEitherFull || draft.daysOfWeek === WEEKDAYS) {
    draft.daysOfWeek = WEEKDAYS;
    draft.nthOfWeekday = EMPTY;
  }
  draft.dayMatch = isEither && !isEitherFull ? "or" : "and";
  const { dst, dialect } = settings;
  // Our own dialect is told first by a comparison that costs nothing.
  if (dialect === undefined ? draft.hours !== HOURS : isFixed(dialect, draft)) {
    draft.gap = dialect !== undefined && dialect === "ocps" ? "skip" : "advance";
    draft.overlap = "first";
  }
  if (dst !== "auto") {
    draft.gap = dst.gap ?? draft.gap;
    draft.overlap = dst.overlap ?? draft.overlap;
  }
  return draft;
}

/** Whether a rule of another dialect runs at fixed times, or by the clock as it is: as a job of Vixie cron whose minute
 *  or hour begins with a star. */
function isFixed(dialect: CronDialect, { hours }: Mutable<ParsedCron>): boolean {
  return dialect === "ocps" || (dialect === "vixie" ? !/^\s*(\S+\s+)?\*/.test(reader.text) : hours !== HOURS);
}

function sixty(): BitSet64 {
  return reader.hi === 0 && reader.lo === 1 ? ZERO : { lo: reader.lo, hi: reader.hi };
}

function nthOf(): BitSet64 {
  return reader.nthLo === 0 && reader.nthHi === 0 ? EMPTY : { lo: reader.nthLo, hi: reader.nthHi };
}

function isEveryYear(years: Uint32Array): boolean {
  return years.every((word, index) => word === (index === years.length - 1 ? LAST_YEARS : 0xffffffff));
}

/** An error with a hint for two frequent mistakes: six fields of which the first is not the second, and `2nd fri`,
 *  whose space ends a field. */
function withFieldCountHint(error: CronSyntaxError, text: string, settings: CronSettings): CronSyntaxError {
  const words = text.trim().split(/\s+/);
  const isYearLast = /^(19|20)\d\d$/.test(words[5] ?? "");
  const joined = joinNthWeekdays(text);
  let candidate = joined;
  let reason = "a space ends a field";
  if (joined === text) {
    if (words.length !== 6 || (error.suggestion !== null && !isYearLast)) return error;
    candidate = isYearLast ? `0 ${words.join(" ")}` : words.slice(0, 5).join(" ");
    reason = "6 fields start with the second";
  }
  try {
    parseCrontab(candidate, settings);
  } catch {
    return error;
  }
  const [what] = error.message.split("; ");
  return new CronSyntaxError(`${what}; ${reason}: did you mean ${quote(candidate)}?`, {
    field: error.field,
    element: error.element,
    position: error.position,
    suggestion: candidate,
  });
}

/** Whether a field counts as unrestricted. In OCPS only one whose first element is a star does. A field that is a star
 *  alone is not read. */
function isStar(code: number, start: number): boolean {
  return code === QUESTION || (code === STAR && (reader.dialect !== "ocps" || reader.text[start + 1] === ","));
}
