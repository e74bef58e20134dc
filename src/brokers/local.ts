import type { EventRecord } from "../records/events.ts";
import type { EventBroker, Unsubscribe } from "./event-broker.ts";

/** Delivers events, synchronously, to the schedulers of this process that share this object.
 *
 *  @example
 *  const scheduler = new Scheduler({ eventBroker: new LocalEventBroker() });
 */
export class LocalEventBroker implements EventBroker {
  readonly isLocal: boolean = true;
  readonly #listeners = new Set<(event: EventRecord) => void>();

  async open(): Promise<void> {}

  async publish(events: readonly EventRecord[]): Promise<void> {
    for (const event of events) {
      for (const listener of this.#listeners) {
        try {
          listener(event);
        } catch {
          // Reporting the failure is the listener's own task.
        }
      }
    }
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    // Each subscription gets a function of its own, so that a listener may subscribe twice.
    const own = (event: EventRecord): void => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}
