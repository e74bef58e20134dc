import { onTestFinished, test } from "vitest";
import type { DataStore } from "../../../src/stores/data-store.ts";
import { LOCAL_STORES } from "../../stores/local-stores.ts";
import { describeTable } from "./table.ts";

for (const { name, whyMissing, make } of LOCAL_STORES) {
  if (whyMissing === null) describeTable(name, (options) => lasting(make(":memory:", options)));
  else test(`over a ${name}, explain tells the same`, ({ skip }) => skip(whyMissing));
}

/** A store that keeps its memory for as long as the test, also while all of its schedulers are stopped. */
function lasting(store: DataStore): DataStore {
  const close = store.close.bind(store);
  onTestFinished(close);
  store.close = async () => {};
  return store;
}
