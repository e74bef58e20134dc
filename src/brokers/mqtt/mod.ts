/**
 * Events between processes over MQTT, with MQTT.js.
 *
 * @module
 */
export { BrokerUnavailableError } from "../remote/errors.ts";
export type { BrokerTls } from "../remote/options.ts";
export type { MqttClient, MqttQos, MqttSubscription } from "./client.ts";
export { MqttEventBroker } from "./mqtt-event-broker.ts";
export type {
  MqttBrokerOptions,
  MqttClientBrokerOptions,
  MqttUrlBrokerOptions,
  SharedMqttBrokerOptions,
} from "./options.ts";
