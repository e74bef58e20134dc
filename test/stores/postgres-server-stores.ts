import pg from "pg";
import { afterAll, afterEach, beforeAll } from "vitest";
import { PostgresDataStore, type PostgresStoreClient } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { PostgresServer } from "../support/postgres-server.ts";

/** A server for the tests of a file, a pool of connections to it, and what closes the stores of each test. */
export class ServerStores {
  server!: PostgresServer;
  pool!: pg.Pool;
  readonly #opened: DataStore[] = [];

  constructor() {
    beforeAll(async () => {
      this.server = await PostgresServer.start();
      this.pool = new pg.Pool({ connectionString: this.server.url, max: 8 });
      this.pool.on("error", () => {});
    });
    afterEach(async () => {
      for (const store of this.#opened.splice(0)) await store.close();
    });
    afterAll(async () => {
      await this.pool?.end();
      await this.server?.stop();
    });
  }

  /** Has a store closed after the test. */
  closeAfterwards(store: DataStore): void {
    this.#opened.push(store);
  }

  async open(client: PostgresStoreClient, schema: string): Promise<PostgresDataStore> {
    const store = new PostgresDataStore({ client }, { schema });
    this.closeAfterwards(store);
    await store.open(T0);
    return store;
  }
}
