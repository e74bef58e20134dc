import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { DateTrigger, LocalEventBroker, Scheduler, Temporal } from "../../src/mod.ts";
import { LOCAL_STORES } from "../stores/local-stores.ts";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// No scheduler here looks by itself for an hour, and a test hangs where nothing wakes it.
const maxIdle = { hours: 1 };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let command: readonly string[];
beforeAll(async () => {
  folder = await temporaryFolder();
  command = await commandFor(fileURLToPath(new URL("./file-worker.ts", import.meta.url)));
});
afterAll(() => folder.remove());

/** How this runtime runs a TypeScript file. */
async function commandFor(file: string): Promise<string[]> {
  if ("Bun" in globalThis) return [process.execPath, "run", file];
  if ("Deno" in globalThis) return [process.execPath, "run", "--allow-all", "--cached-only", file];
  const bundle = join(folder.path, "file-worker.mjs");
  await bundleProcess(file, bundle);
  return [process.execPath, bundle];
}

function spawn(...args: readonly string[]): Child {
  const child = new Child([...command, ...args]);
  onTestFinished(() => void child.process.kill("SIGKILL"));
  return child;
}

describe.each(LOCAL_STORES)("on a file of $name, without a broker between them,", ({ name, whyMissing, make }) => {
  test("a process runs what another one adds, and ends when it is stopped", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = join(folder.path, `${name}.db`);
    const worker = spawn(name, path);
    await worker.prints(/ready/);
    const client = new Scheduler({ dataStore: make(path), logLevel: "warn" });
    onTestFinished(() => client.stop());
    for (const word of ["one", "two", "three"]) {
      await client.addJob("say", { payload: word });
      await worker.prints(new RegExp(`ran ${word}`));
    }
    const soon = Temporal.Now.instant().add({ milliseconds: 100 });
    await client.addSchedule("say", new DateTrigger(soon), { payload: "later" });
    await worker.prints(/ran later/);
    worker.process.stdin?.end();
    expect(await worker.ended).toBe(0);
  });

  test("schedulers of one process with a store each do so too, whatever their broker", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = join(folder.path, `${name}-here.db`);
    const scheduler = (): Scheduler =>
      new Scheduler({ dataStore: make(path), eventBroker: new LocalEventBroker(), maxIdle, logLevel: "warn" });
    const [worker, client] = [scheduler(), scheduler()];
    onTestFinished(async () => {
      await worker.stop();
      await client.stop();
    });
    let onRun = (_word: unknown): void => {};
    worker.task("say", (word) => onRun(word));
    await worker.start();
    for (const word of ["one", "two", "three"]) {
      const ran = new Promise((resolve) => {
        onRun = resolve;
      });
      await client.addJob("say", { payload: word });
      expect(await ran).toBe(word);
    }
  });
});

test("a background timer keeps no process alive", async () => {
  expect(await spawn("timer").ended).toBe(0);
});
