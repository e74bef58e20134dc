import { StoreUnavailableError } from "../../../core/errors.ts";
import { optionsOfPlaces, readPostgresAddress } from "../../../core/postgres-address.ts";
import { hearErrors, isPool, type Link, linkOf, type PgPool, type PostgresStoreClient } from "./clients.ts";

/** Connections of a store: one for its writes, which go one after the other, and some for reads. */
const CONNECTIONS_MAX = 4;

/** Longest wait for a connection, in seconds. */
const CONNECT_TIMEOUT_S = 10;

/** What is set for a connection of the store's own by postgres.js. */
const SETTINGS = {
  max: CONNECTIONS_MAX,
  connect_timeout: CONNECT_TIMEOUT_S,
  fetch_types: false,
  onnotice: (): void => {},
};

/** A client of postgres.js that the store has made. */
interface OwnClient {
  unsafe(query: string): PromiseLike<readonly object[] & { readonly state?: { readonly pid?: number } }>;
  end(options: { timeout: number }): Promise<void>;
}

type Postgres = (address: string | object, settings?: object) => OwnClient;

/** Connections of the store's own, by postgres.js. @throws {StoreUnavailableError} when the package is missing */
export async function openOwnClient(url: string): Promise<Link> {
  return ownLink(await ownClient(url));
}

/** @param settings of postgres.js, which come before those of the store
 *  @throws {StoreUnavailableError} when the package is missing */
export async function ownClient(url: string, settings: object = {}): Promise<OwnClient> {
  const postgres = await loadPostgres();
  const { url: address, places } = readPostgresAddress(url);
  const connection = { application_name: "escapement" };
  return postgres(address, { ...optionsOfPlaces(places), ...SETTINGS, connection, ...settings });
}

/** Connections of the store's own, made as those of a client of the application; null where it is not known how. */
export async function openLike(client: PostgresStoreClient): Promise<Link | null> {
  try {
    if (isPool(client)) return poolLike(client);
    if (typeof client !== "function") return null;
    const { options } = client as unknown as { readonly options?: object };
    if (options === undefined) return null;
    if ("adapter" in options) {
      const Sql = (client as object).constructor as new (options: object) => OwnClient;
      return ownLink(new Sql({ ...options, max: CONNECTIONS_MAX, connectionTimeout: CONNECT_TIMEOUT_S }));
    }
    const postgres = await loadPostgres();
    return ownLink(postgres({ ...options, ...SETTINGS, onclose: () => {} }));
  } catch {
    return null;
  }
}

function ownLink(client: OwnClient): Link {
  const link = linkOf(client);
  if (link === null) throw new StoreUnavailableError("this version of the package postgres is not known");
  return { ...link, close: () => client.end({ timeout: 0 }) };
}

interface OwnPool extends PgPool {
  on(event: "error" | "connect" | "remove", listener: (client: Streaming) => void): unknown;
  end(): Promise<void>;
}

interface Streaming {
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

function poolLike(pool: PgPool): Link | null {
  const Pool = pool.constructor as new (options: object) => OwnPool;
  // A pool hides the password.
  const { password } = pool.options as { readonly password?: unknown };
  const bounds = { max: CONNECTIONS_MAX, connectionTimeoutMillis: CONNECT_TIMEOUT_S * 1000 };
  const own = new Pool({ ...pool.options, password, ...bounds });
  const link = linkOf(own);
  hearErrors(own);
  const clients = new Set<Streaming>();
  own.on("connect", (client) => clients.add(client));
  own.on("remove", (client) => clients.delete(client));
  const close = async (): Promise<void> => {
    await link?.close?.();
    // The end of a connection waits until the server answers to it.
    void own.end();
    for (const client of clients) client.connection?.stream?.destroy();
  };
  return link === null ? null : { ...link, close };
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
