import { describe, expect, test } from "vitest";
import { JobLogs } from "../../src/stores/memory/logs-of-jobs.ts";
import { Results } from "../../src/stores/memory/results.ts";
import { StepsOfJobs } from "../../src/stores/memory/steps-of-jobs.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { makeJob, makeResult } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { titleOf } from "./contract-title.ts";

describe("MemoryDataStore keeps the contract", () => {
  for (const { name, rules, run } of dataStoreContract) {
    test(titleOf(rules, name), ({ skip }) => run({ open: async () => new MemoryDataStore(), skip }));
  }
});

describe("A result that a MemoryDataStore keeps", () => {
  test("cannot be changed through the parents that it was given or that it shows", () => {
    const results = new Results(new StepsOfJobs(), new JobLogs());
    const after = ["first", "second"];
    const result = makeResult(makeJob({ after }));
    results.keep(result);
    after.push("given");
    const shown = results.get(result.jobId, result.finishedAt)?.job?.after ?? [];
    expect(() => (shown as string[]).push("shown")).toThrow(TypeError);
    expect(results.get(result.jobId, result.finishedAt)?.job?.after).toEqual(["first", "second"]);
  });
});
