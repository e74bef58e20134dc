import type { DataStore } from "../stores/data-store.ts";

/** How many schedulers of this process use a store object: the last one closes it. */
const users = new WeakMap<DataStore, number>();

export async function openShared(store: DataStore, now: number): Promise<void> {
  users.set(store, (users.get(store) ?? 0) + 1);
  try {
    await store.open(now);
  } catch (error) {
    users.set(store, (users.get(store) ?? 1) - 1);
    throw error;
  }
}

export async function closeShared(store: DataStore): Promise<void> {
  const left = (users.get(store) ?? 1) - 1;
  users.set(store, left);
  if (left <= 0) await store.close();
}
