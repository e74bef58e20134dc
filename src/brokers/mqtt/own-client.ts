import { decoded } from "../remote/address.ts";
import { BrokerUnavailableError } from "../remote/errors.ts";
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
  try {
    const { connect } = (await import("mqtt")).default;
    return (options) => connect(options) as unknown as OwnMqttClient;
  } catch (cause) {
    const isMissing = /["'`]mqtt["'`]/.test(String(cause));
    throw new BrokerUnavailableError(isMissing ? MISSING : `loading mqtt failed: ${String(cause)}`, { cause });
  }
}

const MISSING =
  "reaching an MQTT server by its url needs the package mqtt, which is missing: npm install mqtt, or pass { client }";

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
    keepalive: KEEP_ALIVE_S,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    // A message that waits for a connection is of no use any more when it comes.
    queueQoSZero: false,
  };
}

/** How long a connection is silent before it is tested, in seconds, so that one that nobody ended is noticed. */
const KEEP_ALIVE_S = 10;

/** Longest wait for one connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5000;

function placeOf(url: URL, isSecure: boolean): object {
  const scheme = url.protocol.slice(0, -1);
  if (scheme === "unix") return { protocol: "mqtt", unixSocket: true, path: decoded(url.pathname) };
  const protocol = isSecure && !scheme.endsWith("s") ? `${scheme}s` : scheme;
  const path = scheme.startsWith("ws") ? { path: `${url.pathname === "" ? "/" : url.pathname}${url.search}` } : {};
  const port = url.port === "" ? {} : { port: Number(url.port) };
  return { protocol, host: url.hostname.replace(/^\[(.*)\]$/, "$1"), ...port, ...path };
}
