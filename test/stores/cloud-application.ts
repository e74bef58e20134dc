import type { DataStore } from "../../src/contracts.ts";
import { Scheduler } from "../../src/mod.ts";
import type { Application } from "./application.ts";

/** Opens a scheduler on a store, beside an application with a new table `orders` in the same database. */
export async function withCloudApplication(
  application: Application,
  dataStore: DataStore,
  use: (application: Application, scheduler: Scheduler, store: DataStore) => Promise<void>,
): Promise<void> {
  await application.commit([
    { sql: "DROP TABLE IF EXISTS orders", args: [] },
    { sql: "CREATE TABLE orders (id TEXT PRIMARY KEY)", args: [] },
  ]);
  const scheduler = new Scheduler({ dataStore });
  try {
    await use(application, scheduler, dataStore);
  } finally {
    await scheduler.stop();
  }
}
