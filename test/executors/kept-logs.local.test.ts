import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLogger } from "../../src/core/logger.ts";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import { Scheduler } from "../../src/mod.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";

const THREAD = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const PROCESS = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const TASKS = new URL("./pool-tasks.ts", import.meta.url);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(THREAD, PROCESS, TASKS);
});
afterAll(() => modules.remove());

describe.each([
  ["a thread", () => new WorkerExecutor({ module: modules.url(TASKS), entry: modules.url(THREAD), maxWorkers: 1 })],
  ["a process", () => new ProcessExecutor({ module: modules.url(TASKS), entry: modules.url(PROCESS), maxWorkers: 1 })],
])("what a handler logs in %s", (_where, newExecutor) => {
  test("is kept with the job", async () => {
    await using scheduler = new Scheduler({ logger: silentLogger, executors: { away: newExecutor() } });
    scheduler.task("logs", { executor: "away", keepLogs: {} });
    await scheduler.start();
    const job = await scheduler.addJob("logs");
    await job.wait();
    const [log] = await scheduler.getJobLogs(job.id);
    expect(log?.lines.map(({ level, fields }) => [level, fields])).toEqual([
      ["debug", { size: 1, of: [true, null], values: ["text"] }],
      ["warn", { error: expect.objectContaining({ name: "RangeError", message: "too far" }) }],
      ["info", null],
      ["error", { values: ["Symbol(one)"] }],
    ]);
  });
});
