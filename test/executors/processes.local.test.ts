import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobCall } from "../../src/executors/job-executor.ts";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import type { ProcessExecutorOptions } from "../../src/executors/process/process-options.ts";
import { Scheduler } from "../../src/mod.ts";
import { makeJob, makeResult } from "../../src/testing/data-store-contract/makers.ts";
import { Child } from "../support/child.ts";
import { ends, isRunning } from "../support/process-table.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";
import { makeCall } from "./calls.ts";

const ENTRY = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const TASKS = new URL("./process-tasks.ts", import.meta.url);
const PROGRAM = new URL("./process-program.ts", import.meta.url);
const LONELY_PROGRAM = new URL("./lonely-program.ts", import.meta.url);
/** How the present runtime runs a program. */
const RUN = process.versions.deno === undefined ? [process.execPath] : [process.execPath, "run", "-A", "--cached-only"];

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(ENTRY, TASKS, PROGRAM, LONELY_PROGRAM);
});
afterAll(() => modules.remove());

/** An open executor with one process at a time, unless the options say otherwise. */
async function openExecutor(options: Partial<ProcessExecutorOptions> = {}): Promise<ProcessExecutor> {
  const [module, entry] = [modules.url(TASKS), modules.url(ENTRY)];
  const executor = new ProcessExecutor({ module, entry, maxWorkers: 1, ...options });
  await executor.open();
  return executor;
}

/** Name and message of the error of a call. */
async function failureOf(executor: ProcessExecutor, call: JobCall): Promise<string> {
  return executor.execute(call).then(
    (value) => `resolved with ${JSON.stringify(value)}`,
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

/** A call that runs in a process now, with the id of the process. */
async function started(executor: ProcessExecutor, taskId: string, signal?: AbortSignal) {
  const { promise: reported, resolve } = resolvers<string>();
  const progress = (_: number, note?: string): void => resolve(note ?? "");
  const call = makeCall(taskId, null, { progress, ...(signal !== undefined && { signal }) });
  const failure = failureOf(executor, call);
  return { pid: Number(await reported), failure };
}

function resolvers<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

const LOST = (taskId: string, why: string): string =>
  `WorkerLostError: the process that ran job job of task "${taskId}" ended before the job: ${why}`;

describe("a process that is lost is replaced, and its job says so:", () => {
  test("after process.exit in a handler", async () => {
    await using executor = await openExecutor();
    const failure = await failureOf(executor, makeCall("exit", 7, { job: { id: "job" } }));
    expect([failure, await executor.execute(makeCall("echo", 1))]).toEqual([LOST("exit", "it exited with code 7"), 1]);
  });

  test("after kill -9", async () => {
    await using executor = await openExecutor();
    const { pid, failure } = await started(executor, "spinAfterProgress");
    process.kill(pid, "SIGKILL");
    expect(await failure).toMatch(
      /^WorkerLostError: .* it was ended by SIGKILL, by somebody's kill -9, or by a system without memory$/,
    );
    expect(await executor.execute(makeCall("echo", 2))).toBe(2);
  });

  test("when it runs out of memory", async ({ skip }) => {
    if (process.versions.bun !== undefined) skip("Bun has no limit of its memory");
    await using executor = await openExecutor({ execArgv: ["--max-old-space-size=60"] });
    expect(await failureOf(executor, makeCall("fill"))).toMatch(
      /^WorkerLostError: .* it was ended by SIG(ABRT|TRAP), because it reached its memory limit; .* out of memory/is,
    );
    expect(await executor.execute(makeCall("echo", 3))).toBe(3);
  });

  test("with the error that nobody caught, and the last lines of its standard error", async () => {
    await using executor = await openExecutor();
    const error = (await executor.execute(makeCall("complains")).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toMatch(/it exited with code 1; the last lines of its standard error: .*disk is full/s);
    expect(error.message).toContain("nobody catches this");
    expect(error.message).not.toMatch(/^ +at /m);
    // Deno says it in the output alone.
    if (process.versions.deno === undefined) expect(error.cause).toMatchObject({ name: "TypeError", status: 507 });
    expect(await executor.execute(makeCall("echo", 5))).toBe(5);
  });

  test("also when a process of its own lives on with its standard error", async () => {
    await using executor = await openExecutor();
    const { pid, failure } = await started(executor, "leavesChild");
    expect(await failure).toMatch(/it exited with code 4/);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  test("without an error that its module caught after all", async () => {
    await using executor = await openExecutor();
    const error = (await executor.execute(makeCall("catchesAll")).catch((thrown: unknown) => thrown)) as Error;
    expect([error.message, error.cause]).toEqual([expect.stringMatching(/it exited with code 6$/), undefined]);
  });

  test("when it ends its connection", async () => {
    await using executor = await openExecutor();
    expect(await failureOf(executor, makeCall("disconnect"))).toMatch(/^WorkerLostError: /);
    expect(await executor.execute(makeCall("echo", 4))).toBe(4);
  });

  test("while the jobs of other processes go on", async () => {
    await using executor = await openExecutor({ maxWorkers: 2 });
    const abort = new AbortController();
    const other = await started(executor, "wait", abort.signal);
    await failureOf(executor, makeCall("exit", 1));
    abort.abort(new Error("enough"));
    expect(await other.failure).toBe("Error: enough");
    expect(isRunning(other.pid)).toBe(true);
  });
});

test("a handler that never returns is ended with its process after abortGrace", async () => {
  await using executor = await openExecutor({ abortGrace: { milliseconds: 50 } });
  const abort = new AbortController();
  const { pid, failure } = await started(executor, "spinAfterProgress", abort.signal);
  abort.abort(new Error("too long"));
  expect([await failure, isRunning(pid)]).toEqual(["Error: too long", false]);
  expect(await executor.execute(makeCall("echo", 5))).toBe(5);
});

describe("what is sent arrives as it was:", () => {
  let executor: ProcessExecutor;
  beforeAll(async () => {
    executor = await openExecutor({ jobsPerWorker: 4 });
  });
  afterAll(() => executor.close());

  test.each<[string, unknown]>([
    ["a list of 20,000 numbers", Array.from({ length: 20_000 }, (_, index) => index)],
    ["half a character", "\uD800"],
    ["__proto__ as a key", JSON.parse('{"__proto__":{"a":1}}')],
  ])("%s", async (_, payload) => {
    expect(await executor.execute(makeCall("echo", null, { payload }))).toStrictEqual(payload);
  });

  test("the results of jobs before", async () => {
    await using executor = await openExecutor();
    const result = makeResult(makeJob({ id: "a" }), { returnValue: "5" });
    const getParentResults: JobCall["getParentResults"] = async () => [result, null];
    const call = makeCall("parents", null, { getParentResults, job: { after: ["a", "b"] } });
    expect(await executor.execute(call)).toEqual([["a", 5], null]);
  });

  test("how the last run ended, and the fire time before", async () => {
    await using executor = await openExecutor();
    const call = makeCall("scheduleFacts", null, {
      job: { scheduleId: "s" },
      getLastRun: async () => ({ outcome: "skipped", finishedAt: 0 }),
      getPreviousFireTime: async () => ({ at: 0, timeZone: "Europe/Berlin" }),
    });
    expect(await executor.execute(call)).toEqual(["skipped", "1970-01-01T01:00:00+01:00[Europe/Berlin]"]);
  });

  test("and messages that a handler sends by itself disturb nobody", async () => {
    expect(await executor.execute(makeCall("talkNonsense"))).toBe("talked");
  });
});

describe("processes get", () => {
  test("the variables of the program, or those of the options alone", async () => {
    await using own = await openExecutor();
    await using others = await openExecutor({ env: { OF_THE_OPTIONS: "yes", PATH: process.env.PATH ?? "" } });
    const read = (executor: ProcessExecutor, name: string): Promise<unknown> =>
      executor.execute(makeCall("readEnvironment", name));
    expect([
      await read(own, "HOME"),
      await read(own, "OF_THE_OPTIONS"),
      await read(others, "HOME"),
      await read(others, "OF_THE_OPTIONS"),
    ]).toEqual([process.env.HOME, null, null, "yes"]);
  });

  test("the folder of the options", async () => {
    await using executor = await openExecutor({ cwd: tmpdir() });
    expect(await executor.execute(makeCall("readFolder"))).toBe(realpathSync(tmpdir()));
  });

  test("no signal of the terminal: the scheduler decides when they end", async () => {
    await using executor = await openExecutor();
    const abort = new AbortController();
    const { pid, failure } = await started(executor, "wait", abort.signal);
    process.kill(pid, "SIGINT");
    process.kill(pid, "SIGTERM");
    abort.abort(new Error("enough"));
    expect(await failure).toBe("Error: enough");
    // The same process answers.
    expect(await executor.execute(makeCall("pid"))).toBe(pid);
  });
});

test("kill -9 of a process costs its job an attempt", async () => {
  const [module, entry] = [modules.url(TASKS), modules.url(ENTRY)];
  const processes = new ProcessExecutor({ module, entry, maxWorkers: 1 });
  await using scheduler = new Scheduler({ executors: { processes }, logLevel: "silent" });
  scheduler.task("waitOnce", { executor: "processes" });
  const { promise: reported, resolve } = resolvers<string>();
  scheduler.subscribe("jobProgressed", ({ note }) => resolve(note ?? ""), { once: true });
  await scheduler.start();
  const run = scheduler.runJob("waitOnce");
  process.kill(Number(await reported), "SIGKILL");
  expect(await run).toBe(2);
});

test("close() leaves no process behind, whatever the processes do", async () => {
  const executor = await openExecutor({ maxWorkers: 3 });
  const idle = Number(await executor.execute(makeCall("pid")));
  const [waiting, spinning] = [await started(executor, "wait"), await started(executor, "spinAfterProgress")];
  await executor.close();
  const pids = [idle, waiting.pid, spinning.pid];
  expect([pids.map(isRunning), await waiting.failure, await spinning.failure]).toEqual([
    [false, false, false],
    expect.stringMatching(/^WorkerLostError: .* the ProcessExecutor was closed$/),
    expect.stringMatching(/^WorkerLostError: .* the ProcessExecutor was closed$/),
  ]);
});

describe("a program that has nothing to do but a job whose process is lost", () => {
  const runs = (taskId: string): Child =>
    new Child([...RUN, fileURLToPath(modules.url(LONELY_PROGRAM)), modules.url(TASKS), modules.url(ENTRY), taskId]);

  test("learns of the loss, although the standard error of the process stays open", async () => {
    const program = runs("leavesChild");
    await program.prints(/ended: .*\n/);
    process.kill(Number(/reports (.*)\n/.exec(program.output)?.[1]), "SIGKILL");
    expect(await program.ended).toBe(0);
    expect(program.output).toMatch(/ended: WorkerLostError: .* it exited with code 4/);
  });

  test("learns of the loss, although nobody reads its own standard error any more", async () => {
    const program = runs("complains");
    program.process.stderr?.destroy();
    expect(await program.ended).toBe(0);
    expect(program.output).toMatch(/ended: WorkerLostError: .*the disk is full/s);
  });
});

test("processes end with a program that is killed, whatever they do", async () => {
  const program = modules.url(PROGRAM);
  const child = new Child([...RUN, fileURLToPath(program), modules.url(TASKS), modules.url(ENTRY)]);
  await child.prints(/pids: .*\n/);
  const pids = /pids: (.*)\n/.exec(child.output)?.[1]?.split(" ").map(Number) ?? [];
  expect(pids.map(isRunning)).toEqual([true, true, true]);
  child.process.kill("SIGKILL");
  await child.ended;
  await ends(pids);
});

describe("processes that cannot start fail open() with the reason:", () => {
  test("a folder that does not exist", async () => {
    await expect(openExecutor({ cwd: "/there/is/no/such/folder" })).rejects.toThrow(
      /no process with module .* can be started: .*(ENOENT|No such)/,
    );
  });

  test("a runtime that does not know an argument", async ({ skip }) => {
    if (process.versions.bun !== undefined) skip("Bun takes any argument");
    await expect(openExecutor({ execArgv: ["--no-such-argument"] })).rejects.toThrow(
      /no process with module .* can be started: it exited with code \d+/,
    );
  });

  test("a module that does not exist", async () => {
    await expect(openExecutor({ module: "file:///no-such-tasks.mjs" })).rejects.toThrow(
      /ProcessExecutor\.open\(\).*file:\/\/\/no-such-tasks\.mjs cannot be imported/,
    );
  });
});

test("options that are wrong are refused, each with its place", () => {
  const make = (): ProcessExecutor =>
    new ProcessExecutor({ module: "./tasks.js", env: { A: 1 }, execArgv: "-A", cwd: "" } as never);
  expect(make).toThrow(/new ProcessExecutor\(\).*module.*env.*execArgv.*cwd/s);
});
