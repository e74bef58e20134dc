import type { CronSyntaxError } from "../core/errors.ts";
import { elementError, outside, type StoppedElement, stepTooLarge, unexpected, unknownName } from "./element-errors.ts";
import { type CronField, DAY, DAY_OF_WEEK, nameKey, WEEKDAY_NAMES, YEAR } from "./fields.ts";
import { CRON_CANONICAL_LENGTH_MAX } from "./limits.ts";
import type { CronDialect } from "./spec.ts";

/** Positions are kept of this many words: seven fields and the ISO week. More words are only counted. */
export const WORDS_MAX = 8;

const SPACE = 32;
const HASH = 35;
const STAR = 42;
const COMMA = 44;
const DASH = 45;
const SLASH = 47;
const QUESTION = 63;
const LOWER_L = 108;
const LOWER_W = 119;

const ORDINAL_ENDINGS = ["", "st", "nd", "rd", "th", "th"];
const YEAR_WORDS = (YEAR.max - YEAR.min + 32) >> 5;

/**
 * Reads one field at a time in a single pass over character codes, without regular expressions, substrings or
 * allocations, unless something is wrong. The meaning of the field is left in the public properties.
 */
export class FieldReader {
  /** The values, as the two halves of a bit set. */
  lo = 0;
  hi = 0;
  /** `L` and `L-n`: bit n. */
  lastDays = 0;
  /** `nW`: bit n. */
  nearestWeekdays = 0;
  /** `LW` */
  hasLastWeekday = false;
  /** `2nd fri`, `fri#2`: coded as `CronSpec.nthOfDay`. */
  nthLo = 0;
  nthHi = 0;
  /** Which fields start with neither `*` nor `?`: bit 0 for the day, bit 1 for the weekday. */
  restricted = 0;
  /** The values of the year field, which no bit set of 64 holds. */
  years: Uint32Array | null = null;
  /** Whose rules the text follows: undefined for our own. */
  dialect: CronDialect | undefined;

  text = "";
  private field: CronField = DAY;
  private start = 0;
  private at = 0;
  private end = 0;

  /** Where the first words of the text start and end. */
  readonly starts: Int32Array = new Int32Array(WORDS_MAX);
  readonly ends: Int32Array = new Int32Array(WORDS_MAX);
  /** The characters of the text, followed by a 0. They are copied, because reading an array is cheaper than reading
   *  a string. */
  readonly codes: Uint16Array = new Uint16Array(CRON_CANONICAL_LENGTH_MAX + 1);

  /** Turns to another text, whose length was checked. Returns how many words it has. */
  begin(text: string): number {
    this.text = text;
    const { codes, starts, ends } = this;
    const { length } = text;
    let count = 0;
    let isInWord = false;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      codes[at] = code;
      if (code === SPACE || (code < 14 && code > 8)) {
        if (isInWord) ends[count++] = at;
        isInWord = false;
      } else if (!isInWord) {
        starts[count] = at;
        isInWord = true;
      }
    }
    codes[length] = 0;
    if (isInWord) ends[count++] = length;
    return count;
  }

  /** Forgets what the fields of an earlier expression left. */
  reset(dialect: CronDialect | undefined): void {
    this.restricted = 0;
    this.years = null;
    this.dialect = dialect;
  }

  /** Reads the field that stands in the text from `start` to `end`. The character at `end` is white space or none. */
  read(field: CronField, start: number, end: number): void {
    this.field = field;
    this.at = start;
    this.end = end;
    this.lo = this.hi = this.lastDays = this.nearestWeekdays = this.nthLo = this.nthHi = 0;
    this.hasLastWeekday = false;
    for (;;) {
      this.skipSpaces();
      this.start = this.at;
      this.readElement();
      this.skipSpaces();
      if (this.at >= end) return;
      if (this.peek() !== COMMA) throw unexpected(this.element);
      this.at++;
    }
  }

  private readElement(): void {
    const field = this.field;
    const code = this.peek();
    let first = field.min;
    let last = field.max;
    if (code === STAR) {
      this.at++;
    } else if (code === QUESTION) {
      this.at++;
      this.add(first, last, 1);
      return;
    } else {
      if (field === DAY && this.readDayWord(code)) return;
      first = this.readValue();
      const next = this.peek();
      if (next === DASH) {
        this.at++;
        const isName = isLetter(this.peek());
        last = this.readValue();
        if (field === DAY_OF_WEEK) {
          // A range that ends with a Sunday by name runs to 7, except where the name is another one of 0 alone.
          if (last === 0 && isName && first > 0 && this.dialect !== "vixie") last = 7;
          if (this.peek() === HASH && this.readNth(first, HASH, last)) return;
        }
      } else if (next !== SLASH) {
        if (field === DAY && this.readDaySuffix(first, next)) return;
        if (field === DAY_OF_WEEK && this.readNth(first % 7, next)) return;
        last = first;
      }
    }
    let step = 1;
    if (this.peek() === SLASH) {
      this.at++;
      if (!isDigit(this.peek())) throw this.error("needs a number after the /");
      step = this.readNumber();
      if (step === 0) throw this.error("has a step of 0", null, "a step is 1 or more");
    }
    this.add(first, last, step);
  }

  /** `L`, `L-n`, `LW`, `last`, `last fri`, and `fri#2` and `friL`, the spellings of `2nd fri` without a space. */
  private readDayWord(code: number): boolean {
    if (!isLetter(code)) return false;
    if ((code | 32) === LOWER_L) {
      const length = this.wordLength();
      if (length === 4 && this.wordIs("last")) {
        this.at += 4;
        if (this.isWeekdayNext()) this.addNth(6, this.readWeekday());
        else this.lastDays |= 1;
        return true;
      }
      if (length === 2 && this.wordIs("lw")) {
        this.at += 2;
        this.hasLastWeekday = true;
        return true;
      }
      if (length === 1) {
        this.at++;
        this.lastDays |= 1 << this.readLastOffset();
        return true;
      }
    }
    const weekday = this.readWeekday();
    if (!this.readNth(weekday, this.peek())) {
      const name = WEEKDAY_NAMES[weekday];
      throw this.error(
        "is a weekday",
        `${name}#1`,
        `put it in dayOfWeek, or write "${name}#1" for the first of the month`,
      );
    }
    return true;
  }

  private readLastOffset(): number {
    if (this.peek() !== DASH) return 0;
    this.at++;
    if (!isDigit(this.peek())) throw this.error("needs a number after L-");
    const offset = this.readNumber();
    if (offset > 30) throw this.error("is outside L-0 to L-30", "L-30");
    if ((this.peek() | 32) === LOWER_W) throw this.error("combines L-n and W, which is not supported", "LW");
    return offset;
  }

  /** `15W` and `2nd fri`. */
  private readDaySuffix(first: number, code: number): boolean {
    if (!isLetter(code)) return false;
    if ((code | 32) === LOWER_W && this.wordLength() === 1) {
      this.at++;
      this.nearestWeekdays |= 1 << first;
      return true;
    }
    const suggestion = first > 5 ? null : `fri#${first}`;
    const isOrdinal = this.wordLength() === 2 && this.wordIs(ORDINAL_ENDINGS[first] ?? "");
    if (!isOrdinal) throw this.error("is not a day", suggestion);
    this.at += 2;
    if (!this.isWeekdayNext()) throw this.error("needs a weekday", suggestion);
    this.addNth(first, this.readWeekday());
    return true;
  }

  /** `fri#2`, `fri#L`, `friL`, and with a last weekday `mon-fri#1`. */
  private readNth(weekday: number, code: number, last: number = weekday): boolean {
    if (code === HASH) {
      this.at++;
      const isLast = (this.peek() | 32) === LOWER_L && this.wordLength() === 1;
      const nth = isLast ? 6 : isDigit(this.peek()) ? this.readNumber() : 0;
      if (isLast) this.at++;
      else if (nth < 1 || nth > 5) {
        const name = WEEKDAY_NAMES[weekday % 7];
        throw this.error("must have a number from 1 to 5, or L, after the #", nth > 5 ? `${name}L` : `${name}#1`);
      }
      if (weekday > last) this.checkWrap(weekday, last);
      for (let day = weekday; day <= (weekday > last ? last + 7 : last); day++) this.addNth(nth, day % 7);
      return true;
    }
    if ((code | 32) !== LOWER_L || this.wordLength() !== 1) return false;
    this.at++;
    this.addNth(6, weekday);
    return true;
  }

  /** `nth` 6 is the last. */
  private addNth(nth: number, weekday: number): void {
    const bit = (nth - 1) * 7 + weekday;
    if (bit < 32) this.nthLo |= 1 << bit;
    else this.nthHi |= 1 << (bit - 32);
  }

  private isWeekdayNext(): boolean {
    this.skipSpaces();
    return this.at < this.end && isLetter(this.peek());
  }

  private readWeekday(): number {
    return this.readName(DAY_OF_WEEK);
  }

  private readName(field: CronField): number {
    const index = field.keys.indexOf(nameKey(this.codes, this.at));
    if (index < 0 || !this.endsName()) throw unknownName(this.element, field.names);
    this.at += 3;
    return field.min + index;
  }

  private readValue(): number {
    const field = this.field;
    const code = this.peek();
    if (isDigit(code)) {
      const value = this.readNumber();
      if (value < field.min || value > field.writtenMax) {
        // Nothing fires in the years before 1970, but OCPS may name them.
        if (field !== YEAR || this.dialect !== "ocps" || value < 1 || value > field.max)
          throw outside(this.element, value);
      }
      return value;
    }
    if (field.keys.length > 0 && isLetter(code)) return this.readName(field);
    throw unexpected(this.element);
  }

  /** A number with more digits than any field takes is cut off, but stays too large for every field. */
  private readNumber(): number {
    let value = 0;
    for (let code = this.peek(); isDigit(code); code = this.codes[++this.at] ?? 0) {
      if (value < 100_000) value = value * 10 + code - 48;
    }
    return value;
  }

  private add(first: number, last: number, step: number): void {
    const field = this.field;
    let from = first;
    let to = last;
    if (field === DAY_OF_WEEK && first === 7) {
      from = 0;
      if (last === 7) to = 0;
    }
    const wraps = from > to;
    if (first > last) this.checkWrap(first, last);
    const span = wraps ? to + field.max - field.min + 1 - from : to - from;
    // OCPS and Vixie cron take such a step, which leaves the first value alone.
    if (step > span && step > 1 && (this.dialect ?? "quartz") === "quartz")
      throw stepTooLarge(this.element, first, span);
    if (field === YEAR) this.addYears(from, to, step);
    else if (step === 1 && !wraps) this.addRun(from, to);
    else this.addSteps(from, span, step);
    // Sunday was written as 7.
    if (field === DAY_OF_WEEK && this.lo > 127) this.lo = (this.lo | 1) & 127;
  }

  private checkWrap(first: number, last: number): void {
    const { field, dialect } = this;
    const mayWrap = dialect === "quartz" ? field !== YEAR : field.wraps && dialect === undefined;
    if (mayWrap) return;
    const problem = "runs backwards";
    // Turned around, it would be nearly all that was not meant.
    if (field.wraps) throw this.error(problem, null, "write a list of two ranges");
    throw this.error(problem, `${last}-${first}`);
  }

  private addRun(first: number, last: number): void {
    if (first < 32) this.lo |= (last < 31 ? (2 << last) - 1 : -1) & -(1 << first);
    if (last > 31) this.hi |= ((2 << (last - 32)) - 1) & (first < 32 ? -1 : -(1 << (first - 32)));
  }

  private addSteps(first: number, span: number, step: number): void {
    const { max, min } = this.field;
    for (let offset = 0; offset <= span; offset += step) {
      let value = first + offset;
      // 7 stays 7 when it was written as the end of a range, such as `fri-7`.
      if (value > max && !(value === 7 && first + span === 7)) value -= max - min + 1;
      if (value < 32) this.lo |= 1 << value;
      else this.hi |= 1 << (value - 32);
    }
  }

  private addYears(first: number, last: number, step: number): void {
    this.years ??= new Uint32Array(YEAR_WORDS);
    for (let year = first - YEAR.min; year <= last - YEAR.min; year += step) {
      this.years[year >> 5] = (this.years[year >> 5] ?? 0) | (1 << (year & 31));
    }
  }

  private skipSpaces(): void {
    while (this.at < this.end && this.peek() === SPACE) this.at++;
  }

  private peek(): number {
    return this.codes[this.at] ?? 0;
  }

  /** Whether a name of three letters ends here: no letter follows, except the `L` of `friL`. */
  private endsName(): boolean {
    const length = this.wordLength();
    return length === 3 || (length === 4 && ((this.codes[this.at + 3] ?? 0) | 32) === LOWER_L);
  }

  private wordLength(): number {
    let length = 0;
    while (isLetter(this.codes[this.at + length] ?? 0)) length++;
    return length;
  }

  private wordIs(word: string): boolean {
    return this.text.slice(this.at, this.at + word.length).toLowerCase() === word && word !== "";
  }

  private elementEnd(): number {
    const comma = this.text.indexOf(",", this.start);
    return comma < 0 || comma > this.end ? this.end : comma;
  }

  private get element(): StoppedElement {
    return { text: this.text, field: this.field, start: this.start, end: this.elementEnd(), at: this.at };
  }

  private error(problem: string, suggestion: string | null = null, advice: string | null = null): CronSyntaxError {
    return elementError(this.element, problem, suggestion, advice);
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}
