import { describe, test } from "vitest";
import { InlineExecutor, LocalEventBroker, MemoryDataStore } from "../../src/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { eventBrokerContract } from "../../src/testing/event-broker-contract.ts";
import { jobExecutorContract } from "../../src/testing/job-executor-contract.ts";
import { titleOf } from "../stores/contract-title.ts";

const watched = () => {
  const parts = { dataStore: new MemoryDataStore(), eventBroker: new LocalEventBroker() };
  return new Metrics().watch({ ...parts, executors: { inline: new InlineExecutor() } });
};

describe("a watched store keeps the contract", () => {
  for (const { name, rules, run } of dataStoreContract)
    test(titleOf(rules, name), () => run({ open: async () => watched().dataStore }));
});

describe("a watched broker keeps the contract", () => {
  for (const { name, run } of eventBrokerContract) test(name, () => run({ make: () => watched().eventBroker }));
});

describe("a watched executor keeps the contract", () => {
  for (const { name, run } of jobExecutorContract) test(name, () => run({ make: () => watched().executors.inline }));
});
