import type { Envelope } from "./envelope.ts";
import { DOUBLE_DISTANCE_MAX, PUBLISHERS_MAX } from "./limits.ts";

/** The last message of a publisher. */
interface LastMessage {
  readonly number: number;
  readonly length: number;
}

/**
 * Remembers the last message of each publisher, so that doubled and lost messages are noticed. Numbers may be forged,
 * because anybody may post on a channel: a forged number may cost a look at the store, and never makes a publisher
 * unheard.
 */
export class Publishers {
  readonly #last = new Map<string, LastMessage>();

  /**
   * What a message is.
   *
   * - `next`: the next one of its publisher, or the first that is heard of it.
   * - `double`: the last one again.
   * - `stale`: one that was there before, or one whose number somebody else has used. It is not delivered.
   * - `afterLoss`: one that comes after messages that were lost.
   *
   * @param length length of the message's text
   */
  place({ from, number, events }: Envelope, length: number): "next" | "double" | "stale" | "afterLoss" {
    if (from === undefined || number === undefined) return "next";
    const last = this.#last.get(from);
    // A message without events has the number of the message before it.
    const expected = (last?.number ?? 0) + (events.length === 0 ? 0 : 1);
    const isBack = last !== undefined && number < expected;
    if (isBack && last.number - number < DOUBLE_DISTANCE_MAX) {
      return number === last.number && length === last.length ? "double" : "stale";
    }
    this.#last.delete(from);
    this.#last.set(from, { number, length });
    if (this.#last.size > PUBLISHERS_MAX) {
      for (const longestSilent of this.#last.keys()) {
        this.#last.delete(longestSilent);
        break;
      }
    }
    // A message without events tells of some that could not be sent, hence it is never the first of a publisher.
    if (last === undefined) return events.length === 0 ? "afterLoss" : "next";
    return number === expected ? "next" : "afterLoss";
  }

  /** Forgets all numbers, because messages were lost anyway. */
  clear(): void {
    this.#last.clear();
  }
}
