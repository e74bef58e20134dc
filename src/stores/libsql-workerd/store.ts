import { optionsError } from "../../core/option-errors.ts";
import { shownUrl } from "../libsql/address.ts";
import {
  checkConnection,
  checkOptions,
  type LibsqlConnection,
  type LibsqlUrlConnection,
} from "../libsql/connection-options.ts";
import { LibsqlDriver } from "../libsql/driver.ts";
import type { LibsqlStoreOptions } from "../libsql/store-options.ts";
import { HranaHttpDriver } from "../libsql-http/driver.ts";
import { checkConnection as checkHttpConnection } from "../libsql-http/options.ts";
import { SqlDataStore } from "../sql/sqlite/store.ts";

/**
 * What workerd gets of `escapement/libsql`: the same store, without `@libsql/client`, which would cost every Worker
 * 20 KB. A `url` of a server is reached by the driver of `escapement/libsql/http`. A `client` is used as it is.
 */
export class LibsqlDataStore extends SqlDataStore {
  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range, or needs a file or a socket */
  constructor(connection: LibsqlConnection, options: LibsqlStoreOptions = {}) {
    checkConnection(connection);
    const { durability, timeoutMs, ...shared } = checkOptions(options);
    const isByUrl = "url" in connection;
    super(isByUrl ? httpDriver(connection, timeoutMs) : new LibsqlDriver(connection, { durability, timeoutMs }), {
      where: isByUrl ? shownUrl(connection.url) : "the database",
      timeoutMs,
      ...shared,
    });
  }
}

function httpDriver({ url, authToken, ...rest }: LibsqlUrlConnection, timeoutMs: number): HranaHttpDriver {
  const issues = Object.keys(rest).map((path) => ({ path, message: "needs a file, which a Worker does not have" }));
  if (/^wss?:/i.test(url)) issues.push({ path: "url", message: `${FOR_WEB_SOCKETS}, or write http in place of ws` });
  if (/^(file|:memory):/i.test(url))
    issues.push({ path: "url", message: "names a file, which a Worker does not have" });
  if (issues.length > 0) throw optionsError("new LibsqlDataStore(connection)", issues);
  const { fetch, ...endpoint } = checkHttpConnection({ url, ...(authToken === undefined ? {} : { authToken }) });
  return new HranaHttpDriver(endpoint.url, { authToken: endpoint.authToken, fetch, timeoutMs });
}

const FOR_WEB_SOCKETS = "needs WebSockets: pass { client }, made by createClient of @libsql/client/web";
