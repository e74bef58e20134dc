import { dayAt, startOfDay, wallTimes } from "../../cron/wall-clock.ts";
import type { Question } from "../options/question.ts";

const DAY_MS = 86_400_000;

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
