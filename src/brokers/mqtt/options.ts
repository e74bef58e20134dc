import * as v from "valibot";
import { hasMethods, implementing, says } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import type { Given } from "../../core/without-undefined.ts";
import {
  addressText,
  type BrokerTls,
  channelName,
  namespaceName,
  secret,
  text,
  tlsOptions,
} from "../remote/options.ts";
import { saysUrl, serverOptionsChecker, urlOfPlace } from "../remote/server-options.ts";
import type { MqttClient, MqttQos } from "./client.ts";

/** Options that do not depend on how the server is reached. */
export interface SharedMqttBrokerOptions {
  /** The topic. It has no wildcards. Brokers on the same topic hear each other. Default: `"escapement"` */
  readonly topic?: string | undefined;
  /** Which of the stores that share the topic the events belong to. Brokers hear only those of the same namespace.
   *  Default: `""`, a namespace as every other. */
  readonly namespace?: string | undefined;
  /** How hard the client tries to send a message to the server. With 0, `publish` resolves when the message is written,
   *  with 1 and 2, when the server has it. Default: 0, because a gap is noticed, and a lost event costs delay only */
  readonly publishQos?: MqttQos | undefined;
  /** The same from the server to this client. Default: 0 */
  readonly subscribeQos?: MqttQos | undefined;
}

/** A broker that makes its connection with the package `mqtt`. */
export interface MqttUrlBrokerOptions extends SharedMqttBrokerOptions {
  /** `mqtt://[user:password@]host[:port]`, `mqtts://` for TLS, `ws://` or `wss://` with a path for web sockets, or
   *  `unix:///path/of/mqtt.sock`. */
  readonly url: string;
  /** The name by which the server knows the client. A server ends the connection of the older one of two clients with
   *  the same name. Default: a random one */
  readonly clientId?: string | undefined;
  /** Default: that of the url, or none. */
  readonly username?: string | undefined;
  /** Default: that of the url, or none. */
  readonly password?: string | undefined;
  /** Settings of a TLS connection. Together with `mqtt://` or `ws://`, they turn TLS on. Default: those of the
   *  runtime. */
  readonly tls?: BrokerTls | undefined;
  /** Version of the protocol: 5, or 4 (which is 3.1.1) for servers that know no other one. Default: 5 */
  readonly protocolVersion?: 4 | 5 | undefined;
}

/** A broker that sends and listens over a client of the caller's. The caller connects and closes the client. */
export interface MqttClientBrokerOptions extends SharedMqttBrokerOptions {
  /** A client of MQTT.js (`connect(...)` of `mqtt`). Its topic is the broker's alone: what else the client listens to
   *  stays the caller's. */
  readonly client: MqttClient;
}

/** Options of a `MqttEventBroker`: a server is given by its url, or by a client of the caller's. */
export type MqttBrokerOptions = MqttUrlBrokerOptions | MqttClientBrokerOptions;

const CLIENT_METHODS = ["publish", "subscribe", "unsubscribe", "sendPing", "on", "off"] as const;

const qos = once(() => v.picklist([0, 1, 2], says("0, 1 or 2")));

const sharedEntries = once(() => ({
  topic: v.optional(
    v.pipe(
      channelName(),
      v.check(
        (name) => !/[+#\0]/.test(name) && !name.startsWith("$"),
        says("a topic without + and #, that does not begin with $"),
      ),
    ),
    "escapement",
  ),
  namespace: v.optional(namespaceName(), ""),
  publishQos: v.optional(qos(), 0),
  subscribeQos: v.optional(qos(), 0),
}));

const saysAddress = saysUrl("mqtt://, mqtts://, ws:// or wss:// and a host, or unix:/// and a path", addressOf);

const urlSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    url: v.pipe(
      addressText("mqtt://127.0.0.1:1883"),
      v.check((url) => /^((mqtt|ws)s?:\/\/[^/]|unix:\/\/\/)/i.test(url) && URL.canParse(url), saysAddress),
    ),
    clientId: v.optional(channelName()),
    username: v.optional(text()),
    password: v.optional(secret()),
    tls: v.optional(tlsOptions()),
    protocolVersion: v.optional(v.picklist([4, 5], says("5, or 4 for MQTT 3.1.1")), 5),
  }),
);

const clientSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    client: implementing<MqttClient>("a client of MQTT.js", CLIENT_METHODS),
  }),
);

/** Options with their defaults. */
export type CheckedMqttOptions = MqttBrokerOptions & Given<SharedMqttBrokerOptions>;

/** @throws {OptionsError} with one issue per problem */
export const checkOptions: (options: unknown) => CheckedMqttOptions = serverOptionsChecker({
  where: "new MqttEventBroker(options)",
  byUrl: urlSchema,
  byClient: clientSchema,
  isClient: (value) => hasMethods(value, CLIENT_METHODS),
  example: "mqtt://user:password@host:1883",
  addressOf,
  synonyms: { channel: "topic", brokerurl: "url", mqtt: "client" },
  elsewhere: (name) =>
    name.toLowerCase() === "qos"
      ? "publishQos is that of messages to the server, subscribeQos that of messages from it"
      : null,
});

/** The url that a host, a path or an address of another form means; null where that is unknown. */
function addressOf(given: string): string | null {
  if (/^tcp:\/\//i.test(given)) return given.replace(/^tcp/i, "mqtt");
  if (/^(ssl|tls):\/\//i.test(given)) return given.replace(/^(ssl|tls)/i, "mqtts");
  return urlOfPlace(given, "mqtt");
}
