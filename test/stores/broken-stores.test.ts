import { describe, expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { ContractViolation, dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { brokenChains } from "./broken/chains.ts";
import { brokenCommits } from "./broken/commits.ts";
import { brokenFlow } from "./broken/flow.ts";
import { brokenInspections } from "./broken/inspections.ts";
import { brokenJobLogs } from "./broken/job-logs.ts";
import { brokenJobSteps } from "./broken/job-steps.ts";
import { brokenLeases } from "./broken/leases.ts";
import { brokenLedgers } from "./broken/ledgers.ts";
import { brokenLabels, brokenLists } from "./broken/lists.ts";
import { brokenLooks } from "./broken/looks.ts";
import { brokenNotices } from "./broken/notices.ts";
import { brokenOverlaps } from "./broken/overlaps.ts";
import { brokenPlans } from "./broken/plans.ts";
import { brokenRecords } from "./broken/records.ts";
import { brokenResults } from "./broken/results.ts";
import { brokenTasks } from "./broken/tasks.ts";
import { brokenWindows } from "./broken/windows.ts";
import { brokenZones } from "./broken/zones.ts";

// Each of these stores is wrong in one way. A contract that lets one pass proves nothing.
const BROKEN_STORES = [
  ...brokenRecords,
  ...brokenLeases,
  ...brokenJobSteps,
  ...brokenJobLogs,
  ...brokenLooks,
  ...brokenPlans,
  ...brokenOverlaps,
  ...brokenCommits,
  ...brokenTasks,
  ...brokenInspections,
  ...brokenResults,
  ...brokenLists,
  ...brokenLabels,
  ...brokenFlow,
  ...brokenChains,
  ...brokenWindows,
  ...brokenLedgers,
  ...brokenZones,
  ...brokenNotices,
];

/** The name of the first case of a section that a store fails. */
async function firstFailure(Store: new () => DataStore, section: string): Promise<string | null> {
  for (const { name, run } of dataStoreContract) {
    if (!name.startsWith(section)) continue;
    try {
      await run({ open: async () => new Store() });
    } catch (error) {
      if (!(error instanceof ContractViolation)) throw error;
      return name;
    }
  }
  return null;
}

describe("the contract catches a store that", () => {
  test("nothing is wrong with, not at all", async () => {
    expect(await firstFailure(MemoryDataStore, "")).toBeNull();
  });
  for (const { Store, caughtBy } of BROKEN_STORES) {
    const sentence = Store.name.replace(/(?<=[a-z])[A-Z]|(?<=A)[A-Z]/g, " $&").toLowerCase();
    test(sentence, async () => {
      expect(await firstFailure(Store, caughtBy)).not.toBeNull();
    });
  }
});
