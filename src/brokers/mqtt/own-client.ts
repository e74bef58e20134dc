import { decoded } from "../remote/address.ts";
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from "../remote/limits.ts";
import { loadPackage } from "../remote/load-package.ts";
import type { MqttClient } from "./client.ts";
import type { MqttUrlBrokerOptions } from "./options.ts";

/** A client that the broker made, and ends. */
export interface OwnMqttClient extends MqttClient {
  readonly stream: { destroy(): unknown } | undefined;
  end(isForced: boolean, callback: () => void): unknown;
}

/** The function `connect` of MQTT.js. The package's own types would bind the shapes here to one version. */
export type Connect = (options: object) => OwnMqttClient;

/** @throws {BrokerUnavailableError} when the package is missing */
export async function loadMqtt(): Promise<Connect> {
  const { connect } = await loadPackage("mqtt", "an MQTT server", async () => (await import("mqtt")).default);
  return (options) => connect(options) as unknown as OwnMqttClient;
}

/** Settings of one connection. A connection that ends is not opened again by the client itself. */
export function clientSettings(options: MqttUrlBrokerOptions, clientId: string): object {
  const url = new URL(options.url);
  const { tls = {}, username = decoded(url.username), protocolVersion = 5 } = options;
  const password = options.password ?? decoded(url.password);
  return {
    ...tls,
    ...placeOf(url, options.tls !== undefined),
    // A connection over web sockets takes its TLS settings from here.
    wsOptions: tls,
    clientId,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
    protocolVersion,
    clean: true,
    keepalive: KEEP_ALIVE_MS / 1000,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    // A message that waits for a connection is of no use any more when it comes.
    queueQoSZero: false,
  };
}

function placeOf(url: URL, isSecure: boolean): object {
  const scheme = url.protocol.slice(0, -1);
  if (scheme === "unix") return { protocol: "mqtt", unixSocket: true, path: decoded(url.pathname) };
  const protocol = isSecure && !scheme.endsWith("s") ? `${scheme}s` : scheme;
  const path = scheme.startsWith("ws") ? { path: `${url.pathname === "" ? "/" : url.pathname}${url.search}` } : {};
  const port = url.port === "" ? {} : { port: Number(url.port) };
  return { protocol, host: url.hostname.replace(/^\[(.*)\]$/, "$1"), ...port, ...path };
}
