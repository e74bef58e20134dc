import * as v from "valibot";
import { once } from "../../core/once.ts";
import { mustBe } from "../../core/option-errors.ts";
import { POSTGRES_URL_EXAMPLE, postgresUrl } from "../../core/postgres-address.ts";
import type { Given } from "../../core/without-undefined.ts";
import { type BrokerTls, namespaceName, secret, text, tlsOptions } from "../remote/options.ts";
import { serverOptionsChecker } from "../remote/server-options.ts";
import { isPostgresClient, type PostgresClient } from "./client.ts";

/** Options that do not depend on how the server is reached. */
export interface SharedPostgresBrokerOptions {
  /** Name of the channel, of 63 bytes at most. Brokers on the same channel of the same database hear each other; the
   *  name is quoted, so that capitals count. Default: `"escapement"` */
  readonly channel?: string | undefined;
  /** Which of the stores that share the channel the events belong to. Brokers hear only those of the same namespace.
   *  Default: `""`, a namespace as every other. */
  readonly namespace?: string | undefined;
}

/** A broker that makes its one connection with the package `postgres`. */
export interface PostgresUrlBrokerOptions extends SharedPostgresBrokerOptions {
  /** `postgres://user:password@host:port/database`, with `?sslmode=verify-full` for TLS. Several hosts, with commas
   *  between them, are tried one after the other; `?host=/var/run/postgresql` is the folder of a unix socket. What only
   *  other libraries know, such as `channel_binding`, `pgbouncer` or `schema`, is left out. */
  readonly url: string;
  /** Default: that of the url, or the variable `PGUSER`, or the user of the process. */
  readonly username?: string | undefined;
  /** Default: that of the url, or the variable `PGPASSWORD`, or none. */
  readonly password?: string | undefined;
  /** Settings of a TLS connection. They turn TLS on, whatever `sslmode` says. Default: what `sslmode` says. */
  readonly tls?: BrokerTls | undefined;
}

/** A broker over a client of the caller's, which stays the caller's to close. The client publishes over its pool, and
 *  opens one connection more to listen. */
export interface PostgresClientBrokerOptions extends SharedPostgresBrokerOptions {
  /** The `sql` that `postgres(url)` of postgres.js returns. */
  readonly client: PostgresClient;
}

/** Options of a `PostgresEventBroker`: a server is given by its url, or by a client of the caller's. */
export type PostgresBrokerOptions = PostgresUrlBrokerOptions | PostgresClientBrokerOptions;

/** Longest name of a channel, in bytes of UTF-8. PostgreSQL cuts longer ones in `LISTEN`, and refuses them in
 *  `NOTIFY`. */
const CHANNEL_BYTES_MAX = 63;

const saysChannel = ({ input }: { readonly input: unknown }): string =>
  mustBe(`text of 1 to ${CHANNEL_BYTES_MAX} bytes, without NUL`, input);

const sharedEntries = once(() => ({
  channel: v.optional(
    v.pipe(
      v.string(saysChannel),
      v.minBytes(1, saysChannel),
      v.maxBytes(CHANNEL_BYTES_MAX, saysChannel),
      v.check((name) => !name.includes("\0") && name.isWellFormed(), saysChannel),
    ),
    "escapement",
  ),
  namespace: v.optional(namespaceName(), ""),
}));

const urlSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    url: postgresUrl(),
    username: v.optional(text()),
    password: v.optional(secret()),
    tls: v.optional(tlsOptions()),
  }),
);

const saysClient = ({ input }: { readonly input: unknown }): string =>
  mustBe(
    "the sql of postgres.js",
    input,
    "",
    isOfPg(input) ? "a client of pg never listens again; pass { url }" : null,
  );

const clientSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    client: v.custom<PostgresClient>(isPostgresClient, saysClient),
  }),
);

/** Options with their defaults. */
export type CheckedPostgresBrokerOptions = PostgresBrokerOptions & Given<SharedPostgresBrokerOptions>;

/** @throws {OptionsError} with one issue per problem */
export const checkOptions: (options: unknown) => CheckedPostgresBrokerOptions = serverOptionsChecker({
  where: "new PostgresEventBroker(options)",
  byUrl: urlSchema,
  byClient: clientSchema,
  isClient: isPostgresClient,
  example: POSTGRES_URL_EXAMPLE,
  synonyms: { topic: "channel", connectionstring: "url", dsn: "url", conninfo: "url", sql: "client", pool: "client" },
});

/** Clients and pools of the package `pg` are objects that connect and query. */
function isOfPg(value: unknown): boolean {
  return typeof value === "object" && value !== null && "connect" in value && "query" in value;
}
