import { OptionsError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import { type InstantLike, instantText, type Temporal, toEpochMs } from "../../core/temporal.ts";
import { dayAt, startOfDay, wallTimes } from "../../cron/wall-clock.ts";
import { civilTimeOf } from "../../triggers/civil-time.ts";
import { wallText } from "./words.ts";

const DAY_MS = 86_400_000;

/** What `explain` may be asked about. */
export type Asked = InstantLike | Temporal.PlainDateTime | Temporal.PlainDate;

/** An instant, or what clocks on a wall show, with its precision. */
export type Question =
  | { readonly kind: "instant"; readonly at: number }
  /** `wall`: the epoch milliseconds of what clocks show, as if they were in UTC. */
  | { readonly kind: "wall"; readonly wall: number; readonly span: number };

/** A question in a time zone. */
export interface Sought {
  /** The instant that stands for the question. */
  readonly at: number;
  /** The fire times that may be meant: [from, until), the first of them first. */
  readonly windows: readonly (readonly [from: number, until: number])[];
  /** What clocks were asked to show, where they never showed it: as in {@link Question}. */
  readonly skipped: number | null;
  /** The two instants at which clocks show it, where they do so twice. */
  readonly twice: readonly [first: number, second: number] | null;
}

/** @throws {OptionsError} */
export function questionOf(asked: Asked, where: string): Question {
  try {
    const civil = civilTimeOf(asked);
    if (civil === null) return { kind: "instant", at: toEpochMs(asked as InstantLike, "") };
    const wall = wallOf(civil);
    const digits = typeof asked === "string" ? asked.length : String(asked).length > 10 ? 19 : 10;
    // A date; an hour; a minute; a second.
    const span = digits <= 10 ? DAY_MS : digits <= 13 ? 3_600_000 : digits <= 16 ? 60_000 : 1000;
    return { kind: "wall", wall, span };
  } catch (cause) {
    if (!(cause instanceof OptionsError)) throw cause;
    const message = (cause.issues[0]?.message ?? cause.message)
      .replace("a Date or", "a Temporal.PlainDateTime, a Date or")
      .replace("text with an offset, such as", 'text, such as "2030-01-31 09:00" (in the zone of the rule),')
      .replace("text with an offset", "text");
    throw optionError(where, "at", message, { cause });
  }
}

/** At its ends, Temporal has more times of the wall clock than instants. @throws {OptionsError} */
function wallOf(civil: Temporal.PlainDateTime): number {
  try {
    return civil.toZonedDateTime("UTC").epochMilliseconds;
  } catch (cause) {
    throw optionError("", "at", `must be a time within the range of instants; got ${civil}`, { cause });
  }
}

/** A question as text that asks the same. */
export function questionText(question: Question): string {
  if (question.kind === "instant") return instantText(question.at);
  const { wall, span } = question;
  return wallText(wall).slice(0, span === DAY_MS ? 10 : span === 3_600_000 ? 13 : span === 60_000 ? 16 : undefined);
}

/** The instants of a question, in the time zone of a rule. */
export function soughtIn(question: Question, timeZone: string): Sought {
  if (question.kind === "instant") {
    const second = Math.floor(question.at / 1000) * 1000;
    const windows = [[question.at, question.at + 1] as const, [second, second + 1000] as const];
    return { at: question.at, windows, skipped: null, twice: null };
  }
  const { wall, span } = question;
  const [day, secondOfDay] = [Math.floor(wall / DAY_MS), Math.floor((((wall % DAY_MS) + DAY_MS) % DAY_MS) / 1000)];
  if (span === DAY_MS) {
    const from = startOfDay(day, timeZone);
    return { at: from, windows: [[from, startOfDay(day + 1, timeZone)]], skipped: null, twice: null };
  }
  const shown = wallTimes(day, secondOfDay, timeZone, "skip", "both");
  const [first, second] = shown;
  const windows = shown.map((at) => [at, at + span] as const);
  if (first === undefined) {
    // What clocks would have shown, had they not been changed yet.
    const at = wallTimes(day, secondOfDay, timeZone, "shift", "first")[0] ?? wall;
    return { at, windows: [], skipped: wall, twice: null };
  }
  return { at: first, windows, skipped: null, twice: second === undefined ? null : [first, second] };
}

/** The day of an instant in a time zone: [from, until). */
export function dayOf(at: number, timeZone: string): readonly [from: number, until: number] {
  const day = dayAt(at, timeZone);
  return [startOfDay(day, timeZone), startOfDay(day + 1, timeZone)];
}
