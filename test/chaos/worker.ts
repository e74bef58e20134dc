// One scheduler process of a chaos run: works until it is killed, or told to stop by SIGTERM.
import process from "node:process";
import { Scheduler } from "../../src/mod.ts";
import { type BrokerKind, makeBroker } from "./brokers.ts";
import { LEASE_MS, MAX_IDLE_MS } from "./settings.ts";
import { makeStore, type StoreKind } from "./stores.ts";
import { registerTasks } from "./tasks.ts";

const [kind = "", place = "", ledger = "", identity = "", brokerKind = "", brokerUrl = ""] = process.argv.slice(2);
const hasBroker = brokerKind !== "";
const scheduler = new Scheduler({
  dataStore: makeStore(kind as StoreKind, place),
  ...(hasBroker ? { eventBroker: makeBroker(brokerKind as BrokerKind, brokerUrl, Math.random) } : {}),
  identity,
  leaseDuration: { milliseconds: LEASE_MS },
  maxIdle: { milliseconds: hasBroker ? MAX_IDLE_MS.withBroker : MAX_IDLE_MS.withoutBroker },
  maxConcurrentJobs: 20,
});
registerTasks(scheduler, ledger);
process.once("SIGTERM", () => void scheduler.stop({ drainTimeout: { seconds: 2 } }));

// The store may be down right now: a start that fails is tried again, as a supervisor would.
for (;;) {
  try {
    await scheduler.start();
    break;
  } catch (error) {
    console.error(`${identity}: start failed, tried again`, error);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
await scheduler.runUntilStopped();
