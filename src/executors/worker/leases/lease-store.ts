import type { DataStore } from "../../../stores/data-store.ts";

const METHODS = ["open", "getSchedulers", "extendLeases", "close"] as const;

/** What a lease thread needs of a store. */
export type LeaseStore = Pick<DataStore, "capabilities" | (typeof METHODS)[number]>;

/** What is wrong with the module of a lease thread, as the end of a sentence that begins with "module". */
export class UnfitLeaseModule extends Error {}

/** The store that a module makes. @throws {UnfitLeaseModule} */
export async function storeOf(exports: object): Promise<LeaseStore> {
  const create: unknown = Reflect.get(exports, "createDataStore");
  if (typeof create !== "function") {
    const names = Object.keys(exports).slice(0, 10).join(", ");
    throw new UnfitLeaseModule(
      `must export a function createDataStore; it exports ${names === "" ? "nothing" : names}`,
    );
  }
  const store: unknown = await create();
  if (!isLeaseStore(store)) throw new UnfitLeaseModule("must return a DataStore from createDataStore()");
  if (!store.capabilities.sharedByProcesses) {
    throw new UnfitLeaseModule(
      "must return a store of the scheduler's database from createDataStore(); this one keeps its data to itself",
    );
  }
  return store;
}

function isLeaseStore(value: unknown): value is LeaseStore {
  if (typeof value !== "object" || value === null || !("capabilities" in value)) return false;
  return METHODS.every((method) => typeof Reflect.get(value, method) === "function");
}

/** Opens a store, which must know of a run of a scheduler.
 *  @throws {UnfitLeaseModule}
 *  @throws {StoreUnavailableError} */
export async function openFor(
  store: LeaseStore,
  { identity, instanceId, now }: { readonly identity: string; readonly instanceId: string; readonly now: number },
): Promise<void> {
  await store.open(now);
  const known = await store.getSchedulers(now);
  if (known.some((scheduler) => scheduler.instanceId === instanceId)) return;
  throw new UnfitLeaseModule(
    `must return a store of the scheduler's database from createDataStore(); this one does not know "${identity}"`,
  );
}
