import { OptionsError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import { type InstantLike, instantText, type Temporal, toEpochMs } from "../../core/temporal.ts";
import { civilTimeOf } from "../../triggers/civil-time.ts";

const DAY_MS = 86_400_000;

/** What `explain` may be asked about. */
type Asked = InstantLike | Temporal.PlainDateTime | Temporal.PlainDate;

/** An instant, or what clocks on a wall show, with its precision. */
export type Question =
  | { readonly kind: "instant"; readonly at: number }
  /** `wall`: the epoch milliseconds of what clocks show, as if they were in UTC. */
  | { readonly kind: "wall"; readonly wall: number; readonly span: number };

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

/** ISO 8601 text of what clocks show, without an offset. */
export function wallText(wall: number): string {
  return new Date(wall)
    .toISOString()
    .replace(/\.?0*Z$/, "")
    .replace(/T(\d\d:\d\d)$/, "T$1:00");
}
