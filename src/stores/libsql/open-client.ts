import { toDurationMs } from "../../core/duration.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import { SYNCHRONOUS_BUSY_WAIT_MS } from "../sqlite/limits.ts";
import type { LibsqlClient } from "./client.ts";
import type { LibsqlUrlConnection } from "./options.ts";

/** What a url stands for. */
export type DatabaseKind = "memory" | "file" | "replica" | "remote";

export function databaseKind({ url, syncUrl }: LibsqlUrlConnection): DatabaseKind {
  if (/^(file:)?:memory:/.test(url)) return "memory";
  if (!/^file:/i.test(url)) return "remote";
  return syncUrl === undefined ? "file" : "replica";
}

/** The url as errors may show it: without its token and password. */
export function shownUrl(url: string): string {
  return url.replace(/\?.*$/, "").replace(/\/\/[^/@]*@/, "//");
}

/** Makes a client of `@libsql/client`. The package is loaded here and not before, because it is an optional peer. */
export async function openClient(connection: LibsqlUrlConnection, timeoutMs: number): Promise<LibsqlClient> {
  let createClient: (config: ClientConfig) => LibsqlClient;
  try {
    ({ createClient } = await import("@libsql/client"));
  } catch (cause) {
    throw new StoreUnavailableError(
      "opening a database by its url needs the package @libsql/client: install it, or pass { client }",
      { cause },
    );
  }
  const { url, authToken, syncUrl, syncInterval, encryptionKey } = connection;
  return createClient({
    url,
    ...(authToken === undefined ? {} : { authToken }),
    ...(syncUrl === undefined ? {} : { syncUrl }),
    ...(syncInterval === undefined ? {} : { syncInterval: toDurationMs(syncInterval, "syncInterval") / 1000 }),
    ...(encryptionKey === undefined ? {} : { encryptionKey }),
    // Only one connection, because settings such as `synchronous` belong to one connection.
    ...(databaseKind(connection) === "remote" ? {} : { concurrency: 1, timeout: SYNCHRONOUS_BUSY_WAIT_MS }),
    fetch: (request: Request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) }),
  });
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
