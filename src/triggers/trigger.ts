import { BrokenTriggerError } from "../core/errors.ts";
import { printAsJSON } from "../core/inspect.ts";
import { mustBe, valueError } from "../core/option-errors.ts";
import {
  ceilEpochMs,
  hasDigitsBelowMs,
  type InstantLike,
  type Temporal,
  toEpochMs,
  zonedOf,
} from "../core/temporal.ts";
import { timerHost } from "../core/timer-host.ts";
import { type FireTimesOptions, rangeOf } from "./fire-time-range.ts";
import { withinBudget } from "./step-budget.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { isoOf } from "./words.ts";

/**
 * A rule that says when something fires: stateless and immutable. Its answer depends on the trigger's configuration and
 * on the instant that it is asked about, and on nothing else.
 *
 * A subclass implements {@link nextMs}, {@link previousMs}, {@link toJSON} and {@link describe}, and registers a codec
 * with `registerTrigger` so that a store can bring it back.
 *
 * @example
 * const trigger: Trigger = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
 * for (const at of trigger.fireTimes({ limit: 3 })) console.log(String(at));
 */
export abstract class Trigger {
  static {
    // Private fields would not be shown.
    printAsJSON(Trigger.prototype);
  }

  /** The zone in which fire times are presented; an IANA name. */
  get timeZone(): string {
    return "UTC";
  }

  /** The zones by whose clocks the rule goes, so that a change of their rules may move its fire times. Default:
   *  {@link timeZone} alone. A subclass that is made of other triggers returns the zones of all of them. */
  get ruleZones(): readonly string[] {
    return [this.timeZone];
  }

  /** How many levels of triggers there are, this one included: 1 for a trigger without children. */
  get depth(): number {
    return 1;
  }

  /**
   * The first fire time strictly later than `afterMs`, in epoch milliseconds, or null when there is none. {@link next}
   * without its objects: what loops call.
   *
   * @throws {OptionsError} when `afterMs` is no finite number
   * @throws {MaxIterationsReachedError} when the search takes more steps than one question may take
   */
  abstract nextMs(afterMs: number): number | null;

  /**
   * The last fire time strictly earlier than `beforeMs`, in epoch milliseconds, or null when there is none.
   *
   * @throws {OptionsError} when `beforeMs` is no finite number
   * @throws {MaxIterationsReachedError} when the search takes more steps than one question may take
   */
  abstract previousMs(beforeMs: number): number | null;

  /** The trigger as JSON. `triggerFromJSON` makes an equal trigger of it. */
  abstract toJSON(): TriggerJSON;

  /** The rule in English. */
  abstract describe(): string;

  /** What `describe()` says. (A `CronTrigger` gives its crontab text.) */
  toString(): string {
    return this.describe();
  }

  /**
   * The first fire time strictly later than `after`, or null when there is none.
   * @param after default: the present
   * @throws {BrokenTriggerError} when a subclass answers with what is not later, or no whole number of milliseconds
   */
  next(after?: InstantLike): Temporal.ZonedDateTime | null {
    const afterMs = after === undefined ? timerHost.now() : toEpochMs(after, "after");
    const atMs = withinBudget(() => this.nextMs(afterMs));
    if (atMs === null) return null;
    if (!(atMs > afterMs && Number.isInteger(atMs))) throw brokenTrigger(this, afterMs, atMs);
    return this.zoned(atMs);
  }

  /**
   * The last fire time strictly earlier than `before`, or null when there is none.
   * @param before default: the present
   * @throws {BrokenTriggerError} when a subclass answers with what is not earlier, or no whole number of milliseconds
   */
  previous(before?: InstantLike): Temporal.ZonedDateTime | null {
    const beforeMs = before === undefined ? timerHost.now() : ceilEpochMs(before, "before");
    const atMs = withinBudget(() => this.previousMs(beforeMs));
    if (atMs === null) return null;
    if (!(atMs < beforeMs && Number.isInteger(atMs))) throw brokenTrigger(this, beforeMs, atMs, "earlier");
    return this.zoned(atMs);
  }

  /**
   * Fire times in order, each computed when the loop asks for it. A rule that names no start (an interval without
   * `startTime`) counts from `from` here.
   *
   * @throws {OptionsError} for an unknown name, a limit that is no whole number of 0 or more, or when `from` or
   *   `until` is no instant
   * @throws {MaxIterationsReachedError} from the loop, when the search takes more steps than one question may take
   * @example
   * const trigger = new IntervalTrigger({ hours: 1 });
   * for (const fireTime of trigger.fireTimes({ limit: 3 })) console.log(fireTime.toString());
   */
  fireTimes(options: FireTimesOptions = {}): Generator<Temporal.ZonedDateTime, void, undefined> {
    // Checked now, and not when the loop begins.
    const { fromMs, untilMs, limit } = rangeOf(options, Number.POSITIVE_INFINITY, "fireTimes()");
    return this.#fireTimesIn(fromMs, untilMs, limit);
  }

  *#fireTimesIn(fromMs: number, untilMs: number, limit: number): Generator<Temporal.ZonedDateTime, void, undefined> {
    const rule = this.startingAtMs(fromMs);
    let atMs = fromMs - 1;
    for (let count = 0; count < limit; count++) {
      const nextMs = withinBudget(() => rule.nextMs(atMs));
      if (nextMs === null || nextMs > untilMs) return;
      if (!(nextMs > atMs && Number.isInteger(nextMs))) throw brokenTrigger(this, atMs, nextMs);
      yield this.zoned(nextMs);
      atMs = nextMs;
    }
  }

  /** Whether the trigger fires at exactly that instant. */
  matches(at: InstantLike): boolean {
    const atMs = toEpochMs(at, "at");
    // Fire times are whole milliseconds.
    return !hasDigitsBelowMs(at) && this.matchesMs(atMs);
  }

  /** {@link matches} for epoch milliseconds. */
  matchesMs(atMs: number): boolean {
    checkMs(atMs, "atMs");
    return this.nextMs(atMs - 1) === atMs;
  }

  /** The fire time on an excluded date that was moved to a fire time, by an `ExcludingTrigger` with `shift`. Null for
   *  one that was not moved, or that the rule has there as well; of several, the nearest. */
  shiftedFrom(at: InstantLike): Temporal.ZonedDateTime | null {
    const fromMs = hasDigitsBelowMs(at) ? null : this.shiftedFromMs(toEpochMs(at, "at"));
    return fromMs === null ? null : this.zoned(fromMs);
  }

  /** {@link shiftedFrom} for epoch milliseconds. A subclass that is made of other triggers overrides this method. */
  shiftedFromMs(atMs: number): number | null {
    checkMs(atMs, "atMs");
    return null;
  }

  /** The start that the rule itself names (`startTime`, `startDate`, `runTime`), in epoch milliseconds, or null. */
  get startMs(): number | null {
    return null;
  }

  /** The first fire time of a schedule that is added at `nowMs`, in epoch milliseconds, or null. Where the rule
   *  names a start, it is the first fire time at or after that start, even when the start is past. Otherwise it is
   *  the first fire time at or after `nowMs`. */
  firstMs(nowMs: number): number | null {
    checkMs(nowMs, "nowMs");
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
  startingAtMs(atMs: number): this {
    checkMs(atMs, "atMs");
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
}

/** Canonical text of a rule without its anchors. */
export function ruleKey(trigger: Trigger): string {
  return JSON.stringify(trigger.toJSON(), (name, value: unknown) => (name === "anchor" ? undefined : value));
}

/** The error of a trigger whose answer is not on the right side of the instant that it was asked about. */
export function brokenTrigger(
  trigger: Trigger,
  askedMs: number,
  answerMs: number,
  side: "later" | "earlier" = "later",
): BrokenTriggerError {
  const isOnSide = side === "later" ? answerMs > askedMs : answerMs < askedMs;
  const problem = isOnSide
    ? "no whole number of milliseconds that is an instant"
    : `not ${side} than ${isoOf(askedMs)}`;
  return new BrokenTriggerError(
    `the trigger (${trigger.toJSON().type}) answered ${isoOf(answerMs)}, which is ${problem}; ` +
      `${side === "later" ? "nextMs" : "previousMs"}() must return a strictly ${side} instant or null`,
  );
}

/**
 * Checks an instant that is given as a number. Infinities are refused as well, because no answer would be meaningful.
 *
 * @throws {OptionsError} when it is no finite number
 */
export function checkMs(value: number, name: string): void {
  if (Number.isFinite(value)) return;
  const message = mustBe("a finite number of epoch milliseconds", value);
  throw valueError(name, message);
}
