import type { OffsetChange, ZoneRules } from "./zone-rules.ts";

const DAY = 86_400;
/** No offset has lasted less than a week since 1970 (the shortest: Recife in October 2000, and Gaza in some years to
 *  come, for a week less an hour). So a search in steps of six days misses none, however the steps lie. */
const STEP = 6 * DAY;
/** Most clocks change at a whole or a half hour of UTC. */
const LIKELY = 1800;
const OFFSET = /([+-])(\d+)(?::(\d+))?(?::(\d+))?$/;

/**
 * A zone's rules as `Intl.DateTimeFormat` knows them: for runtimes without a Temporal of their own. A look at the clock
 * costs two microseconds, and a year of a zone some 80 looks.
 */
export class IntlRules implements ZoneRules {
  readonly timeZone: string;
  readonly isFixed = false;
  readonly #clock: Intl.DateTimeFormat;
  /** The offsets by the texts of the clock, which are few: a search looks at the same hour of many days. */
  readonly #offsets = new Map<string, number>();

  /** @throws {RangeError} when Intl does not know the name */
  constructor(name: string) {
    this.timeZone = spelledZone(name);
    // What it writes looks like "19h GMT-5". A whole date costs three times as much to write and to read.
    this.#clock = new Intl.DateTimeFormat("en-US", {
      timeZone: this.timeZone,
      hourCycle: "h23",
      hour: "2-digit",
      timeZoneName: "shortOffset",
    });
  }

  offsetAt(instant: number): number {
    const text = this.#clock.format(instant * 1000);
    return this.#offsets.get(text) ?? this.#read(text);
  }

  // An offset of zero may have no digits: "19h GMT".
  #read(text: string): number {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(text) ?? [];
    const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    const offset = sign === "-" ? 0 - size : size;
    this.#offsets.set(text, offset);
    return offset;
  }

  changes(from: number, until: number): OffsetChange[] {
    const changes: OffsetChange[] = [];
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

// Intl takes a zone's name in any case, and may give the name of another one back: where `Asia/Kolkata` is asked for,
// some runtimes answer `Asia/Calcutta`. So the usual spelling follows from a rule, and from a list of what breaks it.

/** Old names of single words or with hyphens, and words that are not written with one capital letter. */
const UNUSUAL = new Map(
  (
    "CET CST6CDT EET EST EST5EDT GB GB-Eire GMT GMT+0 GMT-0 GMT0 HST MET MST MST7MDT NZ NZ-CHAT PRC PST8PDT ROC ROK " +
    "UCT UTC WET W-SU Africa/Dar_es_Salaam America/Argentina/ComodRivadavia America/Knox_IN America/Port-au-Prince " +
    "America/Port_of_Spain Antarctica/DumontDUrville Antarctica/McMurdo Australia/ACT Australia/LHI Australia/NSW " +
    "Brazil/DeNoronha Chile/EasterIsland Europe/Isle_of_Man Mexico/BajaNorte Mexico/BajaSur"
  )
    .split(" ")
    .map((name) => [name.toLowerCase(), name]),
);
const WORD = /[a-z]+/g;
/** Names of ICU, which some runtimes take although they are no names of the IANA database. */
const ICU_ONLY = /^(?:systemv\/|[a-z]{3}$)/;

/** The usual spelling of a time zone's name, which may come in any case. The name need not exist.
 *  @throws {RangeError} for names that only Intl knows, such as `PST` */
export function spelledZone(name: string): string {
  const lower = name.toLowerCase();
  const unusual = UNUSUAL.get(lower);
  if (unusual !== undefined) return unusual;
  if (ICU_ONLY.test(lower)) throw new RangeError(`not in the IANA database: ${name}`);
  return lower
    .replace(WORD, (word) => word.charAt(0).toUpperCase() + word.slice(1))
    .replace(/^Us\/|\/(?:Gmt|Uct|Utc)/, (word) => word.toUpperCase());
}
