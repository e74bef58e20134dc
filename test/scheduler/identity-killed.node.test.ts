import { join } from "node:path";
import process from "node:process";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child, ROOT } from "../support/child.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

// Without a way to know that a process has ended, its jobs wait for an hour here, and the tests with them.
const isLinux = process.platform === "linux";
if (!isLinux) console.log("skipped: only Linux tells which numbers of processes belong together");

let folder: TemporaryFolder;
let program: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  program = join(folder.path, "program.mjs");
  await bundleProcess(join(ROOT, "test/scheduler/killed/identity-program.ts"), program);
  return () => folder.remove();
});

async function startIn(path: string, identity = "me"): Promise<Child> {
  const child = new Child([process.execPath, program, path, identity]);
  onTestFinished(async () => {
    child.process.kill("SIGKILL");
    await child.ended;
  });
  return child;
}

async function emptyFolder(): Promise<string> {
  const own = await temporaryFolder();
  onTestFinished(() => own.remove());
  return own.path;
}

test.skipIf(!isLinux)(
  "a process that comes back under its identity takes up at once what it left when killed",
  async () => {
    const path = await emptyFolder();
    for (const attempt of [1, 2, 3]) {
      const child = await startIn(path);
      await child.prints(new RegExp(`held: attempt ${attempt}`));
      child.process.kill("SIGKILL");
      expect(await child.ended).toBe("SIGKILL");
    }
  },
);

test.skipIf(!isLinux)("a process that stands still is not robbed by another one of its identity", async () => {
  const path = await emptyFolder();
  const first = await startIn(path);
  await first.prints(/lease 1 of the job/);
  first.process.kill("SIGSTOP");
  const second = await startIn(path);
  await second.prints(/lease \d+ of the job/);
  expect(second.output).toContain("lease 1 of the job");
  expect(second.output).not.toContain("held:");
});

test.skipIf(!isLinux)("what a process of another identity left waits for the end of its lease", async () => {
  const path = await emptyFolder();
  const first = await startIn(path, "other");
  await first.prints(/lease 1 of the job/);
  first.process.kill("SIGKILL");
  await first.ended;
  const second = await startIn(path);
  await second.prints(/lease \d+ of the job/);
  expect(second.output).toContain("lease 1 of the job");
});
