import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { BUN_BINARY, Child, denoBinary } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PROGRAM = fileURLToPath(new URL("./signals/program.ts", import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let bundle: string;
const children: Child[] = [];
beforeAll(async () => {
  folder = await temporaryFolder();
  bundle = join(folder.path, "program.mjs");
  await bundleProcess(PROGRAM, bundle);
});
afterEach(() => {
  for (const child of children.splice(0)) child.process.kill("SIGKILL");
});
afterAll(() => folder.remove());

/** The program in a process whose job runs. */
async function begin(runtime: "Node" | "Deno" | "Bun", mode: string): Promise<Child> {
  const commands = {
    Node: [process.execPath, bundle],
    Deno: [denoBinary(), "run", "-A", "--cached-only", PROGRAM],
    Bun: [BUN_BINARY, "run", PROGRAM],
  };
  const child = new Child([...commands[runtime], mode]);
  children.push(child);
  await child.prints(/the job runs/);
  return child;
}

/** How the process ends by itself. Its input is closed, because Deno waits for it even after it was destroyed. */
async function endOf(child: Child): Promise<number | string | null> {
  await child.prints(/after the stop/);
  child.process.stdin?.end();
  return child.ended;
}

const STOPS = "stops when running jobs have ended; a second signal aborts them at once";

describe.each(["Node", "Deno", "Bun"] as const)("on %s", (runtime) => {
  test.each([
    ["SIGINT", "polite"],
    ["SIGTERM", "started"],
  ] as const)(
    "the first signal (%s) lets the running job end, and the process ends by itself",
    async (signal, mode) => {
      const child = await begin(runtime, mode);
      child.process.kill(signal);
      await child.prints(new RegExp(`${signal}: ${STOPS}[\\s\\S]*waits for 1 job to end, for 30 s at most`));
      child.process.stdin?.write("go on\n");
      expect(await endOf(child)).toBe(0);
      expect(child.output).not.toContain("the job is aborted");
      // Lines of the log come by another pipe than those of the program, so that their order is not known.
      expect(child.output).toContain("escapement: stopped\n");
      expect(child.output).toMatch(/the job ends\n[\s\S]*after the stop, with 0 listeners/);
    },
  );

  test("the second signal aborts the job at once, and it goes back to the queue", async () => {
    const child = await begin(runtime, "polite");
    child.process.kill("SIGINT");
    await child.prints(/waits for 1 job/);
    child.process.kill("SIGTERM");
    expect(await endOf(child)).toBe(0);
    expect(child.output).toContain("SIGTERM again: aborts running jobs");
    expect(child.output).toMatch(/the job is aborted[\s\S]*after the stop/);
  });

  test("the third signal ends a process that a job still holds, because nobody listens any more", async () => {
    const child = await begin(runtime, "stubborn");
    child.process.kill("SIGINT");
    await child.prints(/waits for 1 job/);
    child.process.kill("SIGINT");
    await child.prints(/after the stop, with 0 listeners/);
    child.process.kill("SIGINT");
    expect(await child.ended).toBe("SIGINT");
    expect(child.output).toContain("SIGINT again: aborts running jobs");
    expect(child.output).toContain("the job is aborted");
    expect(child.output).not.toContain("the job ends");
  });

  test("the first signal ends the process where signals are not handled", async () => {
    const child = await begin(runtime, "unhandled");
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe("SIGTERM");
    expect(child.output).not.toContain("after the stop");
  });
});
