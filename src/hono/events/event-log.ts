import { systemRandom } from "../../core/ids.ts";
import type { EventRecord } from "../../records/events.ts";
import { EVENT_LOG_LENGTH_MAX, EVENT_LOG_MAX } from "./limits.ts";
import { type EventMessage, eventText } from "./messages.ts";

/** The last events, numbered, for readers that come back. A position is `epoch.seq`: the epoch is another one in each
 *  process, so that nobody takes the numbers of one process for those of another one. */
export class EventLog {
  readonly #epoch: string = Math.floor(systemRandom() * 2 ** 48).toString(36);
  readonly #messages: EventMessage[] = [];
  /** The UTF-16 units of the messages together. */
  #length = 0;
  #seq = 0;

  /** The position after the newest event. */
  get position(): string {
    return `${this.#epoch}.${this.#seq}`;
  }

  add(record: EventRecord): EventMessage {
    this.#seq++;
    const message = { record, text: eventText(record, this.position) };
    this.#messages.push(message);
    this.#length += message.text.length;
    while (this.#messages.length > EVENT_LOG_MAX || this.#length > EVENT_LOG_LENGTH_MAX) {
      this.#length -= this.#messages.shift()?.text.length ?? 0;
    }
    return message;
  }

  /** Events may be missing here: no earlier position counts any more. */
  forget(): void {
    this.#seq++;
    this.#messages.length = 0;
    this.#length = 0;
  }

  /** The events after a position; null when one of them is not kept any more, or when this log has no such position. */
  after(position: string): readonly EventMessage[] | null {
    const [epoch, digits = "", ...rest] = position.split(".");
    if (epoch !== this.#epoch || rest.length > 0 || !/^\d{1,15}$/.test(digits)) return null;
    const missed = this.#seq - Number(digits);
    if (missed < 0 || missed > this.#messages.length) return null;
    return this.#messages.slice(this.#messages.length - missed);
  }
}
