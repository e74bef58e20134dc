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
async function warningsOf(runtime: "Node" | "Deno" | "Bun", mode: string): Promise<readonly string[]> {
  const commands = {
    Node: [process.execPath, bundle],
    Deno: [denoBinary(), "run", "-A", "--cached-only", PROGRAM],
    Bun: [BUN_BINARY, "run", PROGRAM],
  };
  const child = new Child([...commands[runtime], mode]);
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

test.each(["ticks", "removed"])("a program that %s what it added is not warned", async (mode) => {
  expect(await warningsOf("Node", mode)).toEqual([]);
});
