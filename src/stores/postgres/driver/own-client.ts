import { StoreUnavailableError } from "../../../core/errors.ts";
import { optionsOfPlaces, readPostgresAddress } from "../../../core/postgres-address.ts";
import { type PostgresJsClient, queryOf } from "./clients.ts";
import type { Link } from "./driver.ts";

/** Connections of a store: one for its writes, which go one after the other, and some for reads. */
const CONNECTIONS_MAX = 4;

/** Longest wait for a connection, in seconds. */
const CONNECT_TIMEOUT_S = 10;

interface OwnClient extends PostgresJsClient {
  end(options: { timeout: number }): Promise<void>;
}

type Postgres = (url: string, settings: object) => OwnClient;

/** Connections of the store's own, by postgres.js. @throws {StoreUnavailableError} when the package is missing */
export async function openOwnClient(url: string): Promise<Link> {
  const postgres = await loadPostgres();
  const { url: address, places } = readPostgresAddress(url);
  const client = postgres(address, {
    ...optionsOfPlaces(places),
    max: CONNECTIONS_MAX,
    connect_timeout: CONNECT_TIMEOUT_S,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "escapement" },
  });
  const query = queryOf(client);
  if (query === null) throw new StoreUnavailableError("this version of the package postgres is not known");
  return { query, close: () => client.end({ timeout: 0 }) };
}

async function loadPostgres(): Promise<Postgres> {
  try {
    return (await import("postgres")).default as unknown as Postgres;
  } catch (cause) {
    throw new StoreUnavailableError(
      "reaching PostgreSQL by its url needs the package postgres, which cannot be loaded: npm install postgres, " +
        "or pass " +
        "{ client }",
      { cause },
    );
  }
}
