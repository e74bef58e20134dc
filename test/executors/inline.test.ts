import { describe, test } from "vitest";
import { InlineExecutor } from "../../src/executors/inline.ts";
import { jobExecutorContract } from "../../src/testing/job-executor-contract.ts";

describe("InlineExecutor keeps the contract:", () => {
  for (const { name, run } of jobExecutorContract) test(`${name}`, () => run({ make: () => new InlineExecutor() }));
});
