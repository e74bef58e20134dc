import { INSTANT_MS_MAX } from "../../core/temporal.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import { withinBudget } from "../../triggers/step-budget.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** A trigger that may be unreadable here, or may fail: then it has no fire times, and `problem` says why. */
export class Rule {
  readonly trigger: Trigger | null;
  #problem: string | null = null;

  /** @param text the trigger's JSON */
  constructor(text: string) {
    this.trigger = this.ask(() => parseTrigger(text), null);
  }

  /** What went wrong with the trigger so far; null for nothing. */
  get problem(): string | null {
    return this.#problem;
  }

  get timeZone(): string {
    return this.ask(() => this.trigger?.timeZone, "UTC") ?? "UTC";
  }

  /** The rule in English. */
  get words(): string {
    return this.ask(() => this.trigger?.describe(), null) ?? `an unreadable rule (${this.#problem})`;
  }

  /** The first fire time after an instant, or null. */
  next(afterMs: number): number | null {
    return this.#time(
      () => this.trigger?.nextMs(afterMs),
      (at) => at > afterMs,
    );
  }

  /** The last fire time before an instant, or null. */
  previous(beforeMs: number): number | null {
    return this.#time(
      () => this.trigger?.previousMs(beforeMs),
      (at) => at < beforeMs,
    );
  }

  #time(ask: () => number | null | undefined, isOnSide: (at: number) => boolean): number | null {
    const at = this.ask(() => withinBudget(ask), null) ?? null;
    return at !== null && isOnSide(at) && Number.isInteger(at) && Math.abs(at) <= INSTANT_MS_MAX ? at : null;
  }

  /** What a trigger answers. It may be of the user's, and fail. */
  ask<T, U>(ask: () => T, otherwise: U): T | U {
    try {
      return ask();
    } catch (error) {
      this.#problem ??= error instanceof Error ? error.message : String(error);
      return otherwise;
    }
  }
}
