/** How hard client and server try to deliver a message: at most once (0), at least once (1) or exactly once (2). */
export type MqttQos = 0 | 1 | 2;

/** What the broker needs of a client of MQTT.js (`connect` of `mqtt`). The interface describes a shape, so that other
 *  clients of the same shape fit, too. */
export interface MqttClient {
  readonly connected: boolean;
  readonly options: { readonly protocolVersion?: number | undefined; readonly clientId?: string | undefined };
  publish(
    topic: string,
    message: string,
    options: { qos: MqttQos; retain: false },
    callback: (error?: unknown) => void,
  ): unknown;
  subscribe(topic: string, options: MqttSubscription, callback: (error: unknown) => void): unknown;
  /** Sends a PINGREQ. The answer is an event `packetreceive`. */
  sendPing(): void;
  unsubscribe(topic: string, callback: (error?: unknown) => void): unknown;
  on(event: string, listener: (...facts: unknown[]) => void): unknown;
  off(event: string, listener: (...facts: unknown[]) => void): unknown;
}

/** How a topic is subscribed to. From version 5 of the protocol on, the server keeps back what this client sent itself
 *  (`nl`), and messages of the past (`rh`). */
export interface MqttSubscription {
  readonly qos: MqttQos;
  readonly nl?: boolean;
  readonly rh?: number;
}
