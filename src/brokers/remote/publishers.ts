import type { Envelope } from "./envelope.ts";
import { PUBLISHERS_MAX } from "./limits.ts";

/** Remembers the number of the last message of each publisher, so that doubled and lost messages are noticed. */
export class Publishers {
  readonly #lastNumbers = new Map<string, number>();

  /** What a message is: the next one of its publisher (or the first that is heard of it), one that was there before, or
   *  one that comes after messages that were lost. */
  place({ from, number, events }: Envelope): "next" | "double" | "afterLoss" {
    if (from === undefined || number === undefined) return "next";
    const last = this.#lastNumbers.get(from);
    // A message without events has the number of the message before it.
    const expected = (last ?? 0) + (events.length === 0 ? 0 : 1);
    if (last !== undefined && number < expected) return "double";
    this.#lastNumbers.delete(from);
    this.#lastNumbers.set(from, number);
    if (this.#lastNumbers.size > PUBLISHERS_MAX) {
      for (const longestSilent of this.#lastNumbers.keys()) {
        this.#lastNumbers.delete(longestSilent);
        break;
      }
    }
    // A message without events tells of some that could not be sent, hence it is never the first of a publisher.
    if (last === undefined) return events.length === 0 ? "afterLoss" : "next";
    return number === expected ? "next" : "afterLoss";
  }

  /** Forgets all numbers, because messages were lost anyway. */
  clear(): void {
    this.#lastNumbers.clear();
  }
}
