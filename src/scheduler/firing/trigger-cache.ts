import { TRIGGER_CACHE_MAX } from "../../core/limits.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** Triggers by their stored text, so that a trigger is not parsed anew at every fire, and equal triggers share their
 *  compiled form. Bounded: the trigger that was used longest ago goes first. */
export class TriggerCache {
  readonly #byText = new Map<string, Trigger>();

  /** @throws {DeserializationError} */
  get(text: string): Trigger {
    const known = this.#byText.get(text);
    const trigger = known ?? parseTrigger(text);
    // A Map iterates in the order of insertion: a trigger that is taken out and put in again is the newest.
    if (known !== undefined) this.#byText.delete(text);
    else if (this.#byText.size >= TRIGGER_CACHE_MAX) {
      for (const oldest of this.#byText.keys()) {
        this.#byText.delete(oldest);
        break;
      }
    }
    this.#byText.set(text, trigger);
    return trigger;
  }
}
