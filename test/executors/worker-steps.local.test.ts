import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../src/core/logger.ts";
import type { JobExecutor } from "../../src/executors/job-executor.ts";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import { Scheduler } from "../../src/scheduler/scheduler-with-store.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { take } from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";

const THREAD = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const PROCESS = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const TASKS = new URL("./step-tasks.ts", import.meta.url);
const RETRY = { retry: { maxAttempts: 2, backoff: { initial: "PT0S" } } } as const;

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(THREAD, PROCESS, TASKS);
});
afterAll(() => modules.remove());

const KINDS = [
  {
    name: "threads",
    make: () => new WorkerExecutor({ module: modules.url(TASKS), entry: modules.url(THREAD), maxWorkers: 1 }),
  },
  {
    name: "processes",
    make: () => new ProcessExecutor({ module: modules.url(TASKS), entry: modules.url(PROCESS), maxWorkers: 1 }),
  },
];

describe.each(KINDS)("Steps of handlers in $name", ({ make }) => {
  /** One worker for most tests, because nothing here costs more than starting one. */
  let workers: JobExecutor;
  beforeAll(async () => {
    const made = make();
    await made.open();
    // A scheduler opens and closes its executors.
    const nothing = async (): Promise<void> => {};
    workers = new Proxy(made, {
      get: (target, key) => {
        if (key === "open" || key === "close") return nothing;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return () => made.close();
  });

  async function started(dataStore: DataStore = new MemoryDataStore()): Promise<Scheduler> {
    const scheduler = new Scheduler({ executors: { workers }, logger: silentLogger, dataStore });
    onTestFinished(() => scheduler.stop({ drainTimeout: { seconds: 0 } }));
    for (const id of ["records", "wrong", "prepares", "exits", "aborted", "loses", "lies"]) {
      scheduler.task(id, { executor: "workers", ...(id === "records" ? RETRY : {}) });
    }
    await scheduler.start();
    return scheduler;
  }

  /** The first note of a handler from a fraction on. */
  function noted(scheduler: Scheduler, from: number): Promise<string | null> {
    return new Promise((resolve) => {
      scheduler.subscribe("jobProgressed", ({ fraction, note }) => {
        if (fraction >= from) resolve(note);
      });
    });
  }

  test("are recorded, and jobs go on from them, sleep, and are put off", async () => {
    const scheduler = await started();
    expect(await scheduler.runJob("records", { payload: 3 })).toEqual([{ attempt: 1 }, [3, true], 2, 0]);
    expect(await scheduler.runJob("records", { payload: 7 })).toEqual([{ attempt: 1 }, [0, true], 1, 2]);
    const job = await scheduler.addJob("records", { payload: 9 });
    await job.wait();
    const steps = (await job.steps()).map(({ name, state, attempts }) => [name, state, attempts]);
    expect(steps).toEqual([
      ["first", "ended", 1],
      ["loop", "ended", 1],
      ["settle", "ended", 0],
    ]);
  });

  test("say what is wrong with them", async () => {
    const scheduler = await started();
    expect(await scheduler.runJob("wrong")).toEqual([
      expect.stringMatching(/^StepError: step "a" .* came before/),
      expect.stringMatching(/^StepError: step "c" .* began within another step/),
      expect.stringMatching(
        /^StoreRefusedError: prepare\(\) of a step needs .* a MemoryDataStore has no such database/,
      ),
      expect.stringMatching(/^SerializationError: the value of step "e" cannot be stored: .*list\[0\]/),
      expect.stringMatching(/^StepError: the value of step "f" is too large/),
    ]);
  });

  test("get the statements that record them in a transaction of their own", async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const scheduler = await started(new LibsqlDataStore({ url: `file:${join(folder.path, "jobs.db")}` }));
    const job = await scheduler.addJob("prepares");
    const { value, statements } = (await job.wait()) as {
      value: unknown;
      statements: { sql: string; args: unknown[] }[];
    };
    expect(value).toEqual({ booked: 3 });
    expect(statements[0]?.sql).toMatch(/^INSERT INTO escapement_job_steps /);
    expect(statements[0]?.args).toEqual(expect.arrayContaining([job.id, "book", '{"booked":3}']));
    await scheduler.stop();
  });

  test("go on from their cursor where the worker has ended", async () => {
    const scheduler = await started();
    expect(await scheduler.runJob("exits", { payload: 3 })).toEqual([3, 2]);
  });

  test("end once their job is cancelled, and what they save within the grace counts", async () => {
    const scheduler = await started();
    const [waits, said] = [noted(scheduler, 0.1), noted(scheduler, 0.9)];
    const job = await scheduler.addJob("aborted");
    await waits;
    await job.cancel();
    const cancelled = `JobCancelledError: job ${job.id} was cancelled`;
    expect(await said).toBe([cancelled, cancelled, cancelled, true].join("; "));
    await expect(job.wait()).rejects.toMatchObject({ code: "jobCancelled" });
    expect((await job.steps()).map(({ name, cursor }) => [name, cursor])).toEqual([["waits", 2]]);
  });

  test("write nothing for a job that another scheduler has by now, and abort the signal", async () => {
    const store = new MemoryDataStore();
    const save = store.saveJobStep.bind(store);
    store.saveJobStep = async (one) => {
      const queues = [{ executor: "workers", taskId: "loses" }];
      if (one.step.cursor === "2") await take(store, { now: one.now + 600_000, by: "other", queues });
      return save(one);
    };
    const scheduler = await started(store);
    const said = noted(scheduler, 0.9);
    const job = await scheduler.addJob("loses");
    const lost = `LeaseLostError: the lease of job ${job.id} was lost`;
    expect(await said).toBe([lost, lost, true].join("; "));
    const { acquiredBy, fence } = (await store.getJob(job.id)) ?? {};
    expect([acquiredBy, fence]).toEqual(["other", 2]);
    expect(await store.getJobSteps(job.id, 0)).toMatchObject([{ name: "loop", cursor: "1", endedAt: null }]);
  });

  test("are not written by messages that are no steps", async () => {
    const scheduler = await started();
    const job = await scheduler.addJob("lies");
    expect(await job.wait()).toBe("kept");
    expect((await job.steps()).map(({ name }) => name)).toEqual(["real"]);
  });
});
