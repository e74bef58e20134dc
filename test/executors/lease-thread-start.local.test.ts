import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LeaseThread } from "../../src/executors/worker/lease-thread.ts";
import type { LeaseThreadOptions } from "../../src/executors/worker/lease-thread-options.ts";
import { type Logger, MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { LIBSQL } from "../stores/local-stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type WorkerModules, workerModules } from "../support/worker-modules.ts";

const ENTRY = new URL("../../src/executors/worker/lease-entry.ts", import.meta.url);

let modules: WorkerModules;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  modules = await workerModules(ENTRY);
  folder = await temporaryFolder();
});
afterAll(async () => {
  await modules.remove();
  await folder.remove();
});

function leaseThread(options: Partial<LeaseThreadOptions> & { readonly code?: string }): LeaseThread {
  const { code = "", ...others } = options;
  // A file, because Bun takes the code of some data URLs for text.
  const path = join(folder.path, `${files++}.mjs`);
  writeFileSync(path, code);
  return new LeaseThread({ module: pathToFileURL(path), entry: modules.url(ENTRY), ...others });
}

function makeScheduler(leaseThread: LeaseThread, logger?: Logger): Scheduler {
  const dataStore = LIBSQL.make(join(folder.path, `${files++}.db`));
  return new Scheduler({ dataStore, leaseThread, logLevel: "warn", ...(logger === undefined ? {} : { logger }) });
}

/** How a start fails, and that the scheduler stops after it. */
async function startFailure(scheduler: Scheduler): Promise<unknown> {
  try {
    return await scheduler.start().catch((error: unknown) => error);
  } finally {
    await scheduler.stop();
  }
}

/** A store that knows of each scheduler, because it answers as the caller's code says. */
const STORE = (methods: string): string => `export const createDataStore = () => ({
  capabilities: { sharedByProcesses: true }, async open() {}, async close() {}, async getSchedulers() { return []; },
  async extendLeases() { return { lost: [], cancelRequested: [] }; }, ${methods} });`;

describe("a scheduler whose leases cannot be guarded does not start, and says why:", () => {
  test("its data is in memory", async () => {
    const scheduler = new Scheduler({ dataStore: new MemoryDataStore(), leaseThread: leaseThread({}) });
    expect(await startFailure(scheduler)).toMatchObject({
      code: "options",
      message: expect.stringContaining("leaseThread needs a data store that a second connection reaches"),
    });
  });

  test("maxBlocked is too short for its leases", async () => {
    const scheduler = makeScheduler(leaseThread({ maxBlocked: { seconds: 20 } }));
    expect(await startFailure(scheduler)).toMatchObject({
      code: "options",
      message: expect.stringContaining("maxBlocked must be longer than a third of leaseDuration, which is 60000 ms"),
    });
  });

  test.each([
    ["the module is missing", { module: "file:///nowhere/store.js" }, "cannot be imported: "],
    ["the module throws", { code: 'throw new Error("no database")' }, "cannot be imported: no database"],
    ["the module makes no store", { code: "export const store = 1" }, "it exports store"],
    ["the module makes something else", { code: "export const createDataStore = () => 5" }, "must return a DataStore"],
    [
      "the module's store is in memory",
      { code: STORE("capabilities: { sharedByProcesses: false }") },
      "this one keeps its data to itself",
    ],
    ["the module's store is of another database", { code: STORE("") }, "this one does not know"],
  ])("%s", async (_, options, message) => {
    const failure = await startFailure(makeScheduler(leaseThread(options)));
    expect(failure).toMatchObject({ code: "options", issues: [{ path: "module" }] });
    expect((failure as Error).message).toContain(message);
  });

  test("the module's store is away", async () => {
    const code = STORE('async open() { throw new Error("no connection"); }');
    expect(await startFailure(makeScheduler(leaseThread({ code })))).toMatchObject({
      code: "storeUnavailable",
      message: "the lease thread cannot use its store: no connection",
    });
  });

  test("the module never ends its imports", async () => {
    const options = { code: "await new Promise(() => {})", startTimeout: { milliseconds: 50 } };
    expect(await startFailure(makeScheduler(leaseThread(options)))).toMatchObject({
      code: "workerLost",
      message: "the lease thread was not ready within 50 ms (startTimeout)",
    });
  });

  test("the thread exits", async () => {
    const code = 'import process from "node:process"; process.exit(3);';
    expect(await startFailure(makeScheduler(leaseThread({ code })))).toMatchObject({ code: "workerLost" });
  });
});

/** The code of a store that knows this scheduler. */
const knowingStore = (more = ""): string =>
  STORE(`async getSchedulers() { return [(await import("node:worker_threads")).workerData]; }, ${more}`);

describe("a LeaseThread", () => {
  test("guards one scheduler at a time, and goes on when another one may not have it", async () => {
    const thread = leaseThread({ code: knowingStore() });
    const first = makeScheduler(thread);
    await first.start();
    expect(await startFailure(makeScheduler(thread))).toMatchObject({ code: "schedulerState" });
    await first.stop();
    const second = makeScheduler(thread);
    await second.start();
    await second.stop();
  });

  test("bears messages that its module sends", async () => {
    const send = `import { parentPort } from "node:worker_threads";
      for (const message of [null, undefined, 1, {}]) parentPort?.postMessage(message);`;
    const scheduler = makeScheduler(leaseThread({ code: `${send} ${knowingStore()}` }));
    await scheduler.start();
    await scheduler.stop();
    expect(scheduler.state).toBe("stopped");
  });

  test("that ends is replaced, and the log says so", async () => {
    let told = (_: string): void => {};
    const warned = (): Promise<string> =>
      new Promise((resolve) => {
        told = resolve;
      });
    const logger: Logger = { debug() {}, info() {}, warn: (text) => told(text), error() {} };
    // The first table comes once the thread is ready.
    const dies = `async open() {
      const [{ parentPort }, { exit }] = [await import("node:worker_threads"), await import("node:process")];
      parentPort.on("message", ({ kind }) => kind === "table" && exit(1));
    }`;
    const scheduler = makeScheduler(leaseThread({ code: knowingStore(dies) }), logger);
    const warnings = [warned()];
    await scheduler.start();
    await warnings[0];
    warnings.push(warned());
    for (const text of await Promise.all(warnings)) expect(text).toContain("nobody keeps leases of a blocked loop for");
    await scheduler.stop();
  });

  test("is given as an object with its methods", () => {
    expect(() => new Scheduler({ leaseThread: {} as LeaseThread })).toThrow(
      "leaseThread must be a LeaseThread; got {}",
    );
    expect(() => new LeaseThread({ module: "./store.ts" })).toThrow(
      'must be the URL of a module; got "./store.ts": write new URL("./store.ts", import.meta.url)',
    );
  });
});
