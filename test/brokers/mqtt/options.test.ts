import type mqtt from "mqtt";
import { describe, expect, expectTypeOf, test } from "vitest";
import { type MqttBrokerOptions, type MqttClient, MqttEventBroker } from "../../../src/brokers/mqtt/mod.ts";

/** The message of the error that the options cost. */
function messageOf(options: unknown): string {
  try {
    new MqttEventBroker(options as MqttBrokerOptions);
  } catch (error) {
    return String(error);
  }
  return expect.unreachable("the options were accepted");
}

const url = "mqtt://127.0.0.1";

describe("new MqttEventBroker(options)", () => {
  test.each<[string, MqttBrokerOptions]>([
    ["a host and a port", { url: "mqtt://localhost:1883" }],
    ["credentials and a path of web sockets", { url: "wss://ada:p%40ss@mqtt.example/mqtt?token=x" }],
    ["an address in brackets", { url: "mqtts://[::1]:8883" }],
    ["a unix socket", { url: "unix:///run/mqtt.sock" }],
    [
      "all options",
      { url, topic: "a/b", namespace: "n", clientId: "c", publishQos: 2, subscribeQos: 1, protocolVersion: 4 },
    ],
  ])("takes %s", (_, options) => {
    expect(new MqttEventBroker(options)).toBeInstanceOf(MqttEventBroker);
  });

  test.each<[string, unknown, RegExp]>([
    ["no options", undefined, /takes \{ url \} or \{ client \}/],
    ["the url alone", url, /write \{ url: "mqtt:/],
    ["a host", { url: "localhost:1883" }, /write "mqtt:\/\/localhost:1883"/],
    ["a host in the place of options", "localhost", /write \{ url: "mqtt:\/\/localhost" \}/],
    ["a host as an option", { host: "localhost" }, /host is no option here; it is a part of the url: \{ url: "mqtt:/],
    ["the port of a host as an option", { url, port: 1883 }, /port is no option here; it is a part of the url/],
    ["no url", {}, /url is missing; it must be an address such as "mqtt:\/\/127\.0\.0\.1:1883"/],
    ["names with underscores", { url, client_id: "c" }, /client_id is no option; did you mean "clientId"/],
    ["quality of service with underscores", { url, publish_qos: 1 }, /did you mean "publishQos"/],
    ["the scheme of another client", { url: "tcp://h:1883" }, /write "mqtt:\/\/h:1883"/],
    ["the secure scheme of another client", { url: "ssl://h:8883" }, /write "mqtts:\/\/h:8883"/],
    ["a path", { url: "/run/mqtt.sock" }, /write "unix:\/\/\/run\/mqtt.sock"/],
    ["another protocol", { url: "redis://localhost" }, /mqtt:\/\/, mqtts:\/\/, ws:\/\/ or wss:\/\//],
    ["a port that is none", { url: "mqtt://localhost:port" }, /url/],
    ["a url that is missing", { url: undefined }, /is the environment variable set\?/],
    ["a quality of service that is none", { url, publishQos: 3 }, /publishQos.*0, 1 or 2/],
    ["one for both directions", { url, qos: 1 }, /publishQos is that of messages to the server/],
    ["a topic with a wildcard", { url, topic: "jobs/#" }, /topic.*without \+ and #/],
    ["a topic of the server's", { url, topic: "$SYS/jobs" }, /topic.*does not begin with \$/],
    ["another word for the topic", { url, channel: "jobs" }, /channel.*topic/],
    ["a client and a url", { url, client: {} }, /by url or by client, not by both/],
    ["what is no client", { client: {} }, /client.*a client of MQTT\.js/],
    ["another version of the protocol", { url, protocolVersion: 3 }, /protocolVersion.*5, or 4 for MQTT 3\.1\.1/],
  ])("refuses %s, and says what to do", (_, options, message) => {
    expect(messageOf(options)).toMatch(message);
  });

  test("shows no password that is not right", () => {
    expect(messageOf({ url, password: 12345678 })).not.toContain("12345678");
    expect(messageOf({ url: "http://ada:hunter2@localhost" })).not.toContain("hunter2");
  });

  test("takes a client of MQTT.js", () => {
    expectTypeOf<mqtt.MqttClient>().toExtend<MqttClient>();
  });
});

test.each([
  "user:hidden@host",
  "mqtt:/user:hidden@host",
  " mqtt://user:hidden@host",
  "/user:hidden@host",
  "mqtt;//host?password=hidden",
])("what is no url is not shown where a password may stand in it: %s", (url) => {
  expect(messageOf({ url })).toBe(
    "OptionsError: new MqttEventBroker(options): url must be mqtt://, mqtts://, ws:// or wss:// and a host, " +
      "or unix:/// and a path; got text that is not shown",
  );
});
