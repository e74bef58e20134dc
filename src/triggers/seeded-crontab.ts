import { nearest } from "../core/suggest.ts";
import { type CronField, DAY, DAY_OF_WEEK, FIELDS_OF_CRONTAB, YEAR } from "../cron/fields.ts";
import { quote, syntaxError } from "../cron/syntax.ts";

// `H` in crontab text, as Jenkins has it: a value that a seed picks, so that schedules with one rule do not fire at one
// instant.

const HASHED = /(?:^|[\s,=])h(?![a-z])/i;

/** Whether crontab text has an `H`. */
export function hasHash(text: string): boolean {
  return HASHED.test(text);
}

/** Nicknames as `spread` reads them. The fields that a nickname leaves open stay open. */
const SPREAD_NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "H H H H *",
  "@annually": "H H H H *",
  "@monthly": "H H H * *",
  "@weekly": "H H * * H",
  "@daily": "H H * * *",
  "@midnight": "H H(0-2) * * *",
  "@hourly": "H * * * *",
};

/** A nickname as text with an `H` in place of what the nickname sets to its minimum; null for other text. */
export function spreadNickname(text: string): string | null {
  const name = text.trim().toLowerCase();
  return Object.hasOwn(SPREAD_NICKNAMES, name) ? (SPREAD_NICKNAMES[name] ?? null) : null;
}

/**
 * Crontab text with a value in place of each `H`. The value follows from the seed and the field alone, so that it is
 * the same in every process, on every machine and in every release.
 *
 * - `H` is one value of the field. In the day of the month it is one from 1 to 28, which every month has.
 * - `H(0-29)` is one value of the range.
 * - `H/15` is every 15th value, from one of the first 15 on; `H(0-29)/10` the same within the range.
 *
 * Text of a wrong number of fields comes back as it is: the parser says what is wrong with it.
 *
 * @throws {CronSyntaxError} for an `H` with a wrong range or step, and for one in the year or in `week=`
 */
export function withoutHashes(text: string, seed: string): string {
  const words = [...text.matchAll(/\S+/g)];
  const hasWeek = /^week=/i.test(words.at(-1)?.[0] ?? "");
  const count = words.length - (hasWeek ? 1 : 0);
  if (count < 5 || count > 7) return text;
  const first = count === 5 ? 1 : 0;
  let resolved = "";
  for (const [index, word] of words.entries()) {
    const field = index < count ? (FIELDS_OF_CRONTAB[index + first] ?? YEAR) : YEAR;
    const values = hasHash(word[0]) ? resolvedField(text, word[0], word.index, field, seed) : word[0];
    resolved += `${index === 0 ? "" : " "}${values}`;
  }
  return resolved;
}

function resolvedField(text: string, word: string, start: number, field: CronField, seed: string): string {
  let at = start;
  const elements: string[] = [];
  for (const element of word.split(",")) {
    const place = { text, field, start: at, end: at + element.length };
    elements.push(hasHash(element) ? resolvedElement(element, place, seed) : element);
    at += element.length + 1;
  }
  return elements.join(",");
}

type CrontabPlace = Parameters<typeof syntaxError>[0] & { readonly field: CronField };

function resolvedElement(element: string, place: CrontabPlace, seed: string): string {
  const { field } = place;
  const match = /^h(?:\(([^()-]+)-([^()-]+)\))?(?:\/(\d{1,6}))?$/i.exec(element);
  if (match === null || field === YEAR) {
    const advice =
      field === YEAR ? "write a value here" : 'it stands alone, or has a range, a step or both: "H", "H(0-29)", "H/15"';
    throw syntaxError(place, "has an H that cannot be read", null, advice);
  }
  const [, from, to, stepText] = match;
  const min = from === undefined ? field.min : boundOf(from, place);
  // All months have 28 days.
  const max = to === undefined ? (field === DAY ? 28 : field.max) : boundOf(to, place);
  const size = max - min + 1;
  if (size < 1) throw syntaxError(place, "has a range that runs backwards", `H(${to}-${from})`);
  const hash = fieldHash(seed, field);
  if (stepText === undefined) return String(min + (hash % size));
  const step = Number(stepText);
  if (step === 0) throw syntaxError(place, "has a step of 0", null, "a step is 1 or more");
  if (step > size) {
    throw syntaxError(place, `has a step larger than its range of ${size}`, "H", 'write "H" for one value');
  }
  const values: number[] = [];
  for (let value = min + (hash % step); value <= max; value += step) values.push(value);
  return values.join(",");
}

function boundOf(text: string, place: CrontabPlace): number {
  const { field } = place;
  const { min, max, names } = field;
  const index = names.indexOf(text.toLowerCase());
  const value = index < 0 ? Number(text) : min + index;
  // Sunday is 0 here, so that a range does not end before it begins.
  if (/^\d+$/.test(text) || index >= 0) {
    if (value >= min && value <= max) return value;
    const advice = field === DAY_OF_WEEK ? "a range within H( ) goes from 0 (Sunday) to 6" : null;
    throw syntaxError(place, `has ${quote(text)}, which is outside ${min}-${max}`, null, advice);
  }
  throw syntaxError(place, `has an unknown value ${quote(text)} in its range`, nearest(text, names));
}

/**
 * 32 bits that follow from a seed and a field: FNV-1a (Fowler, Noll, Vo) over the UTF-16 units of both, and the last
 * step of MurmurHash3 (Appleby), after which the lower bits depend on all characters.
 */
function fieldHash(seed: string, { name }: CronField): number {
  return seedHash(`${name} ${seed}`);
}

/** The same bits for any text. Stored schedules depend on it, so it never changes. */
export function seedHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
