import { afterAll, beforeAll, describe, test } from "vitest";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { jobExecutorContract } from "../../src/testing/job-executor-contract.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";

const ENTRY = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const CONTRACT = new URL("./contract-tasks.ts", import.meta.url);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(ENTRY, CONTRACT);
});
afterAll(() => modules.remove());

describe("ProcessExecutor keeps the contract:", () => {
  for (const { name, run } of jobExecutorContract) {
    test(`${name}`, () => run({ make: () => makeExecutor() }));
  }
});

function makeExecutor(): ProcessExecutor {
  const [module, entry] = [modules.url(CONTRACT), modules.url(ENTRY)];
  // One process for each case, because processes cost more than anything else here.
  return new ProcessExecutor({ module, entry, maxWorkers: 1, jobsPerWorker: 8 });
}
