import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { silentLogger } from "../../src/core/logger.ts";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import { createRouter } from "../../src/hono/mod.ts";
import { Scheduler } from "../../src/mod.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";
import { THROWN, tasks } from "./thrown-tasks.ts";

const THREAD = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const PROCESS = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const TASKS = new URL("./thrown-tasks.ts", import.meta.url);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(THREAD, PROCESS, TASKS);
});
afterAll(() => modules.remove());

const EXECUTORS = {
  inline: () => undefined,
  threads: () => new WorkerExecutor({ module: modules.url(TASKS), entry: modules.url(THREAD), maxWorkers: 1 }),
  processes: () => new ProcessExecutor({ module: modules.url(TASKS), entry: modules.url(PROCESS), maxWorkers: 1 }),
};

/** What whoever awaits a job sees of its error: all but stacks. */
function seen(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, cause, code, ...own } = thrown as Error & { readonly code?: unknown };
  return {
    ...{ name, message, ...own },
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: seen(cause) }),
    ...(thrown instanceof AggregateError ? { errors: thrown.errors.map(seen) } : {}),
  };
}

const PREFIX = "a value that is no error was thrown: ";

const SEEN: Readonly<Record<string, unknown>> = {
  "an object with a message and a code": { name: "Error", message: "out of stock", code: "E_STOCK", status: 503 },
  "an object with a number as its code": { name: "Error", message: "no", code: 42 },
  "an object without a message": { name: "Error", message: `${PREFIX}{"why":"x"}`, why: "x" },
  "a list": { name: "Error", message: `${PREFIX}[1,{"a":2}]`, 0: 1, 1: { a: 2 } },
  "a text": { name: "Error", message: "out of stock" },
  "a number": { name: "Error", message: `${PREFIX}7` },
  undefined: { name: "Error", message: `${PREFIX}undefined` },
  null: { name: "Error", message: `${PREFIX}null` },
  "a symbol": { name: "Error", message: `${PREFIX}Symbol(s)` },
  "an error with properties": { name: "TypeError", message: "no", code: "E_NO", list: [1, { a: null }] },
  "an error with a property in which a getter throws": { name: "Error", message: "no", status: 503 },
  "an error of another realm": { name: "RangeError", message: "far", at: 5 },
  "an AggregateError": {
    ...{ name: "AggregateError", message: "both", cause: { name: "Error", message: "why", n: 1 } },
    errors: [
      { name: "RangeError", message: "one" },
      { name: "Error", message: "two" },
    ],
  },
  "lists of more errors than are kept": {
    ...{ name: "AggregateError", message: "lists" },
    errors: [
      // Each list is kept before what it has.
      {
        ...{ name: "AggregateError", message: "first" },
        errors: Array(13).fill({ name: "Error", message: "one of twenty" }),
      },
      { name: "AggregateError", message: "second" },
      { name: "AggregateError", message: "third" },
    ],
  },
  "an error whose getters throw": { name: "Error", message: "kept", at: 5 },
  "an error whose name is a symbol": { name: "Symbol(n)", message: "kept", at: 5 },
  "a proxy that throws": { name: "Error", message: "an error that cannot be read was thrown" },
};

describe("What a handler throws keeps what it says", () => {
  test.each(["inline", "threads", "processes"] as const)("%s, for who awaits it here and over HTTP", async (place) => {
    const executor = EXECUTORS[place]();
    const options = executor === undefined ? {} : { executors: { executor } };
    await using scheduler = new Scheduler({ logger: silentLogger, ...options });
    for (const [id, { handler }] of Object.entries(tasks as Record<string, { readonly handler: () => never }>)) {
      if (executor === undefined) scheduler.task(id, handler);
      else scheduler.task(id, { executor: "executor" });
    }
    await scheduler.start();
    const router = createRouter(scheduler, { auth: "none", logger: silentLogger });
    const fetch = async (request: Request): Promise<Response> => router.fetch(request);
    await using client = connect({ url: "http://localhost", fetch, logger: silentLogger });
    const here: Record<string, unknown> = {};
    const there: Record<string, unknown> = {};
    for (const id of Object.keys(SEEN)) {
      const job = await scheduler.addJob(id);
      here[id] = seen(await job.wait().catch((error: unknown) => error));
      there[id] = seen((await client.getJobResult(job.id))?.error);
    }
    expect(here).toEqual(SEEN);
    expect(there).toEqual(SEEN);
  });
});

test.each(Object.entries(EXECUTORS))("the log shows what handlers threw as it is: %s", async (name, make) => {
  const logged: unknown[] = [];
  const error = (_: string, ...details: unknown[]): void => void logged.push(...details);
  const executor = make();
  await using scheduler = new Scheduler({
    ...(executor === undefined ? {} : { executors: { [name]: executor } }),
    logger: { ...silentLogger, error },
  });
  const failing = ["an object with a message and a code", "an error with properties", "an error of another realm"];
  for (const id of failing) {
    const fail = (): never => {
      throw THROWN[id]?.();
    };
    if (executor === undefined) scheduler.task(id, fail);
    else scheduler.task(id, { executor: name });
    await scheduler.addJob(id);
    await scheduler.tick();
  }
  expect(logged).toMatchObject([
    { message: "out of stock", code: "E_STOCK", status: 503 },
    { name: "TypeError", message: "no", code: "E_NO" },
    { message: "far" },
  ]);
  for (const one of logged)
    if (one instanceof Error) expect(one.stack).not.toMatch(/[\\/]src[\\/](?:executors|core)[\\/]/);
});
