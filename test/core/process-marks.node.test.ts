import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { expect, test } from "vitest";
import { hasRunEnded, processMark } from "../../src/core/identity.ts";

const isLinux = process.platform === "linux";
if (!isLinux) console.log("skipped: only Linux tells which numbers of processes belong together");

/** The mark of a process that sees the same processes as this one. */
function markOf(pid: number): string {
  return processMark().replace(/\d+$/, `${pid}`);
}

test.skipIf(!isLinux)("a run has ended when its process has, and is not known to have in any other case", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const run = `0190-${markOf(child.pid ?? 0)}`;
  await once(child, "spawn");
  expect(hasRunEnded(run)).toBe(false);
  child.kill("SIGSTOP");
  expect(hasRunEnded(run), "a process that stands still").toBe(false);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(hasRunEnded(run)).toBe(true);
  const elsewhere = run.replace(/@./, (start) => (start === "@0" ? "@1" : "@0"));
  expect(hasRunEnded(elsewhere), "a process of another machine or container").toBe(false);
});

test("a run without a mark, and one of this very process, are not known to have ended", () => {
  for (const run of ["", "0190", "0190@1", "0190@.1", `0190${processMark()}`, "0190@0123456789abcdef.999999999"]) {
    expect(hasRunEnded(run), run).toBe(false);
  }
});
