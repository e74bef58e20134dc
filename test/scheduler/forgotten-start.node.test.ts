import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { BUN_BINARY, Child, denoBinary } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = fileURLToPath(new URL("./forgotten/program.ts", import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let bundle: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  bundle = join(folder.path, "program.mjs");
  await bundleProcess(PROGRAM, bundle);
});
afterAll(() => folder.remove());

/** What the program warns of. */
async function warningsOf(runtime: "Node" | "Deno" | "Bun", mode: string, file?: string): Promise<readonly string[]> {
  const commands = {
    Node: [process.execPath, bundle],
    Deno: [denoBinary(), "run", "-A", "--cached-only", PROGRAM],
    Bun: [BUN_BINARY, "run", PROGRAM],
  };
  const child = new Child([...commands[runtime], mode, ...(file === undefined ? [] : [file])]);
  expect(await child.ended).toBe(0);
  expect(child.output).toContain("the program ends");
  return child.output.split("\n").filter((line) => line.startsWith("escapement: "));
}

describe.each(["Node", "Deno", "Bun"] as const)("on %s", (runtime) => {
  test.each(["schedule", "job"])(
    "a program that never starts says once that its %s in memory is lost",
    async (mode) => {
      expect(await warningsOf(runtime, mode)).toEqual([
        `escapement: the program ends, and the ${mode}s that it added were in memory and never ran, because nothing ` +
          "called start(); await scheduler.runUntilStopped() starts the scheduler and waits for its end",
      ]);
    },
  );
});

describe("a program with a file that ends", () => {
  const FORGOTTEN =
    'escapement: the program ends, and what it scheduled ("greet") waits in the store for a program that runs it, ' +
    "because nothing called start() or tick(); await scheduler.runUntilStopped() starts the scheduler and waits for its end";

  test("says so once when it has handlers of what it scheduled, at every such start", async () => {
    const file = join(folder.path, "forgotten.db");
    for (let start = 0; start < 2; start++) expect(await warningsOf("Node", "schedule", file)).toEqual([FORGOTTEN]);
  });

  test("says nothing when it has no such handler, so that it is a client", async () => {
    const file = join(folder.path, "client.db");
    await warningsOf("Node", "job", file); // the store knows the task from here on
    expect(await warningsOf("Node", "client", file)).toEqual([]);
  });

  test.each(["ticks", "stops", "job"])("says nothing in the mode %j", async (mode) => {
    expect(await warningsOf("Node", mode, join(folder.path, `${mode}.db`))).toEqual([]);
  });
});

test.each(["ticks", "removed"])("a program that %s what it added is not warned", async (mode) => {
  expect(await warningsOf("Node", mode)).toEqual([]);
});
