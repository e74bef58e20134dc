import { PGlite } from "@electric-sql/pglite";
import { PostgresDataStore, type PostgresStoreClient, type PostgresStoreOptions } from "../../src/postgres.ts";
import { postgresNames } from "../../src/stores/sql/postgres/schema/names.ts";

const { inSchema: _, schema: __, ...tables } = postgresNames("escapement");
const EMPTIED = Object.values(tables)
  .map((table) => `DELETE FROM ${table}`)
  .join("; ");

/** PostgreSQL in this process, for many stores one after the other. */
export class PGliteStores {
  readonly client: PGlite = new PGlite();

  /** A store without any records. @param wrap puts something between the store and the database */
  async make(
    options: PostgresStoreOptions = {},
    wrap: (client: PGlite) => PostgresStoreClient = (client) => client,
  ): Promise<PostgresDataStore> {
    // It may take longer to start than a store waits for an answer.
    await this.client.waitReady;
    const first = new PostgresDataStore({ client: this.client });
    await first.open(0);
    await first.getTasks();
    await first.close();
    await this.client.exec(EMPTIED);
    return new PostgresDataStore({ client: wrap(this.client) }, options);
  }

  stop(): Promise<void> {
    return this.client.close();
  }
}
