import { afterAll, beforeAll, describe, test } from "vitest";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import { jobExecutorContract } from "../../src/testing/job-executor-contract.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";

const ENTRY = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const CONTRACT = new URL("./contract-tasks.ts", import.meta.url);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(ENTRY, CONTRACT);
});
afterAll(() => modules.remove());

describe("WorkerExecutor keeps the contract:", () => {
  for (const { name, run } of jobExecutorContract) {
    test(`${name}`, () => run({ make: () => makeExecutor() }));
  }
});

function makeExecutor(): WorkerExecutor {
  return new WorkerExecutor({ module: modules.url(CONTRACT), entry: modules.url(ENTRY), maxWorkers: 2 });
}
