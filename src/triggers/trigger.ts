import { systemClock } from "../core/clock.ts";
import { BrokenTriggerError, OptionsError } from "../core/errors.ts";
import { FIRE_TIME_MS_MAX } from "../core/limits.ts";
import { type InstantLike, type Temporal, toEpochMs, zonedOf } from "../core/temporal.ts";
import { isoOf } from "./words.ts";

/** A trigger as JSON: a tag, the version of its form, and the tag's own fields. */
export interface TriggerJSON {
  readonly type: string;
  readonly version: number;
  readonly [field: string]: unknown;
}

/** Which fire times {@link Trigger.fireTimes} yields. Without `until` and `limit`, the fire times of an unending
 *  rule do not end. */
export interface FireTimesOptions {
  /** Yield fire times at or after this instant. Default: the present. */
  from?: InstantLike;
  /** Yield fire times at or before this instant. */
  until?: InstantLike;
  /** Yield at most so many. */
  limit?: number;
}

/**
 * A rule that says when something fires: stateless and immutable. Its answer depends on the trigger's configuration and
 * on the instant that it is asked about, and on nothing else.
 *
 * A subclass implements {@link nextMs}, {@link previousMs}, {@link toJSON} and {@link describe}, and registers a codec
 * with `registerTrigger` so that a store can bring it back.
 */
export abstract class Trigger {
  /** The zone in which fire times are presented; an IANA name. */
  get timeZone(): string {
    return "UTC";
  }

  /** How many levels of triggers there are, this one included: 1 for a trigger without children. */
  get depth(): number {
    return 1;
  }

  /** The first fire time strictly later than `afterMs`, in epoch milliseconds, or null when there is none. {@link next}
   *  without its objects: what loops call. */
  abstract nextMs(afterMs: number): number | null;

  /** The last fire time strictly earlier than `beforeMs`, in epoch milliseconds, or null when there is none. */
  abstract previousMs(beforeMs: number): number | null;

  /** The trigger as JSON. `triggerFromJSON` makes an equal trigger of it. */
  abstract toJSON(): TriggerJSON;

  /** The rule in English. */
  abstract describe(): string;

  /**
   * The first fire time strictly later than `after`, or null when there is none.
   * @param after default: the present
   */
  next(after?: InstantLike): Temporal.ZonedDateTime | null {
    return this.#zonedOrNull(this.nextMs(after === undefined ? systemClock.now() : toEpochMs(after, "after")));
  }

  /**
   * The last fire time strictly earlier than `before`, or null when there is none.
   * @param before default: the present
   */
  previous(before?: InstantLike): Temporal.ZonedDateTime | null {
    return this.#zonedOrNull(this.previousMs(before === undefined ? systemClock.now() : toEpochMs(before, "before")));
  }

  /**
   * Fire times in order, each computed when the loop asks for it. A rule that names no start (an interval without
   * `startTime`) counts from `from` here.
   *
   * @throws {OptionsError} when the limit is no number of 0 or more, or when `from` or `until` is no instant
   * @example
   * const trigger = new IntervalTrigger({ hours: 1 });
   * for (const fireTime of trigger.fireTimes({ limit: 3 })) console.log(fireTime.toString());
   */
  *fireTimes(options: FireTimesOptions = {}): Generator<Temporal.ZonedDateTime, void, undefined> {
    const { fromMs, untilMs, limit } = rangeOf(options, Number.POSITIVE_INFINITY);
    const rule = this.startingAtMs(fromMs);
    let atMs = fromMs - 1;
    for (let count = 0; count < limit; count++) {
      const nextMs = rule.nextMs(atMs);
      if (nextMs === null || nextMs > untilMs) return;
      if (!(nextMs > atMs)) throw brokenTrigger(this, atMs, nextMs);
      yield this.zoned(nextMs);
      atMs = nextMs;
    }
  }

  /** Whether the trigger fires at exactly that instant. */
  matches(at: InstantLike): boolean {
    return this.matchesMs(toEpochMs(at, "at"));
  }

  /** {@link matches} for epoch milliseconds. */
  matchesMs(atMs: number): boolean {
    return this.nextMs(atMs - 1) === atMs;
  }

  /** The start that the rule itself names (`startTime`, `startDate`, `runTime`), in epoch milliseconds, or null. */
  get startMs(): number | null {
    return null;
  }

  /** The first fire time of a schedule that is added at `nowMs`, in epoch milliseconds, or null. Where the rule
   *  names a start, it is the first fire time at or after that start, even when the start is past. Otherwise it is
   *  the first fire time at or after `nowMs`. */
  firstMs(nowMs: number): number | null {
    return this.startingAtMs(nowMs).nextMs((this.startMs ?? nowMs) - 1);
  }

  /**
   * The same rule with an anchor: a trigger that counts from a start that its rule does not name (an interval without
   * `startTime`) gets `at` as its start. Every other trigger is returned unchanged.
   */
  startingAt(at: InstantLike): this {
    return this.startingAtMs(toEpochMs(at, "at"));
  }

  /** {@link startingAt} for epoch milliseconds. A subclass overrides this method. A trigger that has a start or an
   *  anchor already must return itself. */
  startingAtMs(_atMs: number): this {
    return this;
  }

  /** Whether two triggers are the same rule: their JSON is equal, apart from the anchors that `startingAt` set. Anchors
   *  stand in fields named `anchor`, which a rule must not use for anything else. */
  isSameRule(other: Trigger): boolean {
    return ruleKey(this) === ruleKey(other);
  }

  /** An instant on the calendar of {@link timeZone}, for subclasses whose rule looks at dates. */
  protected zoned(epochMs: number): Temporal.ZonedDateTime {
    return zonedOf(epochMs, this.timeZone);
  }

  #zonedOrNull(epochMs: number | null): Temporal.ZonedDateTime | null {
    return epochMs === null ? null : this.zoned(epochMs);
  }
}

/** The bounds of {@link FireTimesOptions}, in epoch milliseconds. */
export function rangeOf(
  options: FireTimesOptions,
  limitDefault: number,
): { fromMs: number; untilMs: number; limit: number } {
  const { from, until, limit = limitDefault } = options;
  if (!(limit >= 0)) {
    const message = "not a number of 0 or more";
    throw new OptionsError(`limit must be a number of 0 or more; got ${limit}`, [{ path: "limit", message }]);
  }
  return {
    fromMs: from === undefined ? systemClock.now() : toEpochMs(from, "from"),
    untilMs: until === undefined ? FIRE_TIME_MS_MAX : toEpochMs(until, "until"),
    limit,
  };
}

/** Canonical text of a rule without its anchors. */
export function ruleKey(trigger: Trigger): string {
  return JSON.stringify(trigger.toJSON(), (name, value: unknown) => (name === "anchor" ? undefined : value));
}

/** The error of a trigger that does not advance. */
export function brokenTrigger(trigger: Trigger, afterMs: number, answerMs: number): BrokenTriggerError {
  return new BrokenTriggerError(
    `the trigger (${trigger.toJSON().type}) answered ${isoOf(answerMs)}, which is not later than ` +
      `${isoOf(afterMs)}; nextMs() must return a strictly later instant or null`,
  );
}
