import { FIRE_TIME_MS_MAX } from "../core/limits.ts";
import type { InstantLike } from "../core/temporal.ts";

import { checkOptions, checkOrder, instantMs } from "./options.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { isoOf } from "./words.ts";

const rules = { runTime: instantMs };

/**
 * Fires once.
 *
 * @example
 * const trigger = new DateTrigger("2030-01-31T09:00:00+01:00[Europe/Berlin]");
 */
export class DateTrigger extends Trigger {
  readonly #runMs: number;

  /**
   * @param runTime when it fires
   * @throws {OptionsError} when it is no instant, or after the year 9999
   */
  constructor(runTime: InstantLike) {
    super();
    this.#runMs = checkOptions(rules, { runTime }, "DateTrigger").runTime;
    checkOrder("DateTrigger", this.#runMs, FIRE_TIME_MS_MAX, ["runTime", "the end of the year 9999"]);
  }

  override get startMs(): number {
    return this.#runMs;
  }

  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return afterMs < this.#runMs ? this.#runMs : null;
  }

  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return beforeMs > this.#runMs ? this.#runMs : null;
  }

  describe(): string {
    return `Once, at ${isoOf(this.#runMs)}`;
  }

  toJSON(): TriggerJSON {
    return { type: "date", version: 1, runTime: isoOf(this.#runMs) };
  }
}
