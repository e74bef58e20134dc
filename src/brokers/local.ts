import type { EventRecord } from "../records/events.ts";
import type { EventBroker, Unsubscribe } from "./event-broker.ts";

/** Delivers events within this process, synchronously, to the schedulers that share this object. */
export class LocalEventBroker implements EventBroker {
  readonly #listeners = new Set<(event: EventRecord) => void>();

  async open(): Promise<void> {}

  async publish(events: readonly EventRecord[]): Promise<void> {
    for (const event of events) {
      for (const listener of this.#listeners) {
        try {
          listener(event);
        } catch {
          // A listener's failure is its own to report.
        }
      }
    }
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    // A wrapper of its own, so that one function may subscribe twice.
    const own = (event: EventRecord): void => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
