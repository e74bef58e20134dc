import * as v from "valibot";
import { canParseUrl } from "./can-parse-url.ts";
import { once } from "./once.ts";
import { mustBe, shown } from "./option-errors.ts";

/** What a url says of a server. Providers and other libraries write into urls what they alone know. */
export interface PostgresAddress {
  /** A url that postgres.js takes, without hosts. */
  readonly url: string;
  /** The hosts in their order; one without a name where the url names none. */
  readonly places: readonly PostgresPlace[];
  /** Prisma's `schema`; null where there is none. */
  readonly schema: string | null;
  /** Names of parameters that mean nothing here. */
  readonly leftOut: readonly string[];
}

/** The function of the package postgres. Its own types would bind the shapes to one version. */
export type PostgresJs<Client> = (address: string | object, settings?: object) => Client;

/** What postgres.js tells of the options that it was given. */
export interface ParsedPostgresOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

export interface PostgresPlace {
  /** A name, an address without brackets, or the folder of a unix socket. */
  readonly host?: string;
  readonly port?: number;
}

/** Parameters that no server knows and that may be left out: libpq's, Prisma's, those of `pg` and of poolers. */
const OF_OTHERS = new Set(
  (
    "channel_binding gssencmode gssdelegation keepalives keepalives_idle keepalives_interval keepalives_count " +
    "tcp_user_timeout load_balance_hosts sslcompression sslsni ssl_min_protocol_version ssl_max_protocol_version " +
    "fallback_application_name requiressl schema pgbouncer connection_limit pool_timeout socket_timeout " +
    "statement_cache_size single_use_connections sslaccept uselibpqcompat supa workaround"
  ).split(" "),
);

/** Parameters that say how to reach the server or whom to trust, and that postgres.js cannot follow. */
const BEYOND =
  /^(ssl(cert|key|password|crl|crldir|identity)|passfile|service|servicefile|hostaddr|require(peer|_auth))$/;

const PORT = 5432;

/** @throws {TypeError} with what the url must have, in words, without its secrets */
export function readPostgresAddress(text: string): PostgresAddress {
  const [, head = "", hosts = "", path = "", query = ""] =
    /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?/is.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const names = [...new Set(parameters.keys())];
  const beyond = names.find(
    (name) => BEYOND.test(name) || (name === "sslrootcert" && parameters.get(name) !== "system"),
  );
  if (beyond !== undefined) throw new TypeError(`a url without ${beyond}, which only a client of yours can follow`);
  const [schema, host, ports] = ["schema", "host", "port"].map((name) => parameters.get(name)) as (string | null)[];
  for (const name of names) if (OF_OTHERS.has(name) || name === "host" || name === "port") parameters.delete(name);
  const isNamed = hosts !== "" || (host ?? null) !== null;
  const rest = parameters.toString();
  // A url with a user has a host.
  const anyHost = isNamed || head.endsWith("@") ? "localhost" : "";
  return {
    url: `${head}${anyHost}${path}${rest === "" ? "" : `?${rest}`}`,
    places: isNamed ? placesOf(hosts, host ?? null, ports ?? null) : [{}],
    schema: schema ?? null,
    leftOut: names.filter((name) => OF_OTHERS.has(name) && name !== "schema"),
  };
}

/** The places as options of postgres.js, which does not read all of them in a url. */
export function optionsOfPlaces(places: readonly PostgresPlace[]): object {
  const [first] = places;
  if (places.length === 1 && !first?.host?.includes(":")) return { ...first };
  return { host: places.map(({ host }) => host), port: places.map(({ port = PORT }) => port) };
}

/** @param host the parameter of this name, which is told before the hosts of the url */
function placesOf(hosts: string, host: string | null, ports: string | null): PostgresPlace[] {
  const inUrl = hosts.split(",").map(placeOf);
  const [first = {}] = inUrl;
  const given = host === null ? inUrl : host.split(",").map((name): PostgresPlace => ({ ...first, host: name }));
  const all = ports?.split(",") ?? [];
  const places = given.map((place, index): PostgresPlace => {
    const port = all[index] ?? all[0];
    const own = port === undefined ? place.port : portOf(port);
    return { host: place.host || "localhost", ...(own === undefined ? {} : { port: own }) };
  });
  if (places.length > 1 && places.some(isFolder)) {
    throw new TypeError("one host, where it is the folder of a unix socket");
  }
  return places;
}

function isFolder({ host }: PostgresPlace): boolean {
  return host?.startsWith("/") ?? false;
}

function placeOf(text: string): PostgresPlace {
  const [, address, name, port] = /^(?:\[(.*)\]|([^:[\]]*))(?::(\d*))?$/.exec(text) ?? [];
  const host = address ?? name;
  if (host === undefined) throw new TypeError(`hosts such as "host:${PORT}" or "[::1]:${PORT}"`);
  return { host: decodeURIComponent(host), ...(port ? { port: portOf(port) } : {}) };
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new TypeError("ports from 1 to 65535");
  return port;
}

/** An address with all its parts. */
export const POSTGRES_URL_EXAMPLE = "postgres://user:password@host:5432/database";

/** A url that {@link readPostgresAddress} reads. */
export const postgresUrl: () => v.GenericSchema<string> = once(() =>
  v.pipe(
    v.string(saysUrl),
    v.check(
      (url) => problemOf(url) === null,
      ({ input }) => problemOf(input) ?? "",
    ),
  ),
);

function problemOf(url: string): string | null {
  if (url !== url.trim()) return mustBe("a url without white space around it", url, "secret");
  if (!/^postgres(ql)?:\/\//i.test(url)) return saysUrl({ input: url });
  try {
    if (canParseUrl(readPostgresAddress(url).url)) return null;
  } catch (error) {
    if (error instanceof TypeError) return mustBe(error.message, url, "secret");
  }
  // Its password cannot be found, so nothing of it is shown.
  return mustBe("a url that can be read", url, "secret", "write encodeURIComponent(password) for the password in it");
}

function saysUrl({ input }: { readonly input: unknown }): string {
  const isHost = typeof input === "string" && /^[\w.-]+(:\d+)?(\/\w*)?$/.test(input);
  const isUnset = input === undefined || input === "";
  return mustBe(
    "postgres:// and an address",
    input,
    isHost ? "" : "secret",
    isUnset
      ? "is the environment variable set?"
      : isHost
        ? `write ${shown(`postgres://${input}`)}`
        : `write it as "${POSTGRES_URL_EXAMPLE}"`,
  );
}
