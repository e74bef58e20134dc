import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { TRIGGER_CACHE_MAX, UNREADABLE_MS } from "./limits.ts";

/** Triggers by their stored text, so that a trigger is not parsed anew at every fire, and equal triggers share their
 *  compiled form. Bounded: the trigger that was used longest ago goes first. */
export class TriggerCache {
  readonly #byText = new Map<string, Trigger>();
  /** Texts that cannot be read here, and until when that is taken for granted: a codec may still be registered. */
  readonly #unreadable = new Map<string, { readonly error: unknown; readonly until: number }>();

  /** @throws {DeserializationError} */
  get(text: string): Trigger {
    const known = this.#byText.get(text);
    // The order counts only when the next trigger takes the place of another.
    if (known !== undefined && this.#byText.size < TRIGGER_CACHE_MAX) return known;
    const trigger = known ?? parseTrigger(text);
    // A Map iterates in the order of insertion: a trigger that is taken out and put in again is the newest.
    if (known !== undefined) this.#byText.delete(text);
    else makeRoom(this.#byText);
    this.#byText.set(text, trigger);
    return trigger;
  }

  /** Why the text cannot be read here, as an object with the error; null when it can be read. */
  problemOf(text: string, now: number): { readonly error: unknown } | null {
    if (this.#byText.has(text)) return null;
    const known = this.#unreadable.get(text);
    // The clock may have been set back.
    if (known !== undefined && now < known.until && known.until <= now + UNREADABLE_MS) return known;
    this.#unreadable.delete(text);
    try {
      this.get(text);
      return null;
    } catch (error) {
      const problem = { error, until: now + UNREADABLE_MS };
      makeRoom(this.#unreadable);
      this.#unreadable.set(text, problem);
      return problem;
    }
  }
}

function makeRoom(map: Map<string, unknown>): void {
  if (map.size < TRIGGER_CACHE_MAX) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
}
