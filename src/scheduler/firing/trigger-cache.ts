import { TRIGGER_CACHE_MAX } from "../../core/limits.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** Triggers by their stored text, so that a schedule is not parsed anew at every fire and equal ones share their
 *  compiled form. Bounded; the one that was used longest ago goes first. */
export class TriggerCache {
  readonly #byText = new Map<string, Trigger>();

  /** @throws {DeserializationError} */
  get(text: string): Trigger {
    const known = this.#byText.get(text);
    const trigger = known ?? parseTrigger(text);
    // A Map iterates in the order of insertion: taken out and put in again, it is the newest.
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
