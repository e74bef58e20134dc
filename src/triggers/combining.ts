import { type Duration, toDurationMs } from "../core/duration.ts";
import { MaxIterationsReachedError } from "../core/errors.ts";
import { listOf, mustBe, optionError } from "../core/option-errors.ts";
import { firstOf, matchesOf, nextOf, previousOf } from "./asking.ts";
import { COMBINED_TRIGGERS_MAX, QUESTION_STEPS_MAX, TRIGGER_DEPTH_MAX } from "./limits.ts";
import { Meetings } from "./meetings.ts";
import { checkOptions, converted, optional, wholeNumber } from "./options.ts";
import { type StepShare, withinBudget } from "./step-budget.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";

/** A trigger that is made of other triggers, its children. Fire times are presented in the time zone of the first
 *  child. */
abstract class CombiningTrigger extends Trigger {
  /** The children, in the order given. */
  readonly triggers: readonly Trigger[];

  constructor(triggers: readonly Trigger[], subject: string) {
    super();
    const list = listOf(triggers, subject, "triggers", COMBINED_TRIGGERS_MAX);
    if (list === null || list.length === 0) {
      const message = mustBe(`a list of 1 to ${COMBINED_TRIGGERS_MAX} triggers`, triggers);
      throw optionError(subject, "triggers", message);
    }
    checkChildren(list, subject);
    this.triggers = Object.freeze(list);
    this.#depth = 1 + Math.max(...this.triggers.map((child) => child.depth));
  }

  /** Counted once, because a trigger may be the child of many. */
  readonly #depth: number;

  override get depth(): number {
    return this.#depth;
  }

  override get timeZone(): string {
    return this.triggers[0]?.timeZone ?? super.timeZone;
  }

  override get ruleZones(): readonly string[] {
    return zonesOf(this.triggers);
  }

  override shiftedFromMs(atMs: number): number | null {
    checkMs(atMs, "atMs");
    return withinBudget(() => {
      let shifted: number | null = null;
      for (const [index, child] of this.triggers.entries()) {
        if (!matchesOf(child, atMs, "triggers", index)) continue;
        const fromMs = child.shiftedFromMs(atMs);
        // A child fires then by itself.
        if (fromMs === null) return null;
        shifted ??= fromMs;
      }
      return shifted;
    });
  }

  override startingAtMs(atMs: number): this {
    checkMs(atMs, "atMs");
    const anchored = this.anchoredChildren(atMs);
    return anchored === this.triggers ? this : this.withTriggers(anchored);
  }

  /** The children with an anchor, or the very list where none of them needs one. */
  protected anchoredChildren(atMs: number): readonly Trigger[] {
    const anchored = this.triggers.map((child) => child.startingAtMs(atMs));
    return anchored.every((child, index) => child === this.triggers[index]) ? this.triggers : anchored;
  }

  protected abstract withTriggers(triggers: readonly Trigger[]): this;
}

/** The zones by whose clocks triggers go, each once. */
export function zonesOf(triggers: readonly Trigger[]): readonly string[] {
  return [...new Set(triggers.flatMap((trigger) => trigger.ruleZones))];
}

/** @throws {OptionsError} when one of the children is no trigger, or nests too deep */
export function checkChildren(triggers: readonly unknown[], subject: string): void {
  for (const [index, child] of triggers.entries()) {
    const isTrigger = child instanceof Trigger;
    if (isTrigger && child.depth < TRIGGER_DEPTH_MAX) continue;
    const message = isTrigger ? `nests deeper than ${TRIGGER_DEPTH_MAX} levels` : mustBe("a trigger", child);
    throw optionError(subject, `triggers.${index}`, message);
  }
}

/**
 * Fires whenever one of its triggers fires. Where several of them fire at the same instant, this trigger fires once.
 *
 * @example
 * const trigger = new OrTrigger([new CronTrigger({ hour: 9 }), new CronTrigger({ hour: 17, minute: 30 })]);
 */
export class OrTrigger extends CombiningTrigger {
  /** @throws {OptionsError} when the list is empty, too long, or holds anything but triggers */
  constructor(triggers: readonly Trigger[]) {
    super(triggers, "OrTrigger");
  }

  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return this.#earliest((child, index) => nextOf(child, afterMs, "triggers", index));
  }

  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return withinBudget((share) => {
      let latest: number | null = null;
      for (const [index, child] of this.triggers.entries()) {
        takeOne(share);
        const atMs = previousOf(child, beforeMs, "triggers", index);
        if (atMs !== null && (latest === null || atMs > latest)) latest = atMs;
      }
      return latest;
    });
  }

  override matchesMs(atMs: number): boolean {
    checkMs(atMs, "atMs");
    return withinBudget((share) => {
      return this.triggers.some((child, index) => {
        takeOne(share);
        return matchesOf(child, atMs, "triggers", index);
      });
    });
  }

  override firstMs(nowMs: number): number | null {
    checkMs(nowMs, "nowMs");
    return this.#earliest((child, index) => firstOf(child, nowMs, "triggers", index));
  }

  describe(): string {
    return `Any of: ${describeAll(this.triggers)}`;
  }

  toJSON(): TriggerJSON {
    return { type: "or", version: 1, triggers: this.triggers.map((child) => child.toJSON()) };
  }

  protected withTriggers(triggers: readonly Trigger[]): this {
    return new OrTrigger(triggers) as this;
  }

  #earliest(ask: (child: Trigger, index: number) => number | null): number | null {
    return withinBudget((share) => {
      let earliest: number | null = null;
      for (const [index, child] of this.triggers.entries()) {
        takeOne(share);
        const atMs = ask(child, index);
        if (atMs !== null && (earliest === null || atMs < earliest)) earliest = atMs;
      }
      return earliest;
    });
  }
}

function takeOne(share: StepShare): void {
  if (share.take(1)) return;
  throw new MaxIterationsReachedError(
    `the triggers and those within them ask more than the ${QUESTION_STEPS_MAX} steps of one question allow; ` +
      "divide them over several schedules",
  );
}

/** Settings of an {@link AndTrigger}. */
export interface AndOptions {
  /** Fire times count as together when they lie at most this far apart. Default: 1 second. */
  readonly threshold?: Duration | undefined;
  /** How many rounds of asking its triggers a search takes at most to find where they can meet. Default: 10,000. The
   *  steps of a question, which all triggers within it share, are limited besides. */
  readonly maxIterations?: number | undefined;
}

const andRules = {
  threshold: optional(
    converted((value: Duration) => toDurationMs(value, "")),
    1000,
  ),
  maxIterations: optional(wholeNumber(1, 1_000_000), 10_000),
};

/**
 * Fires when all of its triggers fire together: at the earliest of their fire times whenever all lie within the
 * threshold.
 *
 * It fires once a meeting, because the fire times that met are consumed, as in APScheduler. For example, "every minute"
 * and "at 09:00" with a threshold of one minute fire at 08:59: the meeting consumes 08:59 of the one and 09:00 of the
 * other, so they do not meet again at 09:00.
 *
 * Fire times that are too far apart to meet are passed one by one, the earliest first, as APScheduler's documentation
 * says. Its code differs where there are three triggers or more: with each earliest time it also passes those within
 * the threshold of it, although they could still meet the latest one. For example, 00:00, 00:05 and 00:08 are too far
 * apart for a threshold of 6 minutes. When the first trigger fires again at 00:10, this trigger fires at 00:05, while
 * APScheduler has passed 00:05. What it passes depends on all rounds since it was started. A trigger here has no such
 * memory, so that it can answer about any instant.
 *
 * @example
 * // Friday the 13th, every second year.
 * const trigger = new AndTrigger([
 *   new CronTrigger({ day: 13, dayOfWeek: "fri" }),
 *   new CronTrigger({ year: "2026/2", month: "*", day: "*" }),
 * ]);
 */
export class AndTrigger extends CombiningTrigger {
  readonly #thresholdMs: number;
  readonly #maxIterations: number;

  /** @throws {OptionsError} when the list is empty, too long, or holds something else, or for invalid options */
  constructor(triggers: readonly Trigger[], options: AndOptions = {}) {
    super(triggers, "AndTrigger");
    const { threshold, maxIterations } = checkOptions(andRules, options, "AndTrigger");
    this.#thresholdMs = threshold;
    this.#maxIterations = maxIterations;
  }

  override get startMs(): number | null {
    const starts = this.triggers.map((child) => child.startMs).filter((startMs) => startMs !== null);
    return starts.length < this.triggers.length ? null : Math.max(...starts) - this.#thresholdMs;
  }

  /** @throws {MaxIterationsReachedError} when the search ends without an answer */
  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    const wholeMs = Math.floor(afterMs);
    return withinBudget((share) => this.#meetings(wholeMs, share).next(wholeMs));
  }

  /** @throws {MaxIterationsReachedError} when the search ends without an answer */
  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    const wholeMs = Math.ceil(beforeMs);
    return withinBudget((share) => this.#meetings(wholeMs, share).previous(wholeMs));
  }

  /** The rules, and how near their times have to be. */
  describe(): string {
    return `All of, within ${this.#thresholdMs / 1000} s: ${describeAll(this.triggers)}`;
  }

  toJSON(): TriggerJSON {
    return { type: "and", version: 1, triggers: this.triggers.map((child) => child.toJSON()), ...this.#options() };
  }

  protected withTriggers(triggers: readonly Trigger[]): this {
    return new AndTrigger(triggers, this.#options()) as this;
  }

  #options(): AndOptions {
    return { threshold: `PT${this.#thresholdMs / 1000}S`, maxIterations: this.#maxIterations };
  }

  #meetings(atMs: number, share: StepShare): Meetings {
    return new Meetings(this.anchoredChildren(atMs), this.#thresholdMs, this.#maxIterations, share);
  }
}

function describeAll(triggers: readonly Trigger[]): string {
  return triggers.map((child) => `(${child.describe()})`).join(", ");
}
