import { decoded } from "../remote/address.ts";
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from "../remote/limits.ts";
import { loadPackage } from "../remote/load-package.ts";
import type { MqttClient } from "./client.ts";
import type { MqttUrlBrokerOptions } from "./options.ts";

/** A client that the broker made, and ends. */
export interface OwnMqttClient extends MqttClient {
  /** A socket, or what wraps a web socket. */
  readonly stream: { destroy(): unknown; setNoDelay?(isOn: boolean): unknown } | undefined;
  end(isForced: boolean, callback: () => void): unknown;
}

/** The function `connect` of MQTT.js. The package's own types would bind the shapes here to one version. */
export type Connect = (options: object) => OwnMqttClient;

/** @throws {BrokerUnavailableError} when the package is missing */
export async function loadMqtt(): Promise<Connect> {
  const { connect } = await loadPackage("mqtt", "an MQTT server", async () => (await import("mqtt")).default);
  return (options) => {
    const client = connect(options) as unknown as OwnMqttClient;
    // Otherwise a socket keeps a small message back until the server has confirmed the one before, up to 40 ms later.
    client.stream?.setNoDelay?.(true);
    return client;
  };
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
    // The client would write down all 65,536 numbers in advance, which takes milliseconds and megabytes.
    writeCache: false,
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
