import type { EventBroker, Unsubscribe } from "../../brokers/event-broker.ts";
import type { OpenOptions } from "../../core/open-options.ts";
import type { EventRecord } from "../../records/events.ts";
import type { Tally } from "./tally.ts";

/** A broker whose events are counted where they are published. */
export class WatchedBroker implements EventBroker {
  readonly #broker: EventBroker;
  readonly #tally: Tally;

  constructor(broker: EventBroker, tally: Tally) {
    this.#broker = broker;
    this.#tally = tally;
  }

  open(options?: OpenOptions): Promise<void> {
    return this.#broker.open(options);
  }

  publish(events: readonly EventRecord[]): Promise<void> {
    this.#tally.published(events);
    return this.#broker.publish(events);
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    return this.#broker.subscribe(listener);
  }

  onGap(listener: () => void): Unsubscribe {
    return this.#broker.onGap?.(listener) ?? (() => {});
  }

  close(): Promise<void> {
    return this.#broker.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
