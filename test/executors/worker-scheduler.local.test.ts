import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../src/core/logger.ts";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import { Scheduler } from "../../src/scheduler/scheduler-with-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";

const ENTRY = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const PROCESS = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const TASKS = new URL("./pool-tasks.ts", import.meta.url);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(ENTRY, PROCESS, TASKS);
});
afterAll(() => modules.remove());

describe("A scheduler whose handlers run in threads", () => {
  let threads: WorkerExecutor;
  let scheduler: Scheduler;
  beforeEach(async () => {
    const abortGrace = { milliseconds: 20 };
    threads = new WorkerExecutor({ module: modules.url(TASKS), entry: modules.url(ENTRY), maxWorkers: 2, abortGrace });
    scheduler = new Scheduler({ executors: { threads }, logger: silentLogger });
  });
  afterEach(() => scheduler.stop({ drainTimeout: { seconds: 0 } }));

  test("runs tasks that have no handler in its own thread", async () => {
    scheduler.task("context", { executor: "threads" });
    await scheduler.start();
    expect(await scheduler.runJob("context", { payload: { a: 1 }, metadata: { owner: "ada" } })).toMatchObject({
      ...{ taskId: "context", payload: { a: 1 }, given: { a: 1 }, metadata: { owner: "ada" } },
      ...{ attempt: 1, isCurrent: true },
    });
  });

  test("gives handlers the results of the jobs before theirs", async () => {
    scheduler.task("echo", { executor: "threads" });
    scheduler.task("fails", () => {
      throw new TypeError("no");
    });
    scheduler.task("parents", { executor: "threads" });
    await scheduler.start();
    const value = { ids: [1, 2], of: null };
    const after = [await scheduler.addJob("echo", { payload: value }), await scheduler.addJob("fails")];
    expect(await scheduler.runJob("parents", { after, onParentFailure: "run" })).toEqual([
      [
        ["success", value, value],
        ["error", null, null],
      ],
      2,
      [null, "no"],
    ]);
  });

  test("ends a job at its timeout that never ends a turn", async () => {
    scheduler.task("spin", { executor: "threads", timeout: { milliseconds: 50 } });
    scheduler.task("echo", { executor: "threads" });
    await scheduler.start();
    await expect(scheduler.runJob("spin")).rejects.toMatchObject({ code: "jobTimeout" });
    expect(await scheduler.runJob("echo", { payload: 1 })).toBe(1);
  });

  test("ends a job that is cancelled, although it never ends a turn", async () => {
    scheduler.task("spinUntilAborted", { executor: "threads" });
    await scheduler.start();
    const reported = new Promise((resolve) => scheduler.subscribe("jobProgressed", resolve));
    const job = await scheduler.addJob("spinUntilAborted");
    await reported;
    await job.cancel();
    await expect(job.wait()).rejects.toMatchObject({ code: "jobCancelled" });
  });

  test("recovers a job whose thread is lost, up to maxRecoveries", async () => {
    scheduler.task("exit", { executor: "threads", maxRecoveries: 1 });
    await scheduler.start();
    const job = await scheduler.addJob("exit", { payload: 1 });
    await expect(job.wait()).rejects.toMatchObject({ code: "jobAbandoned" });
    const result = await job.result();
    expect(result?.attempts).toBe(2);
    expect(result?.error?.cause).toMatchObject({
      name: "WorkerLostError",
      message: expect.stringMatching(/it exited with code 1$/),
    });
    expect(result?.attemptHistory).toMatchObject([1, 2].map((number) => ({ number, error: { code: "workerLost" } })));
  });

  test("takes no recovery from a job for which no thread can be started, and runs it once one can", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const path = join(folder.path, "tasks.mjs");
    const write = (text: string): Promise<void> => writeFile(path, text);
    const tasksText = `export const tasks = {
      exit: { handler: () => process.exit(1) }, echo: { handler: (payload) => payload } };`;
    await write(tasksText);
    const processes = new ProcessExecutor({ module: pathToFileURL(path), entry: modules.url(PROCESS), maxWorkers: 1 });
    const failures: unknown[] = [];
    let mended: Promise<void> | undefined;
    // It is mended after its second failure: then a job has been given back.
    const warn = (message: string): void => {
      if (message.includes("cannot be started") && failures.push(message) === 2) mended = write(tasksText);
    };
    await using other = new Scheduler({ executors: { processes }, logger: { ...silentLogger, warn } });
    for (const id of ["exit", "echo"]) other.task(id, { executor: "processes", maxRecoveries: 0 });
    await other.start();
    await write('throw new Error("half written");');
    await expect(other.runJob("exit")).rejects.toMatchObject({ code: "jobAbandoned" });
    const job = await other.addJob("echo", { payload: 1 });
    expect(await job.wait()).toBe(1);
    await mended;
    expect([failures.length, (await job.result())?.attempts]).toEqual([2, 1]);
  });

  test("leaves no thread when it stops, whatever they do", async () => {
    scheduler.task("spin", { executor: "threads" });
    await scheduler.start();
    await scheduler.addJob("spin");
    await scheduler.stop({ drainTimeout: { seconds: 0 } });
    expect(threads.workerCount).toBe(0);
  });
});
