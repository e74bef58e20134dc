import { spelledZone } from "./zone-names.ts";
import type { ClockChange, ZoneRules } from "./zone-rules.ts";

const DAY = 86_400;
/** No offset has lasted less than a week since 1970 (the shortest: Recife in October 2000, and Gaza in some years to
 *  come, for a week less an hour). So a search in steps of six days misses none, however the steps lie. */
const STEP = 6 * DAY;
/** Most clocks change at a whole or a half hour of UTC. */
const LIKELY = 1800;
/** Some 100 years before the first clock change of any zone. Intl would count older days by the Julian calendar on some
 *  runtimes. */
const OLDEST = -7_000_000_000;

/**
 * A zone's rules as `Intl.DateTimeFormat` knows them: for runtimes without a Temporal of their own. A look at the clock
 * costs a microsecond, and a year of a zone some 80 looks.
 */
export class IntlRules implements ZoneRules {
  readonly timeZone: string;
  readonly isFixed = false;
  readonly #clock: Intl.DateTimeFormat;

  /** @throws {RangeError} when Intl does not know the name */
  constructor(name: string) {
    this.timeZone = spelledZone(name);
    // What it writes looks like "31, 19:00:00". Parts of it would cost five times as much as the text.
    this.#clock = new Intl.DateTimeFormat("en-US", {
      timeZone: this.timeZone,
      hourCycle: "h23",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  }

  offsetAt(instant: number): number {
    const at = Math.max(instant, OLDEST);
    const text = this.#clock.format(at * 1000);
    const end = text.length;
    const time = twoDigits(text, end - 8) * 3600 + twoDigits(text, end - 5) * 60 + twoDigits(text, end - 2);
    let days = twoDigits(text, 0) - new Date(at * 1000).getUTCDate();
    // The date there is the day before or after. Where that lies in another month, days of months differ by many.
    if (Math.abs(days) > 1) days = days > 0 ? -1 : 1;
    return days * DAY + time - (at - Math.floor(at / DAY) * DAY);
  }

  changes(from: number, until: number): ClockChange[] {
    const changes: ClockChange[] = [];
    let instant = from - 1;
    let offset = this.offsetAt(instant);
    while (instant < until - 1) {
      const end = Math.min(instant + STEP, until - 1);
      const offsetAtEnd = this.offsetAt(end);
      while (offset !== offsetAtEnd) {
        instant = this.#changeBetween(instant, end, offset);
        offset = this.offsetAt(instant);
        changes.push({ instant, offset });
      }
      instant = end;
    }
    return changes;
  }

  // An instant in (start, end] at which an offset ends that holds at the start, and not at the end.
  #changeBetween(start: number, end: number, offset: number): number {
    let low = Math.floor(start / LIKELY);
    let high = Math.ceil(end / LIKELY);
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.offsetAt(middle * LIKELY) === offset) low = middle;
      else high = middle;
    }
    low = Math.max(low * LIKELY, start);
    high = Math.min(high * LIKELY, end);
    if (this.offsetAt(high - 1) === offset) return high;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }
}

function twoDigits(text: string, index: number): number {
  return text.charCodeAt(index) * 10 + text.charCodeAt(index + 1) - 528;
}
