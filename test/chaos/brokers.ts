import type { EventBroker, Unsubscribe } from "../../src/brokers/event-broker.ts";
import { MqttEventBroker } from "../../src/brokers/mqtt/mod.ts";
import { PostgresEventBroker } from "../../src/brokers/postgres/mod.ts";
import { RedisEventBroker } from "../../src/brokers/redis/mod.ts";
import type { OpenOptions } from "../../src/core/open-options.ts";
import type { EventRecord } from "../../src/records/events.ts";
import { DOUBLED, DROPPED } from "./settings.ts";

/** How the processes of a chaos run hear of each other. */
export type BrokerKind = "redis" | "mqtt" | "postgres";

/** The broker of one process. Some of its events are lost on the way, and some are sent twice. */
export function makeBroker(kind: BrokerKind, url: string, random: () => number): EventBroker {
  return new CarelessBroker(brokerOf(kind, url), random);
}

function brokerOf(kind: BrokerKind, url: string): EventBroker {
  if (kind === "redis") return new RedisEventBroker({ url });
  if (kind === "mqtt") return new MqttEventBroker({ url });
  return new PostgresEventBroker({ url });
}

/** A broker that loses some of what it is to publish, and publishes some twice. */
class CarelessBroker implements EventBroker {
  readonly #broker: EventBroker;
  readonly #random: () => number;

  constructor(broker: EventBroker, random: () => number) {
    this.#broker = broker;
    this.#random = random;
  }

  open(options?: OpenOptions): Promise<void> {
    return this.#broker.open(options);
  }

  publish(events: readonly EventRecord[]): Promise<void> {
    const sent = events.flatMap((event) => {
      const dice = this.#random();
      if (dice < DROPPED) return [];
      return dice < DROPPED + DOUBLED ? [event, event] : [event];
    });
    return this.#broker.publish(sent);
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
