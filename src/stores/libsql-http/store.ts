import { shownUrl } from "../libsql/address.ts";
import type { LibsqlStoreOptions } from "../libsql/store-options.ts";
import { SqlDataStore } from "../sql/sqlite/store.ts";
import { HranaHttpDriver } from "./driver.ts";
import { checkConnection, checkOptions, type LibsqlHttpConnection } from "./options.ts";

/**
 * Keeps everything in a database of sqld or Turso, over `fetch` alone: the store of `escapement/libsql` on a driver of
 * 2 KB, for Workers and wherever `@libsql/client` is not installed. Every operation is one request. Files, WebSockets
 * and replicas need `escapement/libsql`.
 *
 * ```ts
 * const store = new LibsqlDataStore({ url: "libsql://my-jobs.turso.io", authToken: env.TURSO_TOKEN });
 * const scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * After a passing failure (a lost connection, a server with too much to do) the store tries again, for some seconds
 * (`retry`), before a method rejects with `StoreUnavailableError`. A request is aborted after `timeout`.
 */
export class LibsqlDataStore extends SqlDataStore {
  /**
   * @param options the same as those of the store of `escapement/libsql`; `durability` is the server's own
   * @throws {OptionsError} when an option is unknown, of a wrong type or out of range
   */
  constructor(connection: LibsqlHttpConnection, options: LibsqlStoreOptions = {}) {
    const { url, authToken, fetch } = checkConnection(connection);
    const { durability: _, timeoutMs, ...shared } = checkOptions(options);
    super(new HranaHttpDriver(url, { authToken, fetch, timeoutMs }), {
      where: shownUrl(connection.url),
      timeoutMs,
      ...shared,
    });
  }
}
