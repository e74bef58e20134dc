import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { LIBSQL, SQLITE } from "../stores/local-stores.ts";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let command: readonly string[];
/** The URLs of the module of the lease threads, and of their program where it is not the usual one. */
let urls: readonly string[];
const children: Child[] = [];
beforeAll(async () => {
  folder = await temporaryFolder();
  const program = new URL("./lease-thread/program.ts", import.meta.url);
  const store = new URL("./lease-thread/store.ts", import.meta.url);
  if ("Bun" in globalThis || "Deno" in globalThis) {
    const run = "Bun" in globalThis ? ["run"] : ["run", "--allow-all", "--cached-only"];
    command = [process.execPath, ...run, fileURLToPath(program)];
    urls = [store.href];
    return;
  }
  // Node 20 takes no types, so that all programs are bundled.
  const entry = new URL("../../src/executors/worker/lease-entry.ts", import.meta.url);
  const [programPath, storePath, entryPath] = await Promise.all([program, store, entry].map(bundled));
  command = [process.execPath, programPath ?? ""];
  urls = [storePath, entryPath].map((path = "") => pathToFileURL(path).href);
});
afterEach(() => {
  for (const child of children.splice(0)) child.process.kill("SIGKILL");
});
afterAll(() => folder.remove());

/** Makes a file that Node runs of a source. Returns its path. */
async function bundled(source: URL): Promise<string> {
  const path = join(folder.path, `${source.pathname.split("/").at(-1)}.mjs`);
  await bundleProcess(fileURLToPath(source), path);
  return path;
}

interface Shape {
  readonly name: string;
  readonly store?: string;
  readonly path: string;
  /** For how many milliseconds each job blocks the event loop. Default: not at all. */
  readonly blocks?: number;
  /** For how many milliseconds a lease thread keeps leases. Default: there is no thread. */
  readonly maxBlocked?: number;
}

/** A process with a started scheduler. */
async function begin({ name, store = LIBSQL.name, path, blocks, maxBlocked }: Shape): Promise<Child> {
  // Node 22 warns of its SQLite.
  const variables = { LEASE_STORE: store, LEASE_PATH: join(folder.path, path), NODE_NO_WARNINGS: "1" };
  const child = new Child(
    [...command, name, String(blocks ?? "quick"), String(maxBlocked ?? "bare"), ...urls],
    variables,
  );
  children.push(child);
  await child.prints(/ready/);
  return child;
}

function tell(child: Child, line: "add" | "stop"): void {
  child.process.stdin?.write(`${line}\n`);
}

/** Stops the scheduler. Returns how the process ends by itself. Its input is closed, because Deno waits for it even
 *  after it was destroyed. */
async function endOf(child: Child): Promise<number | string | null> {
  tell(child, "stop");
  await child.prints(/^stopped$/m);
  child.process.stdin?.end();
  return child.ended;
}

/** What a process printed itself, without its warnings. */
function linesOf({ output }: Child): string[] {
  return output.split("\n").filter((line) => line !== "" && !line.startsWith("escapement:"));
}

describe.each([LIBSQL, SQLITE])(
  "two processes on one file of $name, with leases of a second",
  ({ name, whyMissing }) => {
    test("run a job once that blocks its event loop for three seconds, where a thread keeps its lease", async ({
      skip,
    }) => {
      if (whyMissing !== null) skip(whyMissing);
      const path = `once-${name}.db`;
      const other = await begin({ name: "B", store: name, path });
      const blocked = await begin({ name: "A", store: name, path, blocks: 3000, maxBlocked: 60_000 });
      tell(blocked, "add");
      await blocked.prints(/A is told/);
      for (const child of [blocked, other]) {
        expect(await endOf(child)).toBe(0);
      }
      const thread = "the thread has closed its store";
      expect(linesOf(blocked)).toEqual(["ready", "A begins", "A ends", "A is told: success", thread, "stopped"]);
      expect(linesOf(other)).toEqual(["ready", "stopped"]);
      expect(blocked.output).toMatch(
        /the event loop of "A" has been blocked for [\d.]+ s, and 1 job runs there: "compute" \(job [-0-9a-f]{36}\)/,
      );
    });
  },
);

describe("a loop that hangs", () => {
  test("loses its jobs to others without a lease thread", async () => {
    const other = await begin({ name: "B", path: "bare.db" });
    const hung = await begin({ name: "A", path: "bare.db", blocks: Number.POSITIVE_INFINITY });
    tell(hung, "add");
    await other.prints(/B ends/);
    expect(linesOf(hung)).toEqual(["ready", "A begins"]);
  });

  test("loses them when it has been blocked for longer than its lease thread keeps leases", async () => {
    const other = await begin({ name: "B", path: "hung.db" });
    const hung = await begin({ name: "A", path: "hung.db", blocks: Number.POSITIVE_INFINITY, maxBlocked: 2000 });
    tell(hung, "add");
    await hung.prints(/has been blocked for more than 2 s \(maxBlocked\)/);
    await other.prints(/B ends/);
    expect(linesOf(hung)).toEqual(["ready", "A begins"]);
  });
});
