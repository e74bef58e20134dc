/** A change of a zone's offset from UTC. */
export interface OffsetChange {
  /** When it happens, in seconds since 1970. */
  readonly instant: number;
  /** The offset from then on, in seconds east of UTC. */
  readonly offset: number;
}

/** What the runtime knows of a time zone. It answers slowly: a {@link ZoneTable} keeps what it has said. */
export interface ZoneRules {
  /** The name as Temporal spells it. For example, `europe/berlin` is `Europe/Berlin`. */
  readonly timeZone: string;
  /** Whether the offset never changes. */
  readonly isFixed: boolean;
  /** The offset at an instant, both in seconds. */
  offsetAt(instant: number): number;
  /** The clock changes in [from, until), in order. */
  changes(from: number, until: number): OffsetChange[];
}

/** The longest name has 32 characters. Longer text is refused here, because a runtime would parse a megabyte of it. */
const TIME_ZONE_LENGTH_MAX = 80;
const OFFSET = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/;

/** The rules of an offset such as `+05:30` or `-0930`, and of `UTC`; null for any other name.
 *  @throws {RangeError} when the name is too long to be one */
export function fixedRules(name: string): ZoneRules | null {
  if (name.length > TIME_ZONE_LENGTH_MAX) throw new RangeError("too long for the name of a time zone");
  if (/^utc$/i.test(name)) return new FixedRules("UTC", 0);
  const match = OFFSET.exec(name);
  if (match === null) return null;
  const [, sign = "+", hours = "0", minutes = "00"] = match;
  const seconds = Number(hours) * 3600 + Number(minutes) * 60;
  // Temporal knows no negative zero.
  return new FixedRules(`${seconds === 0 ? "+" : sign}${hours}:${minutes}`, sign === "-" ? 0 - seconds : seconds);
}

class FixedRules implements ZoneRules {
  readonly timeZone: string;
  readonly isFixed = true;
  readonly #offset: number;

  constructor(timeZone: string, offset: number) {
    this.timeZone = timeZone;
    this.#offset = offset;
  }

  offsetAt(): number {
    return this.#offset;
  }

  changes(): OffsetChange[] {
    return [];
  }
}
