import type { Temporal } from "../core/temporal.ts";
import type { OffsetChange, ZoneRules } from "./zone-rules.ts";

/** A zone's rules as Temporal knows them. Exact, and fast where Temporal belongs to the runtime: a clock change costs
 *  some microseconds. A polyfill of Temporal takes up to a third of a millisecond. */
export class TemporalRules implements ZoneRules {
  readonly timeZone: string;
  readonly isFixed = false;
  readonly #ZonedDateTime: typeof Temporal.ZonedDateTime;

  /** @param temporal the runtime's Temporal, or another
   *  @throws {RangeError} when Temporal does not know the name */
  constructor(name: string, { ZonedDateTime }: { readonly ZonedDateTime: typeof Temporal.ZonedDateTime }) {
    this.#ZonedDateTime = ZonedDateTime;
    this.timeZone = new ZonedDateTime(0n, name).timeZoneId;
  }

  offsetAt(instant: number): number {
    return offsetOf(this.#at(instant));
  }

  changes(from: number, until: number): OffsetChange[] {
    const changes: OffsetChange[] = [];
    let change = this.#at(from - 1).getTimeZoneTransition("next");
    while (change !== null && change.epochMilliseconds < until * 1000) {
      changes.push({ instant: Math.floor(change.epochMilliseconds / 1000), offset: offsetOf(change) });
      change = change.getTimeZoneTransition("next");
    }
    return changes;
  }

  #at(instant: number): Temporal.ZonedDateTime {
    return new this.#ZonedDateTime(BigInt(instant) * 1_000_000_000n, this.timeZone);
  }
}

// Some offsets have seconds (Monrovia until 1972), but none has fractions of one, because the time zone database has
// none.
function offsetOf(zoned: Temporal.ZonedDateTime): number {
  return Math.round(zoned.offsetNanoseconds / 1e9);
}
