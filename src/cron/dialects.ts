import type { CronSyntaxError } from "../core/errors.ts";
import type { FieldReader } from "./field-reader.ts";
import { type CronField, DAY, DAY_OF_WEEK, FIELDS_OF_CRONTAB, YEAR } from "./fields.ts";
import type { CronDialect } from "./spec.ts";
import { syntaxError } from "./syntax.ts";

// Our own dialect reads nearly all that others have. So text of another dialect is read as our own, with a few switches
// in the reader, and then compared with what the other dialect has. docs/triggers.md names the differences.

/** What a dialect takes: in words, whose numbers are those of fields; then as parts of regular expressions, for text
 *  that is well-formed in our own dialect. Alone is what cannot be in a list. */
type Grammar = readonly [
  takes: string,
  element: string,
  dayElement: string,
  dayAlone: string,
  weekdayElement: string,
  weekdayAlone: string,
];

/** A number or a name. */
const VALUE = "(\\d+|[A-Za-z]{3})";
const PLAIN = `(\\*|${VALUE}-${VALUE})(/\\d+)?|${VALUE}`;
/** Steps of numbers alone, but also from a number on. */
const STEPPED = "(\\*|\\d+(-\\d+)?)(/\\d+)?|[a-z]{3}(-[a-z]{3})?";

const GRAMMARS: Readonly<Record<CronDialect, Grammar>> = {
  ocps: [
    "5, 6 or 7 fields, steps */n and a-b/n, L, nW, friL and fri#n",
    PLAIN,
    `${PLAIN}|L`,
    "\\d+W|\\?",
    `\\+?(${PLAIN}|${VALUE}(L|(-${VALUE})?#[^l]))`,
    "\\+?\\?",
  ],
  quartz: [
    "6 or 7 fields, a ? as either day or dayOfWeek, and Sunday as the first day",
    STEPPED,
    STEPPED,
    "\\?|L(-\\d+|W)?|\\d+W",
    STEPPED,
    `\\?|${VALUE}?L|${VALUE}#\\d`,
  ],
  vixie: ["5 fields, steps */n and a-b/n", PLAIN, PLAIN, "", PLAIN, ""],
};

/**
 * Before the words are read: whether there are as many as the dialect has. The weekdays of Quartz, where 1 is Sunday,
 * become our own in the reader's copy of the text.
 *
 * @throws {CronSyntaxError}
 */
export function enterDialect(dialect: CronDialect, { text, codes, starts, ends }: FieldReader, count: number): void {
  const isQuartz = dialect === "quartz";
  const isWrong = !GRAMMARS[dialect][0].includes(`${count}`) || (isQuartz && text.split("?").length !== 2);
  if (isWrong || /[^\S \t]/.test(text)) throw unreadable(dialect, text, null, 0, text.length);
  if (!isQuartz) return;
  const start = starts[5] ?? 0;
  for (const { 0: day, index } of text.slice(start, ends[5]).matchAll(/(?<![#/\d])\d+|^l$/gi)) {
    const at = start + index;
    if (!/^[1-7l]$/i.test(day)) throw unreadable(dialect, text, DAY_OF_WEEK, at, at + day.length);
    codes[at] = ZERO + (Number(day) || 7) - 1;
  }
}

const ZERO = 48;

/**
 * After the words were read: refuses what our own dialect has, and the other one has not.
 *
 * @throws {CronSyntaxError}
 */
export function checkDialect(dialect: CronDialect, { text, starts, ends }: FieldReader, count: number): void {
  const grammar = GRAMMARS[dialect];
  for (let index = 0; index < count; index++) {
    const field = FIELDS_OF_CRONTAB[index + (count === 5 ? 1 : 0)] ?? YEAR;
    const part = field === DAY ? 2 : field === DAY_OF_WEEK ? 4 : 1;
    const alone = part === 1 ? "" : grammar[part + 1];
    const word = text.slice(starts[index], ends[index]);
    const rule = new RegExp(`^((${grammar[part]})(,|$))+$|^(${alone})$`, dialect === "quartz" ? "i" : "");
    if (!rule.test(word)) throw unreadable(dialect, text, field, starts[index] ?? 0, ends[index] ?? 0);
  }
}

function unreadable(
  dialect: CronDialect,
  text: string,
  field: CronField | null,
  start: number,
  end: number,
): CronSyntaxError {
  const [takes] = GRAMMARS[dialect];
  return syntaxError({ text, field, start, end }, `cannot be read as "${dialect}"`, null, `it takes ${takes}`);
}
