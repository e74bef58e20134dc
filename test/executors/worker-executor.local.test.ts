import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HandlerLookupError, JobTimeoutError, StoreUnavailableError } from "../../src/core/errors.ts";
import { silentLogger } from "../../src/core/logger.ts";
import type { JobCall } from "../../src/executors/job-executor.ts";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import type { WorkerExecutorOptions } from "../../src/executors/worker/worker-options.ts";
import { serveTasks } from "../../src/task-server/serve-tasks.ts";
import { makeJob, makeResult } from "../../src/testing/data-store-contract/makers.ts";
import { jobExecutorContract } from "../../src/testing/job-executor-contract.ts";
import { jobExecutorHandlers } from "../../src/testing/job-executor-handlers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { bundledModule, type WorkerModules, workerModules } from "../support/worker-modules.ts";
import { makeCall, outcomeOf } from "./calls.ts";

const ENTRY = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const CONTRACT = new URL("./contract-tasks.ts", import.meta.url);
const TASKS = new URL("./pool-tasks.ts", import.meta.url);
const isNode = !("Deno" in globalThis || "Bun" in globalThis);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(ENTRY, CONTRACT, TASKS);
});
afterAll(() => modules.remove());

function makeExecutor(options: Partial<WorkerExecutorOptions> = {}): WorkerExecutor {
  return new WorkerExecutor({ module: modules.url(TASKS), entry: modules.url(ENTRY), maxWorkers: 2, ...options });
}

/** Opens an executor, and closes it after the work. */
async function withExecutor<T>(
  options: Partial<WorkerExecutorOptions>,
  work: (executor: WorkerExecutor) => Promise<T>,
): Promise<T> {
  const executor = makeExecutor(options);
  try {
    await executor.open();
    return await work(executor);
  } finally {
    await executor.close();
  }
}

/** Aborts a call once its handler has reported, so that the handler surely runs. */
async function abortedWhileRunning(executor: WorkerExecutor, taskId: string, reason: Error): Promise<unknown> {
  const abort = new AbortController();
  const progress = (): void => abort.abort(reason);
  return outcomeOf(executor.execute(makeCall(taskId, null, { signal: abort.signal, progress })));
}

/** A call that can be aborted, with how long it may still take in milliseconds, as often as one likes. */
function callWithGrace(taskId: string, reason: Error): { call: JobCall; abort(graceMs: number): void } {
  let listener: ((reason: unknown, graceMs: number) => void) | null = null;
  const onAbort: NonNullable<JobCall["onAbort"]> = (listen) => {
    listener = listen;
    return () => {
      listener = null;
    };
  };
  return { call: { ...makeCall(taskId), onAbort }, abort: (graceMs) => listener?.(reason, graceMs) };
}

describe("WorkerExecutor keeps the contract:", () => {
  for (const { name, run } of jobExecutorContract) {
    test(`${name}`, () => run({ make: () => makeExecutor({ module: modules.url(CONTRACT) }) }));
  }
});

describe("A handler in a thread", () => {
  test("gets the job, the facts of the attempt and its payload, and is the current job", () =>
    withExecutor({}, async (executor) => {
      const job = { id: "j1", metadata: { owner: "ada" } };
      const call = makeCall("context", { a: [1] }, { job, attempt: 3, fence: 7, idempotencyKey: "k" });
      expect(await executor.execute(call)).toEqual({
        ...{ id: "j1", taskId: "context", payload: { a: [1] }, metadata: { owner: "ada" }, given: { a: [1] } },
        ...{ attempt: 3, fence: 7, idempotencyKey: "k", isCurrent: true },
      });
    }));

  test("reports its progress in order, the last report before its end", () =>
    withExecutor({}, async (executor) => {
      const reports: unknown[] = [];
      const progress = (...report: unknown[]): unknown => reports.push(report);
      await executor.execute(makeCall("steps", 500, { progress }));
      expect(reports[0]).toEqual([1 / 500, "step 1"]);
      expect(reports.at(-1)).toEqual([1, "step 500"]);
    }));

  test("is told of a progress that is none", () =>
    withExecutor({}, async (executor) => {
      await expect(executor.execute(makeCall("badProgress"))).rejects.toThrow(
        "progress(): fraction must be a number from 0 to 1; got 50: write 0.5 for 50 %",
      );
    }));

  test("logs lines with their level, their data and their errors, cut where they are long", () =>
    withExecutor({}, async (executor) => {
      const lines: unknown[] = [];
      const at =
        (level: string) =>
        (...line: unknown[]): unknown =>
          lines.push([level, ...line]);
      const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
      await executor.execute(makeCall("logs", null, { logger }));
      expect(lines).toEqual([
        ["debug", "a line", { size: 1, of: [true, null] }, "text"],
        ["warn", "it failed", new RangeError("too far")],
        ["info", `${"long ".repeat(10_000).slice(0, 16_384)}…`],
        ["error", "a symbol", "Symbol(one)"],
      ]);
    }));

  test("may log what throws when it is looked at", () =>
    withExecutor({}, async (executor) => {
      const lines: unknown[] = [];
      const logger = { ...silentLogger, info: (...line: unknown[]): unknown => lines.push(line) };
      expect(await executor.execute(makeCall("logsHostile", null, { logger }))).toBe("logged");
      expect(lines).toEqual([["a proxy", "a value that cannot be read"]]);
    }));

  test("sends as much of a note as is kept", () =>
    withExecutor({}, async (executor) => {
      const notes: unknown[] = [];
      const progress = (_: number, note?: string): unknown => notes.push(note);
      await executor.execute(makeCall("longNote", null, { progress }));
      expect(notes).toEqual([`${"n".repeat(997)}...`]);
    }));

  test("logs only so many lines in a second, and says how many were dropped", () =>
    withExecutor({}, async (executor) => {
      const texts: string[] = [];
      const info = (text: string): unknown => texts.push(text);
      const warn = info;
      const logger = { debug: info, info, warn, error: info };
      await executor.execute(makeCall("logsForEver", 50_000, { logger }));
      const dropped = texts.flatMap((text) => /escapement: (\d+) lines/.exec(text)?.[1] ?? []).map(Number);
      const shown = texts.filter((text) => text === "a line").length;
      expect(dropped.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(50_000 - shown);
      expect(shown).toBeLessThan(50_000);
    }));

  test.each(["scheduler", "cancelItself"])("is told that there is no scheduler: %s", (taskId) =>
    withExecutor({}, async (executor) => {
      expect(await outcomeOf(executor.execute(makeCall(taskId)))).toEqual({
        error: "SchedulerStateError",
        class: "SchedulerStateError",
        code: "schedulerState",
      });
    }),
  );

  test("gets no results of jobs before, where there are none", () =>
    withExecutor({}, async (executor) => {
      expect(await executor.execute(makeCall("parents"))).toEqual([[], 0, []]);
    }));

  test.each<[string, Partial<JobCall>, string]>([
    [
      "when the store is away",
      { getParentResults: () => Promise.reject(new StoreUnavailableError("away")) },
      "storeUnavailable",
    ],
    [
      "in another form than JSON",
      { getParentResults: async () => [null, makeResult(makeJob(), { returnValue: "?" })] },
      "deserialization",
    ],
    ["from who cannot read them", {}, "schedulerState"],
  ])("is told why it gets no results of jobs before: %s", (_, facts, code) =>
    withExecutor({}, async (executor) => {
      const call = makeCall("parents", null, { ...facts, job: { after: ["a", "b"] } });
      expect(await outcomeOf(executor.execute(call))).toMatchObject({ code });
      expect(await executor.execute(makeCall("echo", 1))).toBe(1);
    }),
  );

  test("learns how the last run ended, and the fire time before, where somebody can read it", () =>
    withExecutor({}, async (executor) => {
      const facts: Partial<JobCall> = {
        getLastRun: async () => ({ outcome: "error", finishedAt: 1000 }),
        getPreviousFireTime: async () => ({ at: 0, timeZone: "Asia/Tokyo" }),
      };
      const of = (call: object): Promise<unknown> => outcomeOf(executor.execute(makeCall("scheduleFacts", null, call)));
      expect(await of({ ...facts, job: { scheduleId: "s" } })).toEqual({
        value: ["error", "1970-01-01T00:00:01Z", "1970-01-01T09:00:00+09:00[Asia/Tokyo]"],
      });
      expect(await of(facts)).toEqual({ value: [null, null, null] });
      const nothing = { getLastRun: async () => null, getPreviousFireTime: async () => null };
      expect(await of({ ...nothing, job: { scheduleId: "s" } })).toEqual({ value: [null, null, null] });
      expect(await of({ job: { scheduleId: "s" } })).toMatchObject({ code: "schedulerState" });
      const away = { ...facts, getPreviousFireTime: () => Promise.reject(new StoreUnavailableError("away")) };
      expect(await of({ ...away, job: { scheduleId: "s" } })).toMatchObject({ code: "storeUnavailable" });
    }));

  test("throws errors that keep their class, name, code, facts and causes", () =>
    withExecutor({}, async (executor) => {
      const of = (taskId: string): Promise<unknown> => outcomeOf(executor.execute(makeCall(taskId)));
      expect(await of("nonRetryable")).toEqual({
        error: "NonRetryableError",
        class: "NonRetryableError",
        code: "nonRetryable",
      });
      expect(await of("coded")).toEqual({ error: "Error", class: "Error", code: "ENOENT" });
      const options = await executor.execute(makeCall("options")).catch((error: unknown) => error);
      expect(options).toMatchObject({ code: "options", issues: [{ path: "a.b", message: "must be text" }] });
      const error = await executor.execute(makeCall("nonRetryable")).catch((thrown: unknown) => thrown);
      expect((error as Error).cause).toEqual(new RangeError("deeper"));
    }));

  test("sees its abort even in a loop that never ends a turn", () =>
    withExecutor({ abortGrace: { milliseconds: 4999 } }, async (executor) => {
      const before = await executor.execute(makeCall("worker"));
      for (const taskId of ["spinUntilAborted", "throwIfAborted"]) {
        expect(await abortedWhileRunning(executor, taskId, new JobTimeoutError("too long"))).toEqual({
          error: "JobTimeoutError",
          class: "JobTimeoutError",
          code: "jobTimeout",
        });
      }
      expect(await executor.execute(makeCall("worker"))).toBe(before);
    }));

  test("gets the reason of its abort as an error of ours", () =>
    withExecutor({}, async (executor) => {
      expect(await abortedWhileRunning(executor, "waitsForAbort", new JobTimeoutError("too long"))).toEqual({
        error: "JobTimeoutError",
        class: "JobTimeoutError",
        code: "jobTimeout",
      });
    }));

  test("has the environment that the executor was given", () =>
    withExecutor({ env: { SHAPE: "round" } }, async (executor) => {
      expect(await executor.execute(makeCall("environment", "SHAPE"))).toBe("round");
      expect(await executor.execute(makeCall("environment", "PATH"))).toBe(null);
    }));
});

describe("A thread", () => {
  test("is killed when its handler ignores the abort, and another one takes its place", () =>
    withExecutor({ maxWorkers: 1, abortGrace: { milliseconds: 20 } }, async (executor) => {
      const reason = new JobTimeoutError("too long");
      const abort = new AbortController();
      const spinning = executor.execute(makeCall("spin", null, { signal: abort.signal }));
      const next = executor.execute(makeCall("echo", "next"));
      abort.abort(reason);
      await expect(spinning).rejects.toBe(reason);
      expect(await next).toBe("next");
    }));

  test("is killed within the time that the attempt has left, also when that time becomes shorter", () =>
    withExecutor({ abortGrace: { milliseconds: 2000 } }, async (executor) => {
      const ended: string[] = [];
      const calls = ["slow", "fast"].map((name) => {
        const { call, abort } = callWithGrace("spin", new Error(name));
        const work = executor.execute(call).catch(({ message }: Error) => ended.push(message));
        return { abort, work };
      });
      for (const { abort } of calls) abort(Number.POSITIVE_INFINITY);
      calls[1]?.abort(0);
      await Promise.all(calls.map(({ work }) => work));
      expect(ended).toEqual(["fast", "slow"]);
    }));

  test.each([
    ["exits", "exit", 7],
    ["throws where nobody catches", "crash", null],
  ])("that %s is lost with its job, and others go on", (_, taskId, payload) =>
    withExecutor({}, async (executor) => {
      const long = abortableCall();
      const other = executor.execute(long.call);
      const lost = executor.execute(makeCall(taskId, payload, { job: { id: "j1" } }));
      await expect(lost).rejects.toThrow(`the thread that ran job j1 of task "${taskId}" ended before the job: it `);
      await expect(lost).rejects.toMatchObject({ code: "workerLost" });
      long.abort();
      await expect(other).rejects.toThrow("enough");
      expect(await executor.execute(makeCall("echo", 1))).toBe(1);
    }),
  );

  test("that needs more memory than its limit is lost with its job", async ({ skip }) => {
    if (!isNode) skip("Node alone limits the memory of threads");
    await withExecutor({ maxWorkers: 1, resourceLimits: { maxOldGenerationSizeMb: 32 } }, async (executor) => {
      await expect(executor.execute(makeCall("outOfMemory"))).rejects.toMatchObject({
        code: "workerLost",
        cause: { code: "ERR_WORKER_OUT_OF_MEMORY" },
      });
      expect(await executor.execute(makeCall("echo", 1))).toBe(1);
    });
  });

  test("is renewed after maxJobsPerWorker jobs", () =>
    withExecutor({ maxWorkers: 1, maxJobsPerWorker: 2 }, async (executor) => {
      const workers: unknown[] = [];
      for (let job = 0; job < 5; job++) workers.push(await executor.execute(makeCall("worker")));
      const [a, , b, , c] = workers;
      expect(workers).toEqual([a, a, b, b, c]);
      expect(new Set(workers).size).toBe(3);
    }));

  test("counts in the capacity before it has started, with the jobs that it may still run", () =>
    withExecutor({ maxWorkers: 3, jobsPerWorker: 5, maxJobsPerWorker: 2 }, async (executor) => {
      expect([executor.workerCount, executor.capacity]).toEqual([1, 6]);
      const work = [1, 2, 3].map(() => executor.execute(makeCall("later")));
      expect(executor.capacity).toBe(3);
      // From here on, because the room may be there again before the last job settles.
      const hasRoom = new Promise<void>((resolve) => {
        const end = executor.onCapacity(() => {
          if (executor.capacity < 5) return;
          end();
          resolve();
        });
      });
      await Promise.all([...work, hasRoom]);
    }));

  test("ends when it has nothing to do, and comes back when it has", () =>
    withExecutor({ idleTimeout: { milliseconds: 10 } }, async (executor) => {
      await executor.execute(makeCall("echo", 1));
      await vi.waitUntil(() => executor.workerCount === 0, { timeout: 60_000 });
      expect(await executor.execute(makeCall("echo", 2))).toBe(2);
    }));

  test("stays when there are not more than minWorkers", () =>
    withExecutor({ idleTimeout: { milliseconds: 10 }, minWorkers: 1, maxWorkers: 3 }, async (executor) => {
      await Promise.all([1, 2, 3].map(() => executor.execute(makeCall("later"))));
      await vi.waitUntil(() => executor.workerCount === 1, { timeout: 60_000 });
      expect(await executor.execute(makeCall("echo", 2))).toBe(2);
    }));
});

describe("A WorkerExecutor", () => {
  test("says which tasks it has handlers for", () =>
    withExecutor({ module: modules.url(CONTRACT) }, async (executor) => {
      expect(executor.taskIds).toEqual(Object.keys(jobExecutorHandlers));
    }));

  test("takes a module that a bundler made, with its own copy of the library", async () => {
    const bundled = await bundledModule(TASKS);
    await withExecutor({ module: bundled.url }, async (executor) => {
      expect(await executor.execute(makeCall("context", 1))).toMatchObject({ given: 1, isCurrent: true });
      expect(await outcomeOf(executor.execute(makeCall("nonRetryable")))).toMatchObject({ code: "nonRetryable" });
    });
    await bundled.remove();
  });

  test("refuses a task that its module has no handler for", () =>
    withExecutor({}, async (executor) => {
      for (const taskId of ["elsewhere", "constructor", "__proto__"]) {
        await expect(executor.execute(makeCall(taskId))).rejects.toThrow(HandlerLookupError);
      }
    }));

  test("refuses a payload or a value that the data store's serializer refuses, and runs on", () =>
    withExecutor({}, async (executor) => {
      const others = [1, 2, 3].map((number) => executor.execute(makeCall("echo", number)));
      const payload = executor.execute({ ...makeCall("echo"), payload: { run: () => {} } });
      await expect(payload).rejects.toThrow("a value of type function at run cannot be carried");
      await expect(payload).rejects.toMatchObject({ code: "serialization" });
      const value = executor.execute(makeCall("function"));
      await expect(value).rejects.toThrow("what the handler returned cannot be stored: a value of type function");
      await expect(value).rejects.toMatchObject({ code: "serialization" });
      expect(await Promise.all(others)).toEqual([1, 2, 3]);
    }));

  test("runs hundreds of jobs at the same time", () =>
    withExecutor({ jobsPerWorker: 10 }, async (executor) => {
      const numbers = Array.from({ length: 500 }, (_, index) => index);
      const results = await Promise.all(numbers.map((number) => executor.execute(makeCall("later", number))));
      expect(results).toEqual(numbers);
    }));

  test("that is closed in the middle rejects what waits and what runs, and leaves no thread", async () => {
    const executor = makeExecutor({ maxWorkers: 1 });
    await executor.open();
    const started = new Signal();
    const running = outcomeOf(executor.execute(makeCall("spinUntilAborted", null, { progress: started.give })));
    const waiting = outcomeOf(executor.execute(makeCall("echo")));
    await started.given;
    await executor.close();
    expect(executor.workerCount).toBe(0);
    expect(await running).toMatchObject({ error: "WorkerLostError" });
    expect(await waiting).toMatchObject({ error: "SchedulerStateError" });
    expect(await outcomeOf(executor.execute(makeCall("echo")))).toMatchObject({ error: "SchedulerStateError" });
  });

  test("can be opened again after it was closed", async () => {
    const executor = makeExecutor();
    await executor.open();
    await executor.close();
    await executor.open();
    expect(await executor.execute(makeCall("echo", 1))).toBe(1);
    await executor.close();
  });

  test("ends its threads when it is disposed of", async () => {
    const executor = makeExecutor();
    {
      await using open = executor;
      await open.open();
    }
    expect(executor.workerCount).toBe(0);
  });

  test("rejects a call whose abort comes while it waits, and never runs it", () =>
    withExecutor({ maxWorkers: 1 }, async (executor) => {
      const long = abortableCall();
      const first = executor.execute(long.call).catch(() => {});
      const abort = new AbortController();
      const waiting = executor.execute(makeCall("exit", 1, { signal: abort.signal }));
      abort.abort(new Error("not any more"));
      await expect(waiting).rejects.toThrow("not any more");
      long.abort();
      await first;
      expect(await executor.execute(makeCall("echo", 1))).toBe(1);
    }));
});

describe("A module that cannot be used", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  let written = 0;
  /** Writes a module. */
  async function moduleOf(text: string): Promise<URL> {
    const path = join(folder.path, `tasks${++written}.mjs`);
    await writeFile(path, text);
    return pathToFileURL(path);
  }

  test.each([
    ["has wrong syntax", "export const tasks = ;", "cannot be imported: "],
    ["throws", "throw new Error('no database')", "cannot be imported: no database"],
    ["exports no tasks", "export const jobs = 1", "must export `tasks`, made by defineTasks(); it exports jobs"],
    ["exports something else", "export const tasks = 5", "its `tasks` must be an object; got 5"],
    ["has a task that is none", "export const tasks = { a: 5 }", 'task "a" must be a definition; got 5'],
    ["has no handlers", "export const tasks = { a: { handler: null } }", "has no task with a handler"],
  ])("because it %s fails open(), with the reason", async (_, text, message) => {
    const executor = makeExecutor({ module: await moduleOf(text) });
    const failure = await executor.open().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "options", issues: [{ path: "module" }] });
    expect((failure as Error).message).toContain(message);
    expect(executor.workerCount).toBe(0);
  });

  test("because it is missing fails open(), with its URL", async () => {
    await expect(makeExecutor({ module: "file:///nowhere/tasks.js" }).open()).rejects.toThrow(
      "WorkerExecutor.open(): module file:///nowhere/tasks.js cannot be imported: ",
    );
  });

  test("because it exits fails open(), with the reason", async () => {
    const module = await moduleOf('import process from "node:process"; process.exit(3);');
    const failure = await makeExecutor({ module })
      .open()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "workerLost" });
    expect((failure as Error).message).toContain(`WorkerExecutor: no thread with module ${module} can be started: it `);
  });

  test("because its import never ends fails open() after startTimeout", async () => {
    const module = await moduleOf("await new Promise((resolve) => setTimeout(resolve, 1e6));");
    const executor = makeExecutor({ module, startTimeout: { milliseconds: 50 } });
    const failure = await executor.open().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "workerLost" });
    expect(executor.workerCount).toBe(0);
  });

  test("any more fails jobs with the reason, until it can be used again", async () => {
    const mark = join(folder.path, "mark");
    const module = await moduleOf(`import { existsSync, writeFileSync } from "node:fs";
      import process from "node:process";
      if (existsSync(${JSON.stringify(mark)})) throw new Error("no more starts");
      writeFileSync(${JSON.stringify(mark)}, "");
      export const tasks = { exit: { handler: () => process.exit(1) }, echo: { handler: (payload) => payload } };`);
    await withExecutor({ module, maxWorkers: 1 }, async (executor) => {
      await expect(executor.execute(makeCall("exit"))).rejects.toThrow("ended before the job");
      for (const id of ["j1", "j2"]) {
        const failure = executor.execute(makeCall("echo", 1, { job: { id } }));
        await expect(failure).rejects.toThrow(`no thread can be started for job ${id} of task "echo": `);
        await expect(failure).rejects.toMatchObject({ code: "workerLost", cause: { code: "options" } });
        expect(executor.capacity).toBe(0);
      }
      await rm(mark);
      expect(await executor.execute(makeCall("echo", 2))).toBe(2);
    });
  });
});

describe("The options of a WorkerExecutor", () => {
  test.each([
    ["./tasks.ts", 'module must be the URL of a module; got "./tasks.ts"'],
    ["https://example.org/tasks.js", "module must be the URL of a module"],
  ])("take no %s", (module, message) => {
    expect(() => new WorkerExecutor({ module })).toThrow(message);
  });

  test("take no worker, which is for browsers, nor does serveTasks() work here", () => {
    const worker = (): never => {
      throw new Error("nobody makes it");
    };
    expect(() => new WorkerExecutor({ worker })).toThrow(
      "new WorkerExecutor(): worker is for browsers; on Node, Deno and Bun, pass module",
    );
    expect(() => serveTasks({ echo: { handler: () => {} } })).toThrow(
      "serveTasks() was called outside of a Web Worker: ",
    );
  });

  test("take no abortGrace that is as long as the scheduler's", () => {
    const make = (): unknown => new WorkerExecutor({ module: TASKS, abortGrace: { seconds: 5 } });
    expect(make).toThrow("abortGrace must be shorter than 5000 ms");
  });

  test("are named in what is wrong with them", () => {
    expect(() => new WorkerExecutor({ module: TASKS, maxWorker: 2 } as WorkerExecutorOptions)).toThrow(
      'new WorkerExecutor(): maxWorker is no option; did you mean "maxWorkers"?',
    );
  });
});

/** Something that happens once. */
class Signal {
  readonly given: Promise<void>;
  give: () => void = () => {};

  constructor() {
    this.given = new Promise((resolve) => {
      this.give = resolve;
    });
  }
}

function abortableCall(): { call: ReturnType<typeof makeCall>; abort(): void } {
  const controller = new AbortController();
  return {
    call: makeCall("waitsForAbort", null, { signal: controller.signal }),
    abort: () => controller.abort(new Error("enough")),
  };
}
