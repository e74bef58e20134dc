import type { EventBroker } from "../../src/brokers/event-broker.ts";
import { MqttEventBroker } from "../../src/brokers/mqtt/mod.ts";
import { RedisEventBroker } from "../../src/brokers/redis/mod.ts";
import { PostgresEventBroker } from "../../src/postgres.ts";
import { DOUBLED, DROPPED } from "./settings.ts";

/** How the processes of a chaos run hear of each other. */
export type BrokerKind = "redis" | "mqtt" | "postgres";

/** The broker of one process. Some of its events are lost on the way, and some are sent twice. */
export function makeBroker(kind: BrokerKind, url: string, random: () => number): EventBroker {
  const broker = brokerOf(kind, url);
  const publish = broker.publish.bind(broker);
  broker.publish = (events) =>
    publish(
      events.flatMap((event) => {
        const dice = random();
        if (dice < DROPPED) return [];
        return dice < DROPPED + DOUBLED ? [event, event] : [event];
      }),
    );
  return broker;
}

function brokerOf(kind: BrokerKind, url: string): EventBroker {
  if (kind === "redis") return new RedisEventBroker({ url });
  if (kind === "mqtt") return new MqttEventBroker({ url });
  return new PostgresEventBroker({ url });
}
