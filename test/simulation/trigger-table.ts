import { triggerFromJSON } from "../../src/triggers/codec.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

/** Triggers by their texts, each made once. */
export class TriggerTable {
  readonly #byText = new Map<string, Trigger>();

  get(text: string): Trigger {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const trigger = triggerFromJSON(JSON.parse(text));
    this.#byText.set(text, trigger);
    return trigger;
  }
}
