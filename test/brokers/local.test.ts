import { describe, test } from "vitest";
import { LocalEventBroker } from "../../src/brokers/local.ts";
import { eventBrokerContract } from "../../src/testing/event-broker-contract.ts";

describe("LocalEventBroker keeps the contract:", () => {
  for (const { name, run } of eventBrokerContract) test(`${name}`, () => run({ make: () => new LocalEventBroker() }));
});
