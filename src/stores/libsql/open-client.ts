import { toDurationMs } from "../../core/duration.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { SYNCHRONOUS_BUSY_WAIT_MS } from "../sql/sqlite/limits.ts";
import { databaseKind } from "./address.ts";
import type { LibsqlClient } from "./client.ts";
import type { LibsqlUrlConnection } from "./connection-options.ts";

type CreateClient = (config: ClientConfig) => LibsqlClient;

/** Makes a client of `@libsql/client`. */
export async function openClient(connection: LibsqlUrlConnection, timeoutMs: number): Promise<LibsqlClient> {
  const createClient = await loadClient(connection.url);
  const { url, authToken, syncUrl, syncInterval, encryptionKey } = connection;
  return createClient({
    url,
    ...(authToken === undefined ? {} : { authToken }),
    ...(syncUrl === undefined ? {} : { syncUrl }),
    ...(syncInterval === undefined ? {} : { syncInterval: toDurationMs(syncInterval, "syncInterval") / 1000 }),
    ...(encryptionKey === undefined ? {} : { encryptionKey }),
    // Only one connection to a file, because settings such as `synchronous` belong to one connection. To a server any
    // number of requests, because requests that nobody waits for any more would keep others out.
    ...(databaseKind(connection) === "remote"
      ? { concurrency: Number.POSITIVE_INFINITY }
      : { concurrency: 1, timeout: SYNCHRONOUS_BUSY_WAIT_MS }),
    fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) }),
  });
}

/** The package is loaded here and not before, because it is an optional peer. A server needs no native part of it, so
 *  that a process on a platform without that part gets on. */
async function loadClient(url: string): Promise<CreateClient> {
  try {
    if (/^(https?|libsql):/i.test(url)) return (await import("@libsql/client/http")).createClient;
    if (/^wss?:/i.test(url)) return (await import("@libsql/client/ws")).createClient;
    return (await import("@libsql/client")).createClient;
  } catch (cause) {
    throw new StoreUnavailableError(isMissing(cause) ? MISSING : `loading @libsql/client failed: ${String(cause)}`, {
      cause,
    });
  }
}

const MISSING =
  "opening a database by its url needs the package @libsql/client, which is missing: npm install @libsql/client, " +
  "or pass { client }. LibsqlDataStore of escapement/libsql/http (for sqld and Turso), and SqliteDataStore of " +
  "escapement/sqlite (for files) need no package";

/** Whether the package itself was not found, and not a part that it needs. */
function isMissing(cause: unknown): boolean {
  return /["'`]@libsql\/client(\/\w+)?["'`]/.test(String(cause));
}

interface ClientConfig {
  url: string;
  authToken?: string;
  syncUrl?: string;
  syncInterval?: number;
  encryptionKey?: string;
  concurrency?: number;
  timeout?: number;
  fetch: (request: Request) => Promise<Response>;
}
