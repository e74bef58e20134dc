import { urlsOf, withoutSocketFolder } from "../../core/postgres-address.ts";
import type { PostgresClient } from "./client.ts";
import type { PostgresUrlBrokerOptions } from "./options.ts";

/** Where a connection leads. */
export interface Target {
  /** What postgres.js is called with. */
  optionsWith(own: object): readonly [address: string | object, settings?: object];
  /** Host and port where postgres.js would read them otherwise. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Makes the socket in the place of the broker. */
  readonly socket?: ((options: object) => unknown) | undefined;
}

/** @param tries which try to connect this is, from 0 on: the hosts of a url take turns */
export function targetOfUrl(options: PostgresUrlBrokerOptions, tries: number): Target {
  const { username, password, tls } = options;
  const urls = urlsOf(options.url);
  const { url, folder } = withoutSocketFolder(urls[tries % urls.length] ?? options.url);
  const { hostname, port } = new URL(url);
  // Without the brackets of an IPv6 address, which postgres.js does not read.
  const host = hostname === "" ? undefined : hostname.replace(/^\[(.*)\]$/, "$1");
  const settings = {
    ...(folder === null ? {} : { host: folder }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // The name by which the certificate is checked, where the address is none that TLS could send.
    ...(tls === undefined ? {} : { ssl: { host, ...tls } }),
    connection: { application_name: "escapement" },
  };
  return { optionsWith: (own) => [url, { ...settings, ...own }], host, port: Number(port) || undefined };
}

/** What a client of postgres.js shows of its options. */
interface ClientOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly socket?: (options: object) => unknown;
}

/** @param tries which try to connect this is, from 0 on: the hosts of a client take turns */
export function targetOfClient({ options }: PostgresClient, tries: number): Target {
  const { host, port, socket } = options as ClientOptions;
  const turn = tries % host.length;
  const place = { host: host.slice(turn, turn + 1), port: port.slice(turn, turn + 1) };
  return { optionsWith: (own) => [{ ...options, ...place, ...own }], socket };
}
