import { onTestFinished } from "vitest";
import type { DataStore } from "../../../src/stores/data-store.ts";
import { type LocalStore, SQLITE } from "../../stores/local-stores.ts";
import { KeptLibsqlStore } from "../../support/kept-libsql.ts";
import { describeTable } from "./table.ts";

// One store of each runtime, because they differ in their driver alone, and each row takes as long as its story. What
// is told is decided above the store, whose ledger has its contract.
const make: LocalStore["make"] =
  SQLITE.whyMissing === null ? SQLITE.make : (path, options) => new KeptLibsqlStore(path, options);
describeTable("SqlDataStore", (options) => lasting(make(":memory:", options)), 3);

/** A store that keeps its memory for as long as the test, also while all of its schedulers are stopped. */
function lasting(store: DataStore): DataStore {
  const close = store.close.bind(store);
  onTestFinished(close);
  store.close = async () => {};
  return store;
}
