import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HANG_MS } from "../support/hang.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const commands = {
  Node: [process.execPath, join(ROOT, "scripts/start.mjs")],
  // The binary itself: the package's command is a process around it, which would get the signals in its place.
  Deno: [denoBinary(), "run", "-A", "--cached-only", join(ROOT, "examples/hello.ts")],
  Bun: [join(ROOT, "node_modules/.bin/bun"), "run", join(ROOT, "examples/hello.ts")],
} as const;

function denoBinary(): string {
  const packages = readdirSync(join(ROOT, "node_modules/@deno"));
  const file = packages.map((name) => join(ROOT, "node_modules/@deno", name, "deno")).find(existsSync);
  if (file === undefined) throw new Error("Deno is missing: run `npm ci`");
  return file;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let children: ChildProcess[];
beforeEach(async () => {
  folder = await temporaryFolder();
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await folder.remove();
});

/** The example in a process of its own, with what it printed so far. */
class Example {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  output = "";
  #onOutput = (): void => {};

  constructor(runtime: keyof typeof commands) {
    const [command, ...args] = commands[runtime];
    this.process = spawn(command, [...args, "--database", join(folder.path, "hello.db")], { cwd: ROOT });
    children.push(this.process);
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on("data", (data: Buffer) => {
        this.output += data.toString();
        this.#onOutput();
      });
    }
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
  }

  /** Waits until it has printed what matches. */
  async prints(pattern: RegExp): Promise<void> {
    const deadline = AbortSignal.timeout(HANG_MS);
    while (!pattern.test(this.output)) {
      if (deadline.aborted) throw new Error(`nothing matched ${pattern} within ${HANG_MS} ms:\n${this.output}`);
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve;
        deadline.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }
}

test.each(["Node", "Deno", "Bun"] as const)(
  "on %s it fires its schedules, and drains when it is asked to stop",
  async (runtime) => {
    const example = new Example(runtime);
    await example.prints(/every 5 s, Berlin/);
    await example.prints(/a job run by hand returned: world was greeted/);
    example.process.kill("SIGINT");
    expect([await example.ended, example.output]).toEqual([0, expect.stringContaining("Stopped.")]);
    expect(example.output).toMatch(new RegExp(`Escapement on ${runtime} `));
    expect(example.output).toMatch(/SIGINT: draining, then stopping[\s\S]*Stopped\. \d+ jobs ran/);
    expect(example.output).not.toContain("\u001b[");
  },
);

test("killed with a job under way and started again, it goes on, says what was missed, and runs the lost job again", async () => {
  const killed = new Example("Node");
  await killed.prints(/every 8 s started, takes 1\.5 s/);
  killed.process.kill("SIGKILL");
  await killed.ended;
  // Longer than the period of a schedule, so that something is missed.
  await new Promise((resolve) => setTimeout(resolve, 5500));
  const restarted = new Example("Node");
  await restarted.prints(/schedules are there from an earlier start/);
  await restarted.prints(/every 5 s, Berlin \(.*\) missed [1-9]\d*, the first at/);
  await restarted.prints(/recovered {2}job \S+ of "backup" was lost with its process and runs again/);
  await restarted.prints(/late[\s\S]*every 5 s, Berlin/);
  restarted.process.kill("SIGTERM");
  expect([await restarted.ended, restarted.output]).toEqual([0, expect.stringContaining("Stopped.")]);
  expect(restarted.output).toMatch(/[1-9]\d* lost jobs were recovered/);
});
