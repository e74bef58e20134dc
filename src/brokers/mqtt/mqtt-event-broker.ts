import { systemClock } from "../../core/clock.ts";
import { IdGenerator } from "../../core/ids.ts";
import { addressFacts } from "../remote/address.ts";
import type { LinkMaker } from "../remote/link.ts";
import { RemoteEventBroker } from "../remote/remote-broker.ts";
import { type CheckedMqttOptions, checkOptions, type MqttBrokerOptions } from "./options.ts";
import { clientSettings, loadMqtt } from "./own-client.ts";
import { TopicLink, type TopicSettings } from "./topic-link.ts";
import { UrlLink } from "./url-link.ts";

/** Largest message, in bytes. Servers in the cloud take 128 KiB or more, with the topic and the head. */
const MESSAGE_BYTES_MAX = 100_000;

/**
 * Carries events between processes over one topic of an MQTT server. It needs one connection, and no session: what is
 * published while a process has no connection, that process does not hear, and its schedulers look into the store as
 * soon as they are connected again.
 *
 * @example
 * const eventBroker = new MqttEventBroker({ url: "mqtt://127.0.0.1:1883" });
 * const scheduler = new Scheduler({ dataStore, eventBroker });
 */
export class MqttEventBroker extends RemoteEventBroker {
  /** @throws {OptionsError} with one issue per problem */
  constructor(options: MqttBrokerOptions) {
    super(linkMaker(checkOptions(options)));
  }
}

/** How a broker with these options reaches its server. */
export function linkMaker(options: CheckedMqttOptions): LinkMaker {
  const { topic, namespace, publishQos, subscribeQos } = options;
  const settings: TopicSettings = { topic, publishQos, subscribeQos };
  const shared = { namespace, bytesMax: MESSAGE_BYTES_MAX };
  if ("url" in options) {
    return {
      ...shared,
      ...addressFacts(options),
      make: async (listener) => {
        const connect = await loadMqtt();
        const clientId = options.clientId ?? `escapement-${new IdGenerator().next(systemClock.now())}`;
        return new UrlLink(() => connect(clientSettings(options, clientId)), settings, listener).start();
      },
    };
  }
  const { client } = options;
  return {
    ...shared,
    address: "the MQTT server",
    secrets: [],
    make: async (listener) => new TopicLink(client, settings, false, listener).start(),
  };
}
