import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child, ROOT } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const COUNT = 3000;
/** Before or after which commit each process kills itself. */
const KILLS = [
  [1, "before"],
  [1, "after"],
  [2, "before"],
  [1, "after"],
] as const;

test("a backfill of 3,000 fire times adds each once, whatever kills its processes, and by two at once", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const program = join(folder.path, "program.mjs");
  await bundleProcess(join(ROOT, "test/scheduler/killed/backfill-program.ts"), program);
  const start = (killAt: number, when: string): Child =>
    new Child([process.execPath, program, folder.path, String(killAt), when]);
  for (const [killAt, when] of KILLS) expect(await start(killAt, when).ended).toBe("SIGKILL");
  const [first, second] = [start(0, ""), start(0, "")];
  expect([await first.ended, await second.ended]).toEqual([0, 0]);
  const [answer, other] = [first, second].map(({ output }) => /answer: (.*)/.exec(output)?.[1]);
  expect(answer).toBe(other);
  expect(answer).toContain(`"count":${COUNT}`);
  // A run that died with its process comes again, as the same job.
  const runs = new Set((await readFile(join(folder.path, "journal"), "utf8")).trim().split("\n"));
  expect(runs.size).toBe(COUNT);
  expect(new Set([...runs].map((line) => line.split(" ")[0])).size).toBe(COUNT);
});
