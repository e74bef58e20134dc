import mqtt from "mqtt";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type MqttBrokerOptions, MqttEventBroker, type MqttQos } from "../../../src/brokers/mqtt/mod.ts";
import { eventBrokerContract } from "../../../src/testing/event-broker-contract.ts";
import { untilConnected } from "../../support/connected-broker.ts";
import { LoopbackProxy } from "../../support/loopback-proxy.ts";
import { Mosquitto } from "../../support/mosquitto.ts";

let server: Mosquitto;
let proxy: LoopbackProxy;
let stranger: mqtt.MqttClient;
beforeAll(async () => {
  server = await Mosquitto.start();
  proxy = await LoopbackProxy.start(server.port);
  stranger = await mqtt.connectAsync(server.url);
});
afterAll(async () => {
  await stranger.endAsync(true);
  await proxy.stop();
  await server.stop();
});

let topicCount = 0;

/** Runs a case with brokers on a topic of its own. */
async function runCase(
  run: (typeof eventBrokerContract)[number]["run"],
  reach: MqttBrokerOptions,
  options: Omit<MqttBrokerOptions, "url" | "client"> = {},
): Promise<void> {
  const topic = `escapement/contract/${++topicCount}`;
  const make = (namespace = ""): MqttEventBroker =>
    untilConnected(new MqttEventBroker({ ...reach, ...options, topic, namespace }));
  await run({
    make: () => make(),
    join: () => make(),
    neighbour: () => make("other"),
    post: async (events) => {
      await stranger.publishAsync(topic, JSON.stringify({ escapement: 1, namespace: "", events }));
    },
    interrupt: () => proxy.cut(),
  });
}

describe("MqttEventBroker by url keeps the contract:", () => {
  for (const { name, run } of eventBrokerContract) {
    test(`${name}`, () => runCase(run, { url: `mqtt://127.0.0.1:${proxy.port}` }));
  }
});

// What the other qualities change lies between the client and the server, hence one runtime is enough.
const QOS: readonly MqttQos[] = "Deno" in globalThis || "Bun" in globalThis ? [] : [1, 2];
for (const qos of QOS) {
  describe(`MqttEventBroker with quality of service ${qos} keeps the contract:`, () => {
    for (const { name, run } of eventBrokerContract) {
      const options = { publishQos: qos, subscribeQos: qos, protocolVersion: qos === 1 ? 4 : 5 } as const;
      test(`${name}`, () => runCase(run, { url: `mqtt://127.0.0.1:${proxy.port}` }, options));
    }
  });
}

describe("MqttEventBroker over a client of MQTT.js keeps the contract:", () => {
  for (const { name, run } of eventBrokerContract) {
    test(`${name}`, async () => {
      const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${proxy.port}`, { reconnectPeriod: 50 });
      await runCase(run, { client });
      await client.endAsync(true);
    });
  }
});
