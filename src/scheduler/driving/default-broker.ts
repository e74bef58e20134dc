import { LocalEventBroker } from "../../brokers/local.ts";
import type { DataStore } from "../../stores/data-store.ts";

const brokers = new WeakMap<DataStore, LocalEventBroker>();

/** The broker of schedulers that were given none. There is one broker per store object, so that schedulers of one
 *  process that share a store hear of each other's changes. */
export function defaultBroker(store: DataStore): LocalEventBroker {
  const known = brokers.get(store);
  if (known !== undefined) return known;
  const broker = new LocalEventBroker();
  brokers.set(store, broker);
  return broker;
}
