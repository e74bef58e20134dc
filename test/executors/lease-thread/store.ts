// The module of the lease threads of lease-thread.local.test.ts: a store of the kind and at the path that the
// environment names.
import { writeSync } from "node:fs";
import process from "node:process";
import { isMainThread } from "node:worker_threads";
import type { DataStore } from "../../../src/contracts.ts";
import { LOCAL_STORES } from "../../stores/local-stores.ts";

export function createDataStore(): DataStore {
  const { LEASE_STORE = "", LEASE_PATH = "" } = process.env;
  const local = LOCAL_STORES.find(({ name }) => name === LEASE_STORE);
  if (local === undefined) throw new Error(`there is no ${LEASE_STORE}`);
  const store = local.make(LEASE_PATH);
  if (isMainThread) return store;
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    writeSync(1, "the thread has closed its store\n");
  };
  return store;
}
