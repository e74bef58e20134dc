import { type Duration, toDurationMs } from "../core/duration.ts";
import { MaxIterationsReachedError } from "../core/errors.ts";
import { COMBINED_TRIGGERS_MAX, TRIGGER_DEPTH_MAX } from "../core/limits.ts";
import { mustBe, optionsError } from "../core/option-errors.ts";
import { checkOptions, converted, optional, wholeNumber } from "./options.ts";
import { Trigger, type TriggerJSON } from "./trigger.ts";
import { isoOf } from "./words.ts";

/** A trigger that is made of other triggers, its children. Fire times are presented in the time zone of the first
 *  child. */
abstract class CombiningTrigger extends Trigger {
  /** The children, in the order given. */
  readonly triggers: readonly Trigger[];

  constructor(triggers: readonly Trigger[], subject: string) {
    super();
    if (!Array.isArray(triggers) || triggers.length === 0 || triggers.length > COMBINED_TRIGGERS_MAX) {
      const message = mustBe(`a list of 1 to ${COMBINED_TRIGGERS_MAX} triggers`, triggers);
      throw optionsError(subject, [{ path: "triggers", message }]);
    }
    checkChildren(triggers, subject);
    this.triggers = Object.freeze([...triggers]);
  }

  override get depth(): number {
    return 1 + Math.max(...this.triggers.map((child) => child.depth));
  }

  override get timeZone(): string {
    return this.triggers[0]?.timeZone ?? super.timeZone;
  }

  override startingAtMs(atMs: number): this {
    const anchored = this.triggers.map((child) => child.startingAtMs(atMs));
    return anchored.every((child, index) => child === this.triggers[index]) ? this : this.withTriggers(anchored);
  }

  protected abstract withTriggers(triggers: readonly Trigger[]): this;
}

/** @throws {OptionsError} when one of the children is no trigger, or nests too deep */
export function checkChildren(triggers: readonly unknown[], subject: string): void {
  triggers.forEach((child, index) => {
    const isTrigger = child instanceof Trigger;
    if (isTrigger && child.depth < TRIGGER_DEPTH_MAX) return;
    const message = isTrigger ? `nests deeper than ${TRIGGER_DEPTH_MAX} levels` : mustBe("a trigger", child);
    throw optionsError(subject, [{ path: `triggers.${index}`, message }]);
  });
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
    return this.#earliest((child) => child.nextMs(afterMs));
  }

  previousMs(beforeMs: number): number | null {
    let latest: number | null = null;
    for (const child of this.triggers) {
      const atMs = child.previousMs(beforeMs);
      if (atMs !== null && (latest === null || atMs > latest)) latest = atMs;
    }
    return latest;
  }

  override matchesMs(atMs: number): boolean {
    return this.triggers.some((child) => child.matchesMs(atMs));
  }

  override firstMs(nowMs: number): number | null {
    return this.#earliest((child) => child.firstMs(nowMs));
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

  #earliest(ask: (child: Trigger) => number | null): number | null {
    let earliest: number | null = null;
    for (const child of this.triggers) {
      const atMs = ask(child);
      if (atMs !== null && (earliest === null || atMs < earliest)) earliest = atMs;
    }
    return earliest;
  }
}

/** Settings of an {@link AndTrigger}. */
export interface AndOptions {
  /** Fire times count as together when they lie at most this far apart. Default: 1 second. */
  readonly threshold?: Duration | undefined;
  /** One search asks its triggers at most this many times. Default: 10,000. */
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
 * Fires when all of its triggers fire together: at every fire time of one of them from which on, within the threshold,
 * each other one fires as well.
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
    const { triggers } = this.startingAtMs(afterMs);
    let cursorMs = afterMs;
    for (let round = 0; round < this.#maxIterations; round++) {
      let earliestMs = Number.POSITIVE_INFINITY;
      let latestMs = Number.NEGATIVE_INFINITY;
      for (const child of triggers) {
        const atMs = child.nextMs(cursorMs);
        if (atMs === null) return null;
        earliestMs = Math.min(earliestMs, atMs);
        latestMs = Math.max(latestMs, atMs);
      }
      if (latestMs - earliestMs <= this.#thresholdMs) return earliestMs;
      // The latest child has no earlier fire time, so the children cannot meet before its time less the threshold.
      cursorMs = latestMs - this.#thresholdMs - 1;
    }
    throw this.#exhausted("after", afterMs);
  }

  /** @throws {MaxIterationsReachedError} when the search ends without an answer */
  previousMs(beforeMs: number): number | null {
    const { triggers } = this.startingAtMs(beforeMs);
    // The answer lies at or before the cursor.
    let cursorMs = Math.ceil(beforeMs) - 1;
    for (let round = 0; round < this.#maxIterations; round++) {
      // Every child must fire at the answer or at most the threshold later. So a child whose last fire time lies before
      // the cursor moves the cursor back.
      let firstLastMs = cursorMs;
      let latestMs = Number.NEGATIVE_INFINITY;
      for (const child of triggers) {
        const atMs = child.previousMs(cursorMs + this.#thresholdMs + 1);
        if (atMs === null) return null;
        firstLastMs = Math.min(firstLastMs, atMs);
        latestMs = Math.max(latestMs, child.previousMs(cursorMs + 1) ?? latestMs);
      }
      if (firstLastMs === cursorMs && latestMs === cursorMs) return cursorMs;
      cursorMs = Math.min(firstLastMs, latestMs);
      if (cursorMs === Number.NEGATIVE_INFINITY) return null;
    }
    throw this.#exhausted("before", beforeMs);
  }

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

  #exhausted(side: string, atMs: number): MaxIterationsReachedError {
    return new MaxIterationsReachedError(
      `the triggers did not come together within ${this.#maxIterations} rounds ${side} ${isoOf(atMs)}; ` +
        "raise the threshold or maxIterations, or check that they can meet",
    );
  }
}

function describeAll(triggers: readonly Trigger[]): string {
  return triggers.map((child) => `(${child.describe()})`).join(", ");
}
