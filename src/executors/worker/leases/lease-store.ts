import type { SchedulerProfile } from "../../../records/scheduler.ts";

const METHODS = ["open", "getSchedulers", "extendLeases", "close"] as const;

/** What a lease thread needs of a `DataStore`. */
export interface LeaseStore {
  readonly capabilities: { readonly sharedByProcesses: boolean };
  open(now: number): Promise<void>;
  getSchedulers(now: number): Promise<readonly { readonly instanceId: string }[]>;
  extendLeases(extension: ThreadExtension): Promise<{ readonly lost: readonly string[] }>;
  close(): Promise<void>;
}

/** The `LeaseExtension` of a thread, which hears no answers to steps. */
interface ThreadExtension {
  readonly now: number;
  readonly schedulerId: string;
  readonly instanceId: string;
  readonly settledCommitId: null;
  readonly until: number;
  readonly jobs: readonly { readonly jobId: string; readonly fence: number }[];
  readonly aliveUntil: number;
  readonly profile: SchedulerProfile;
}

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
