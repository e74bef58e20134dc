import { MaxIterationsReachedError } from "../core/errors.ts";
import { QUESTION_STEPS_MAX } from "../core/limits.ts";
import { matchesOf, nextOf, previousOf } from "./asking.ts";
import type { DateLike } from "./civil-date.ts";
import { checkChildren, zonesOf } from "./combining.ts";
import { type DateRange, ExcludedDates } from "./excluded-dates.ts";
import { checkOptions, optional, resolveTimeZone, text } from "./options.ts";
import { type StepShare, withinBudget } from "./step-budget.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { isoOf } from "./words.ts";

/** What an {@link ExcludingTrigger} leaves out: the instants at which a second trigger fires, or whole dates. */
export type Excluded = Trigger | readonly (DateLike | DateRange)[];

/** Settings of an {@link ExcludingTrigger}. */
export interface ExcludingOptions {
  /** The zone in which excluded dates begin and end. Default: that of the inner trigger. */
  readonly timeZone?: string | undefined;
}

const rules = { timeZone: optional(text) };

/**
 * Fires when another trigger does, except on excluded dates, or except at the instants at which a second trigger fires.
 *
 * Dates are the cheap form: a span of any length is passed in one step. A second trigger costs one step for each fire
 * time that it excludes, and it excludes exact instants only. So a cron trigger that stands for a whole day must name
 * every second of it: `{ month: 12, day: 25, hour: "*", minute: "*", second: "*" }`.
 *
 * @example
 * const trigger = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" }), [
 *   "2026-10-03",
 *   { from: "2026-12-24", until: "2026-12-31" },
 * ]);
 */
export class ExcludingTrigger extends Trigger {
  /** The trigger whose fire times are kept or left out. */
  readonly trigger: Trigger;
  /** What is left out. Copies with an anchor share the dates. */
  #excluded: Trigger | ExcludedDates;
  readonly #zone: string | null;

  /** @throws {OptionsError} for anything but triggers and dates, or for a range that ends before it starts */
  constructor(trigger: Trigger, excluded: Excluded, options: ExcludingOptions = {}) {
    super();
    const { timeZone } = checkOptions(rules, options, "ExcludingTrigger");
    checkChildren(excluded instanceof Trigger ? [trigger, excluded] : [trigger], "ExcludingTrigger");
    this.trigger = trigger;
    this.#zone = timeZone === undefined ? null : resolveTimeZone(timeZone);
    this.#excluded =
      excluded instanceof Trigger ? excluded : new ExcludedDates(excluded, this.#zone ?? trigger.timeZone);
  }

  override get depth(): number {
    return 1 + Math.max(this.trigger.depth, this.#excluded instanceof Trigger ? this.#excluded.depth : 0);
  }

  override get timeZone(): string {
    return this.trigger.timeZone;
  }

  override get ruleZones(): readonly string[] {
    if (this.#excluded instanceof Trigger) return zonesOf([this.trigger, this.#excluded]);
    return [...new Set([...this.trigger.ruleZones, this.#zone ?? this.trigger.timeZone])];
  }

  override get startMs(): number | null {
    return this.trigger.startMs;
  }

  /** @throws {MaxIterationsReachedError} when too many fire times in a row are excluded by a trigger */
  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return withinBudget((share) => {
      const trigger = this.trigger.startingAtMs(afterMs);
      const excluded = anchored(this.#excluded, afterMs);
      for (let atMs = afterMs; ; ) {
        take("after", afterMs, share);
        const foundMs = nextOf(trigger, atMs, "trigger");
        if (foundMs === null) return null;
        if (excluded instanceof Trigger) {
          if (!matchesOf(excluded, foundMs, "excluded")) return foundMs;
          atMs = foundMs;
        } else {
          const endMs = excluded.endAfter(foundMs, share);
          if (endMs === null) return foundMs;
          // A fire time at the end of the span counts. One that is found again would not advance.
          atMs = Math.max(endMs - 1, foundMs);
        }
      }
    });
  }

  /** @throws {MaxIterationsReachedError} when too many fire times in a row are excluded by a trigger */
  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return withinBudget((share) => {
      const excluded = anchored(this.#excluded, beforeMs);
      for (let atMs = beforeMs; ; ) {
        take("before", beforeMs, share);
        const foundMs = previousOf(this.trigger, atMs, "trigger");
        if (foundMs === null) return null;
        if (excluded instanceof Trigger) {
          if (!matchesOf(excluded, foundMs, "excluded")) return foundMs;
          atMs = foundMs;
        } else {
          const startMs = excluded.startBefore(foundMs, share);
          if (startMs === null) return foundMs;
          atMs = startMs;
        }
      }
    });
  }

  override startingAtMs(atMs: number): this {
    checkMs(atMs, "atMs");
    const trigger = this.trigger.startingAtMs(atMs);
    const excluded = anchored(this.#excluded, atMs);
    if (trigger === this.trigger && excluded === this.#excluded) return this;
    const copy = new ExcludingTrigger(trigger, excluded instanceof Trigger ? excluded : [], this.#options());
    copy.#excluded = excluded;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return copy as this;
  }

  describe(): string {
    const inner = this.trigger.describe();
    if (this.#excluded instanceof Trigger) return `${inner}, except (${this.#excluded.describe()})`;
    const dates = this.#excluded
      .toJSON()
      .map((item) => (typeof item === "string" ? item : `${String(item.from)} to ${String(item.until)}`));
    if (dates.length === 0) return inner;
    const more = dates.length > DESCRIBED_DATES_MAX ? ` and ${dates.length - DESCRIBED_DATES_MAX} more` : "";
    const zone = this.#zone === null || this.#zone === this.trigger.timeZone ? "" : ` in ${this.#zone}`;
    return `${inner}, except (${dates.slice(0, DESCRIBED_DATES_MAX).join(", ")}${more}${zone})`;
  }

  toJSON(): TriggerJSON {
    const excluded = this.#excluded.toJSON();
    return { type: "excluding", version: 1, trigger: this.trigger.toJSON(), excluded, ...this.#options() };
  }

  #options(): ExcludingOptions {
    return this.#zone === null ? {} : { timeZone: this.#zone };
  }
}

const DESCRIBED_DATES_MAX = 5;

function anchored(excluded: Trigger | ExcludedDates, atMs: number): Trigger | ExcludedDates {
  return excluded instanceof Trigger ? excluded.startingAtMs(atMs) : excluded;
}

/** Two steps: a question to each of the two triggers, or to the trigger and the dates. */
function take(side: string, atMs: number, share: StepShare): void {
  if (share.take(2)) return;
  throw new MaxIterationsReachedError(
    `no fire time ${side} ${isoOf(atMs)} was found that is not excluded, within the ` +
      `${QUESTION_STEPS_MAX} steps of one question; ` +
      "exclude dates instead of a trigger, or check that the excluded trigger does not cover the other",
  );
}
