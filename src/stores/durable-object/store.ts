import { SqlDataStore } from "../sqlite/mod.ts";
import { DurableObjectDriver } from "./driver.ts";
import { checkOptions, checkStorage, type DurableObjectStoreOptions } from "./options.ts";
import type { DurableObjectSqlStorage } from "./storage.ts";

/**
 * Keeps everything in the SQLite of the Durable Object in which it lives. Nobody but this object can reach the data, so
 * each object has schedules and jobs of its own. Other tables of the object stay as they are.
 *
 * ```ts
 * const scheduler = new Scheduler({ dataStore: new DurableObjectDataStore(ctx.storage) });
 * ```
 *
 * Cloudflare sends no answer of the object before what the object wrote is safe. An object that loses its storage
 * ends: then methods reject with `StoreUnavailableError`, and the next request or alarm gets a new object. What is
 * larger than a row may be (2 MB) is refused with `StoreRefusedError`.
 */
export class DurableObjectDataStore extends SqlDataStore {
  /** @throws {OptionsError} when the storage is none of a Durable Object with SQLite, or an option is unknown, of a
   *  wrong type or out of range */
  constructor(storage: DurableObjectSqlStorage, options: DurableObjectStoreOptions = {}) {
    super(new DurableObjectDriver(checkStorage(storage)), {
      where: "the storage of the Durable Object",
      sharedByProcesses: false,
      ...checkOptions(options),
    });
  }
}
