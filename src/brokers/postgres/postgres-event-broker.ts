import { addressFacts } from "../remote/address.ts";
import type { LinkMaker } from "../remote/link.ts";
import { RemoteEventBroker } from "../remote/remote-broker.ts";
import { loadPostgres } from "./connection.ts";
import { ConnectionLink } from "./connection-link.ts";
import { type CheckedPostgresBrokerOptions, checkOptions, type PostgresBrokerOptions } from "./options.ts";
import { targetsOfClient, targetsOfUrl } from "./target.ts";

/** Largest message, in bytes. PostgreSQL refuses 8,000. */
const MESSAGE_BYTES_MAX = 7999;

/**
 * Carries events between processes over `LISTEN` and `NOTIFY` of PostgreSQL. It needs one connection, which must not go
 * through a pool that lends connections for one transaction each, because such a connection cannot listen. PostgreSQL
 * keeps no messages for those who are away: what is published while a process has no connection, that process does not
 * hear, and its schedulers look into the store as soon as they are connected again.
 *
 * @example
 * const eventBroker = new PostgresEventBroker({ url: "postgres://app@127.0.0.1:5432/app" });
 * const scheduler = new Scheduler({ dataStore, eventBroker });
 */
export class PostgresEventBroker extends RemoteEventBroker {
  /** @throws {OptionsError} with one issue per problem */
  constructor(options: PostgresBrokerOptions) {
    super(linkMaker(checkOptions(options)));
  }
}

/** How a broker with these options reaches its server. */
export function linkMaker(options: CheckedPostgresBrokerOptions): LinkMaker {
  const { channel, namespace } = options;
  const shared = { namespace, bytesMax: MESSAGE_BYTES_MAX };
  if ("url" in options) {
    return {
      ...shared,
      ...addressFacts(options),
      make: async (listener) => {
        const reach = { channel, ...targetsOfUrl(options) };
        return new ConnectionLink(await loadPostgres(), reach, listener).start();
      },
    };
  }
  const { client } = options;
  return {
    ...shared,
    address: "PostgreSQL",
    secrets: [],
    make: async (listener) => {
      const reach = {
        channel,
        ...targetsOfClient(client),
        query: (text: string, parameters: string[]) => client.unsafe(text, parameters, { prepare: true }),
      };
      return new ConnectionLink(await loadPostgres(), reach, listener).start();
    },
  };
}
