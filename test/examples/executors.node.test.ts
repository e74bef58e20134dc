import { cp } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stagePackage } from "../package/stage.ts";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";

// Deno and Bun run the sources; Node 20 takes no types, so that it runs the package as it is built.

let stage: Awaited<ReturnType<typeof stagePackage>> | undefined;
beforeAll(async () => {
  stage = await stagePackage();
  await cp(join(ROOT, "examples/executors"), join(stage.path, "examples/executors"), { recursive: true });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  "threads.js": ["--allow-read", "--allow-env", "--allow-sys"],
  "processes.js": ["-A"],
};

async function outputOf(command: readonly string[], root: string, name: string): Promise<unknown[]> {
  const child = new Child([...command, join(root, "examples/executors", name)], { DENO_NO_UPDATE_CHECK: "1" });
  return [await child.ended, child.output.trim().split("\n")];
}

describe.each(["Node", "Deno", "Bun"])("on %s", (runtime) => {
  const run = (name: string): Promise<unknown[]> => {
    if (runtime === "Node") return outputOf([process.execPath], stage?.path ?? "", name);
    const deno = [denoBinary(), "run", "--cached-only", "--no-prompt", ...(PERMISSIONS[name] ?? [])];
    return outputOf(runtime === "Deno" ? deno : [BUN_BINARY], ROOT, name);
  };

  test("threads compute while the event loop goes on, and end when they must", async () => {
    expect(await run("threads.js")).toEqual([
      0,
      [
        "primes: 33860 25997",
        "the event loop went on meanwhile: true",
        "a loop without an end: JobTimeoutError",
        "threads left: 0",
      ],
    ]);
  });

  test("a process that crashes harms no other job, and none is left", async () => {
    expect(await run("processes.js")).toEqual([
      0,
      ["the job that crashes: JobAbandonedError", "primes: 9592", "processes left: 0"],
    ]);
  });
});
