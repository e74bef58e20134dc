import type { EventBroker } from "../../src/brokers/event-broker.ts";
import { MqttEventBroker } from "../../src/brokers/mqtt/mod.ts";
import { RedisEventBroker } from "../../src/brokers/redis/mod.ts";
import { PostgresEventBroker } from "../../src/postgres.ts";
import { load } from "../store/contestant.ts";
import type { BenchServerName } from "./servers.ts";

/** A channel of a raw client. */
interface RawChannel {
  publish(text: string): Promise<unknown>;
  subscribe(onText: (text: string) => void): Promise<unknown>;
}

export interface BenchBroker {
  readonly name: string;
  readonly server: BenchServerName;
  /** The client's package. */
  readonly package: string;
  /** How many events a raw message carries: as many as a message of the broker. */
  readonly eventsPerMessage: number;
  make(url: string): EventBroker;
  raw(url: string): Promise<RawChannel>;
}

interface Redis {
  publish(channel: string, text: string): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  on(event: string, listener: (channel: string, text: string) => void): unknown;
}

interface Mqtt {
  connectAsync(url: string): Promise<{
    publishAsync(topic: string, text: string): Promise<unknown>;
    subscribeAsync(topic: string): Promise<unknown>;
    on(event: string, listener: (topic: string, data: { toString(): string }) => void): unknown;
  }>;
}

interface Sql {
  notify(channel: string, text: string): Promise<unknown>;
  listen(channel: string, onText: (text: string) => void): Promise<unknown>;
}

// The clients are the library's own, from the repository's node_modules.
const clientUrl = (file: string): string => new URL(`../../../node_modules/${file}`, import.meta.url).href;

export const BROKERS: readonly BenchBroker[] = [
  {
    name: "Redis",
    server: "redis",
    package: "ioredis",
    eventsPerMessage: 100,
    make: (url) => new RedisEventBroker({ url }),
    raw: async (url) => {
      const { Redis } = await load<{ Redis: new (url: string) => Redis }>(clientUrl("ioredis/built/index.js"));
      const client = new Redis(url);
      return {
        publish: (text) => client.publish("raw", text),
        subscribe: async (onText) => {
          client.on("message", (_, text) => onText(text));
          await client.subscribe("raw");
        },
      };
    },
  },
  {
    name: "PostgreSQL",
    server: "postgres",
    package: "postgres",
    eventsPerMessage: 30,
    make: (url) => new PostgresEventBroker({ url }),
    raw: async (url) => {
      const { default: postgres } = await load<{ default: (url: string, options: object) => Sql }>(
        clientUrl("postgres/src/index.js"),
      );
      const sql = postgres(url, { max: 1 });
      return { publish: (text) => sql.notify("raw", text), subscribe: (onText) => sql.listen("raw", onText) };
    },
  },
  {
    name: "MQTT, QoS 0",
    server: "mosquitto",
    package: "mqtt",
    eventsPerMessage: 100,
    make: (url) => new MqttEventBroker({ url, publishQos: 0, subscribeQos: 0 }),
    raw: async (url) => {
      const { default: mqtt } = await load<{ default: Mqtt }>(clientUrl("mqtt/build/index.js"));
      const client = await mqtt.connectAsync(url);
      return {
        publish: (text) => client.publishAsync("raw", text),
        subscribe: async (onText) => {
          client.on("message", (_, data) => onText(data.toString()));
          await client.subscribeAsync("raw");
        },
      };
    },
  },
];
