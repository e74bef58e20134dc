import { systemClock } from "../core/clock.ts";
import type { DataStore } from "../stores/data-store.ts";

/** Opens a store that is not open. @returns closes the store, if it was opened here */
export async function opened(dataStore: DataStore): Promise<() => Promise<void>> {
  if (dataStore.isOpen !== false) return async () => {};
  await dataStore.open(systemClock.now());
  return () => dataStore.close();
}
