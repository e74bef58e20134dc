import { StoreUnavailableError } from "../../../core/errors.ts";
import { builtinModule, endsWorkWithRequests } from "../../../core/host.ts";
import {
  optionsOfPlaces,
  type ParsedPostgresOptions,
  type PostgresJs,
  readPostgresAddress,
} from "../../../core/postgres-address.ts";
import { hearErrors, isPool, linkOf, type PgPool, type PostgresLink, type PostgresStoreClient } from "./clients.ts";

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

/** A client of postgres.js that the store has made. Its end waits for no answer. */
interface OwnClient {
  unsafe(query: string): PromiseLike<readonly object[] & { readonly state?: { readonly pid?: number } }>;
  end(options?: { timeout: number }): Promise<void>;
}

/** The part of Node's `net` that the store uses. */
interface NodeNet {
  connect(address: object): object;
}

interface NodeSocket {
  readonly destroyed: boolean;
  destroy(): unknown;
}

type SocketMaker = (options: ParsedPostgresOptions) => object | PromiseLike<object>;

/** Connections of the store's own, by postgres.js. @throws {StoreUnavailableError} when the package is missing */
export async function openOwnClient(url: string): Promise<PostgresLink> {
  return ownLink(await ownClient(url));
}

/** @param settings of postgres.js, which come before those of the store
 *  @throws {StoreUnavailableError} when the package is missing */
export async function ownClient(url: string, settings: object = {}): Promise<OwnClient> {
  const postgres = await loadPostgres();
  const { url: address, places } = readPostgresAddress(url);
  const connection = { application_name: "escapement" };
  const all = { ...optionsOfPlaces(places), ...SETTINGS, connection, ...settings };
  return endable((own) => postgres(address, { ...all, ...own }));
}

/** The same with the options of a client of the application; null where that is none of postgres.js. */
export async function ownClientLike(client: unknown, settings: object = {}): Promise<OwnClient | null> {
  const { options } = client as { readonly options?: { readonly socket?: SocketMaker | undefined } };
  if (typeof client !== "function" || options === undefined || "adapter" in options) return null;
  const postgres = await loadPostgres();
  const all = { ...options, ...SETTINGS, onclose: () => {}, ...settings };
  return endable((own) => postgres({ ...all, ...own }), options.socket);
}

/** A client of postgres.js asks the server to end its connections: a silent one would keep the sockets, and the process
 *  with them. */
function endable(make: (own: object) => OwnClient, maker: SocketMaker | undefined = socketMaker()): OwnClient {
  if (maker === undefined) return endedBy(make({}), () => {});
  const sockets = new Set<NodeSocket>();
  const socket: SocketMaker = async (options) => {
    // postgres.js removes all listeners of its sockets.
    for (const former of sockets) if (former.destroyed) sockets.delete(former);
    const made = (await maker(options)) as NodeSocket;
    sockets.add(made);
    return made;
  };
  return endedBy(make({ socket }), () => {
    for (const made of sockets) made.destroy();
  });
}

function endedBy(client: OwnClient, destroy: () => void): OwnClient {
  const end = client.end.bind(client);
  return Object.assign(client, { end: () => end({ timeout: 0 }).finally(destroy) });
}

/** Makes sockets as postgres.js does, to one host after the other; undefined where the runtime has none of Node. */
function socketMaker(): SocketMaker | undefined {
  const net = endsWorkWithRequests() ? undefined : (builtinModule("node:net") as NodeNet | undefined);
  let tries = 0;
  return (
    net &&
    (({ host: hosts, port: ports, path }) => {
      if (path !== false) return net.connect({ path });
      const turn = tries++ % hosts.length;
      const place = { host: hosts[turn], port: ports[turn] };
      // By the host, postgres.js checks the certificate, and both stand in its errors.
      return Object.assign(net.connect(place), place);
    })
  );
}

/** Connections of the store's own, made as those of a client of the application; null where it is not known how. */
export async function openLike(client: PostgresStoreClient): Promise<PostgresLink | null> {
  try {
    if (isPool(client)) return poolLike(client);
    const own = await ownClientLike(client);
    if (own !== null) return ownLink(own);
    const { options } = client as { readonly options?: object };
    if (options === undefined || !("adapter" in options)) return null;
    const Sql = (client as object).constructor as new (options: object) => OwnClient;
    return ownLink(new Sql({ ...options, max: CONNECTIONS_MAX, connectionTimeout: CONNECT_TIMEOUT_S }));
  } catch {
    return null;
  }
}

function ownLink(client: OwnClient): PostgresLink {
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

function poolLike(pool: PgPool): PostgresLink | null {
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

async function loadPostgres(): Promise<PostgresJs<OwnClient>> {
  try {
    return (await import("postgres")).default as unknown as PostgresJs<OwnClient>;
  } catch (cause) {
    throw new StoreUnavailableError(
      "reaching PostgreSQL by its url needs the package postgres, which cannot be loaded: npm install postgres, " +
        "or pass " +
        "{ client }",
      { cause },
    );
  }
}
