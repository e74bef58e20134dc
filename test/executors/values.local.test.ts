import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLogger } from "../../src/core/logger.ts";
import { ProcessExecutor } from "../../src/executors/process/process-executor.ts";
import { WorkerExecutor } from "../../src/executors/worker/worker-executor.ts";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";
import { serializer as devalueSerializer, isWhole, tasks } from "./value-tasks.ts";
import { VALUES } from "./values.ts";

const THREAD = new URL("../../src/executors/worker/thread-entry.ts", import.meta.url);
const PROCESS = new URL("../../src/executors/process/process-entry.ts", import.meta.url);
const TASKS = new URL("./value-tasks.ts", import.meta.url);
const OTHER_TASKS = new URL("./pool-tasks.ts", import.meta.url);

let modules: WorkerModules;
beforeAll(async () => {
  modules = await workerModules(THREAD, PROCESS, TASKS, OTHER_TASKS);
});
afterAll(() => modules.remove());

/** The places where handlers run. */
const EXECUTORS = {
  inline: () => undefined,
  threads: (module: URL) =>
    new WorkerExecutor({ module: modules.url(module), entry: modules.url(THREAD), maxWorkers: 1 }),
  processes: (module: URL) =>
    new ProcessExecutor({ module: modules.url(module), entry: modules.url(PROCESS), maxWorkers: 1 }),
};
type Place = keyof typeof EXECUTORS;
const PLACES = Object.keys(EXECUTORS) as Place[];

/** A started scheduler that has the tasks of the values at a place. */
async function started(place: Place, dataStore: DataStore): Promise<Scheduler> {
  const executor = EXECUTORS[place](TASKS);
  const scheduler = new Scheduler({ dataStore, logger: silentLogger, ...(executor && { executors: { executor } }) });
  for (const [id, { handler }] of Object.entries(tasks as Record<string, { readonly handler: () => unknown }>)) {
    // A refusal would be the same in another attempt, so that there is none.
    const options = { maxRunningJobs: null, retry: { maxAttempts: 2 } };
    if (executor === undefined) scheduler.task(id, options, handler);
    else scheduler.task(id, { ...options, executor: "executor" });
  }
  await scheduler.start();
  return scheduler;
}

/** What becomes of each kind of value on its way to a handler, and on its way back. */
async function verdictsOf(place: Place, dataStore: DataStore): Promise<Record<string, unknown>> {
  await using scheduler = await started(place, dataStore);
  const verdict = async (work: Promise<boolean>): Promise<string> =>
    work.then(
      (isSame) => (isSame ? "arrives" : "arrives changed"),
      (error: Error) => error.name,
    );
  const rows = Object.entries(VALUES).map(async ([name, kind]) => {
    const job = await scheduler.addJob(`returns ${name}`);
    return [
      name,
      {
        there: await verdict(scheduler.runJob(`gets ${name}`, { payload: kind.make() }) as Promise<boolean>),
        back: await verdict(job.wait().then((value) => isWhole(kind, value))),
        attempts: (await job.result())?.attempts,
      },
    ] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

describe("A value arrives whole, or its job fails with a SerializationError and no retry,", () => {
  test.each(PLACES)("when it is JSON: %s", async (place) => {
    const expected = Object.entries(VALUES).map(([name, { verdict }]) => [
      name,
      { there: verdict, back: verdict, attempts: 1 },
    ]);
    expect(await verdictsOf(place, new MemoryDataStore())).toEqual(Object.fromEntries(expected));
  });

  test("when the data store has a serializer of its own, which the module exports: everywhere the same", async () => {
    const [inline, ...others] = await Promise.all(
      PLACES.map((place) => verdictsOf(place, new MemoryDataStore({ serializer: devalueSerializer }))),
    );
    expect(inline).toMatchObject({
      "a date": { there: "arrives", back: "arrives" },
      "a map": { there: "arrives", back: "arrives" },
      "a URL": { there: "arrives", back: "arrives" },
      "a cycle": { there: "arrives", back: "arrives" },
      "an instance of a class": { there: "SerializationError", back: "SerializationError" },
      "a function": { there: "SerializationError", back: "SerializationError" },
    });
    for (const other of others) {
      // How deep data may be nested for it depends on the stack.
      const { "data that is nested too deep": _, ...rows } = other;
      expect(inline).toMatchObject(rows);
    }
  });
});

test.each(PLACES)(
  "a payload that its schema refuses has had no attempt, because no handler was called: %s",
  async (place) => {
    const executor = EXECUTORS[place](TASKS);
    await using scheduler = new Scheduler({ logger: silentLogger, ...(executor && { executors: { executor } }) });
    let times = 0;
    // It takes the payload of the addition, and later refuses it.
    const validate = (value: unknown) => (++times === 1 ? { value } : { issues: [{ message: "no such thing" }] });
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    const options = { schema, retry: { maxAttempts: 2 } };
    if (executor === undefined) scheduler.task("gets a URL", options, () => {});
    else scheduler.task("gets a URL", { ...options, executor: "executor" });
    await scheduler.start();
    const job = await scheduler.addJob("gets a URL", { payload: 1 });
    await expect(job.wait()).rejects.toMatchObject({ code: "payload" });
    expect(await job.result()).toMatchObject({ attempts: 0, startedAt: null });
  },
);

describe.each(["threads", "processes"] as const)("With handlers in %s,", (place) => {
  test("start() says what to do when the module lacks the serializer of the data store", async () => {
    const executor = EXECUTORS[place](OTHER_TASKS);
    const dataStore = new MemoryDataStore({ serializer: devalueSerializer });
    await using scheduler = new Scheduler({ dataStore, logger: silentLogger, executors: { executor } });
    await expect(scheduler.start()).rejects.toMatchObject({
      code: "options",
      message: expect.stringMatching(
        /must have the serializer of the data store, .* export the same one as `serializer`/,
      ),
    });
  });

  test("start() refuses a module whose serializer does not read what that of the data store writes", async () => {
    const executor = EXECUTORS[place](TASKS);
    const other = { serialize: (value: unknown) => `!${JSON.stringify(value)}`, deserialize: () => 1 };
    const dataStore = new MemoryDataStore({ serializer: other });
    await using scheduler = new Scheduler({ dataStore, logger: silentLogger, executors: { executor } });
    await expect(scheduler.start()).rejects.toThrow("has a serializer that does not read what that of the data store");
  });

  test("a scheduler whose data store has another serializer takes no part in an executor", async () => {
    const executor = EXECUTORS[place](TASKS);
    const shared = { logger: silentLogger, executors: { executor } };
    await using first = new Scheduler(shared);
    await using second = new Scheduler({
      ...shared,
      dataStore: new MemoryDataStore({ serializer: devalueSerializer }),
    });
    await first.start();
    await expect(second.start()).rejects.toMatchObject({ code: "schedulerState" });
  });

  test("what a schema makes of a payload is refused where it cannot be sent, without a retry", async () => {
    const executor = EXECUTORS[place](TASKS);
    await using scheduler = new Scheduler({ logger: silentLogger, executors: { executor } });
    const schema = {
      "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value: new URL(String(value)) }) },
    } as const;
    scheduler.task("gets a URL", { executor: "executor", schema, retry: { maxAttempts: 2 } });
    await scheduler.start();
    const job = await scheduler.addJob("gets a URL", { payload: "https://example.org/" });
    await expect(job.wait()).rejects.toMatchObject({
      name: "SerializationError",
      message: expect.stringContaining(
        'what the schema of task "gets a URL" returned cannot be sent to its executor: ',
      ),
    });
    // No handler was called, as where a schema refuses a payload. Inline, where nothing is sent, one is called.
    expect((await job.result())?.attempts).toBe(0);
  });

  test("a result that is not kept is not serialized", async () => {
    const executor = EXECUTORS[place](TASKS);
    await using scheduler = new Scheduler({ logger: silentLogger, executors: { executor } });
    scheduler.task("returns a function", { executor: "executor", resultExpirationTime: { seconds: 0 } });
    await scheduler.start();
    const released = new Promise((resolve) => scheduler.subscribe("jobReleased", resolve));
    await scheduler.addJob("returns a function", { resultExpirationTime: { seconds: 0 } });
    expect(await released).toMatchObject({ outcome: "success" });
  });
});
