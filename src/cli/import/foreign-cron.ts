import { type CronOptions, CronTrigger, IntervalTrigger, type Trigger } from "../../cron.ts";
import { clockChanges } from "../engine.ts";
import { StaysBehind } from "./findings.ts";

/** How a library of another system reads rules of cron, where it is otherwise than here. */
interface Library {
  readonly takes: string;
  readonly nicknames: Readonly<Record<string, string>>;
  /** The end of the weekdays for steps: `1/2` has Sunday where it is 7. */
  readonly weekdayMax: 6 | 7;
  /** Whether a day field counts as one that says nothing: then the other one decides alone. */
  readonly isStar: (word: string) => boolean;
  /** What it takes besides numbers, names, ranges and steps, by the position of the field. */
  readonly more: Readonly<Record<number, RegExp>>;
  /** What its fire times do when clocks change. */
  readonly dst: (hours: string) => CronOptions["dst"];
}

const NICKNAMES = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@hourly": "0 * * * *",
} as const;

const HASHED = /^H(\(\d+-\d+\))?(\/\d+)?$/;
const EVERY_HOUR = Array.from({ length: 24 }, (_, hour) => hour).join();

/** The parser of robfig/cron 3, and cron-parser 5 without its option `strict`. */
const LIBRARIES = {
  robfig: {
    takes: "5 fields, of which the weekday is 0 to 6",
    nicknames: { ...NICKNAMES, "@midnight": "0 0 * * *" },
    weekdayMax: 6,
    // A step of more than 1 takes the star away; one star in a list is enough.
    isStar: (word) => word.split(",").some((element) => /^[*?](\/0*1)?$/.test(element)),
    more: {},
    dst: () => ({ gap: "skip", overlap: "both" }),
  },
  cronParser: {
    takes: "5 or 6 fields",
    nicknames: {
      ...NICKNAMES,
      "@minutely": "* * * * *",
      "@secondly": "* * * * * *",
      "@weekdays": "0 0 * * 1-5",
      "@weekends": "0 0 * * 0,6",
    },
    weekdayMax: 7,
    isStar: (word) => word === "*" || word === "?",
    more: { 3: /^L$/, 5: /^([0-7]|[a-z]{3})(L|#[1-5])$/i },
    dst: (hours) => (hours === EVERY_HOUR || hours === "*" ? "auto" : { gap: "shift" }),
  },
} as const satisfies Record<string, Library>;

const NAMES = ["second", "minute", "hour", "day", "month", "dayOfWeek"] as const;
const RANGES = [[0, 59] as const, [0, 59] as const, [0, 23] as const, [1, 31] as const, [1, 12] as const] as const;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** A rule of another system. */
export interface ForeignRule {
  readonly text: string;
  /** Whose rule it is, for messages. */
  readonly system: string;
  readonly timeZone: string;
  /** Picks the values of `H`, where the system has it. */
  readonly seed: string;
  readonly startTime?: string;
  readonly endTime?: string;
  readonly nowMs: number;
}

/**
 * The trigger of a rule of Kubernetes, which robfig/cron reads. `@every` alone counts from the start time on.
 * @throws {StaysBehind} for what it does not take
 * @throws {EscapementError}
 */
export function robfigTrigger({ text, startTime, ...rule }: ForeignRule): Trigger {
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s.exec(text) ?? [];
  const timeZone = zone === undefined ? rule.timeZone : zone || "UTC";
  if (timeZone.toLowerCase() === "local") {
    throw new StaysBehind(`the time zone ${timeZone} is that of the machine which runs it: name it, or leave it out`);
  }
  const written = rest ?? text;
  const every = /^@every (.*)$/.exec(written)?.[1];
  if (every === undefined) return foreignTrigger({ ...rule, timeZone, text: written }, "robfig");
  const seconds = goSeconds(every);
  if (seconds === null) throw new StaysBehind(`${JSON.stringify(written)} has no duration such as 1h30m`);
  return new IntervalTrigger({ seconds, ...(startTime === undefined ? { firstRun: "afterInterval" } : { startTime }) });
}

/**
 * The trigger of a rule of BullMQ, pg-boss or Agenda, which cron-parser reads.
 * @throws {StaysBehind} for what it does not take
 * @throws {EscapementError}
 */
export function cronParserTrigger(rule: ForeignRule): CronTrigger {
  return foreignTrigger(rule, "cronParser");
}

function foreignTrigger(rule: ForeignRule, name: keyof typeof LIBRARIES): CronTrigger {
  const library: Library = LIBRARIES[name];
  const { text, system, timeZone, seed, startTime, endTime, nowMs } = rule;
  const expanded = Object.hasOwn(library.nicknames, text) ? library.nicknames[text] : undefined;
  const words = (expanded ?? text).trim().split(/\s+/);
  const isCounted = words.length === 5 || (words.length === 6 && name === "cronParser");
  const fields = isCounted ? (words.length === 5 ? ["0", ...words] : words).map(fieldOf(library)) : [null];
  if (!fields.every((field) => field !== null)) {
    // Our own dialect says what is wrong in more words, unless it can read the rule.
    new CronTrigger(text, { timeZone, seed });
    const index = isCounted ? fields.indexOf(null) : -1;
    const what = index === -1 ? text : `${NAMES[index]} ${words.at(index - 6)}`;
    throw new StaysBehind(`${what} cannot be read as ${system} does; it takes ${library.takes}`);
  }
  const options = {
    timeZone,
    ...(fields.some((field) => field.includes("H")) ? { seed } : {}),
    ...(startTime === undefined ? {} : { startTime }),
    ...(endTime === undefined ? {} : { endTime }),
  };
  return atClockChanges(fields, options, library.dst(fields[2] ?? ""), nowMs);
}

/** Fields as our own dialect has them: lists of numbers, so that nothing depends on how a step is read. */
function fieldOf(library: Library): (word: string, index: number) => string | null {
  return (word, index) => {
    const isDay = index === 3 || index === 5;
    if (isDay ? library.isStar(word) : word === "*") return "*";
    const values: (string | number)[] = [];
    for (const element of word.split(",")) {
      const isAlone = !element.includes("#") || element === word;
      if (isAlone && (library.more[index]?.test(element) || (library.weekdayMax === 7 && HASHED.test(element)))) {
        values.push(element);
        continue;
      }
      const numbers = numbersOf(element, index, library.weekdayMax);
      if (numbers === null) return null;
      values.push(...numbers);
    }
    return [...new Set(values)].join();
  };
}

function numbersOf(element: string, index: number, weekdayMax: 6 | 7): number[] | null {
  const match = /^(?:[*?]|(\d+|[a-z]{3})(?:-(\d+|[a-z]{3}))?)(?:\/(\d+))?$/i.exec(element);
  if (match === null) return null;
  const [, from, until, every] = match;
  const [min, max] = RANGES[index] ?? [0, weekdayMax];
  const first = from === undefined ? min : numberOfValue(from, index);
  const last =
    until !== undefined ? numberOfValue(until, index) : from === undefined || every !== undefined ? max : first;
  const step = Number(every ?? 1);
  if (first < min || last > max || !(first <= last) || step === 0) return null;
  const values: number[] = [];
  for (let value = first; value <= last; value += step) values.push(index === 5 ? value % 7 : value);
  return values;
}

/** -1 for a name that is none, which is less than any value. */
function numberOfValue(text: string, index: number): number {
  if (/^\d/.test(text)) return Number(text);
  const names = index === 4 ? MONTHS : index === 5 ? WEEKDAYS : [];
  const at = names.indexOf(text.toLowerCase());
  return at === -1 ? -1 : at + (index === 4 ? 1 : 0);
}

const UNITS_S: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** The whole seconds of a duration of Go, of which there is one at least; null for other text. */
function goSeconds(text: string): number | null {
  if (!/^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|[µμ]s|ms|s|m|h))+)$/.test(text) || text.length > 100) return null;
  // One that is negative is less than a second, too.
  if (text.startsWith("-")) return 1;
  let sum = 0;
  for (const [, count, unit = ""] of text.matchAll(/([\d.]+)([a-zµμ]+)/g)) {
    sum += Number(count) * (UNITS_S[unit.replace(/[µμ]/, "u")] ?? 0);
  }
  return Math.max(1, Math.floor(sum + 1e-9));
}

/** So far ahead zones are known to change their clocks as they do. */
const TWO_YEARS_MS = 2 * 366 * 86_400_000;

/**
 * A trigger that does at changes of the clocks what the other system does. Where its times of day meet no change of its
 * zone, nothing is said of it.
 * @param fields the second first, and the year last if at all
 */
export function atClockChanges(
  fields: readonly string[],
  options: CronOptions,
  dst: CronOptions["dst"],
  nowMs: number,
): CronTrigger {
  const { timeZone, seed } = options;
  const daily = [...fields.slice(0, 3), "*", "*", "*"].join(" ");
  const differs = differsAtChanges((more) => new CronTrigger(daily, { timeZone, seed, ...more }), dst, nowMs);
  return new CronTrigger(fields.join(" "), differs ? { ...options, dst } : options);
}

/** Whether times of day are others at a change of the clocks by a policy than without one.
 *  @param make a rule with the times of day, of each date */
export function differsAtChanges(
  make: (more: Pick<CronOptions, "dst">) => CronTrigger,
  dst: CronOptions["dst"],
  nowMs: number,
): boolean {
  const [plain, exact] = [make({}), make({ dst })];
  return [...clockChanges(plain.timeZone, nowMs, nowMs + TWO_YEARS_MS)].some(({ atMs, shiftMs }) => {
    const from = new Date(atMs - Math.abs(shiftMs));
    const range = { from, until: new Date(atMs + Math.abs(shiftMs)), limit: 8000 };
    return plain.expand(range).join() !== exact.expand(range).join();
  });
}
