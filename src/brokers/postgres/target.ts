import { optionsOfPlaces, readPostgresAddress } from "../../core/postgres-address.ts";
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

/** The hosts of an address, of which one is tried after the other. */
export interface Targets {
  readonly hosts: number;
  /** @param tries which try to connect this is, from 0 on: the hosts take turns */
  target(tries: number): Target;
}

export function targetsOfUrl(options: PostgresUrlBrokerOptions): Targets {
  const { username, password, tls } = options;
  const { url, places } = readPostgresAddress(options.url);
  const target = (tries: number): Target => {
    const place = places[tries % places.length] ?? {};
    const { host, port } = place;
    const settings = {
      ...optionsOfPlaces([place]),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      // The name by which the certificate is checked, where the address is none that TLS could send.
      ...(tls === undefined ? {} : { ssl: { host, ...tls } }),
      connection: { application_name: "escapement" },
    };
    return { optionsWith: (own) => [url, { ...settings, ...own }], host, port };
  };
  return { hosts: places.length, target };
}

/** What a client of postgres.js shows of its options. */
interface ClientOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly socket?: (options: object) => unknown;
}

export function targetsOfClient({ options }: PostgresClient): Targets {
  const { host, port, socket } = options as ClientOptions;
  const target = (tries: number): Target => {
    const turn = tries % host.length;
    const place = { host: host.slice(turn, turn + 1), port: port.slice(turn, turn + 1) };
    return { optionsWith: (own) => [{ ...options, ...place, ...own }], socket };
  };
  return { hosts: host.length, target };
}
