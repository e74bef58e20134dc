import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child, ROOT } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Before or after which of its commits each process kills itself; the last one lives. */
const KILLS = [
  [3, "after"],
  [9, "before"],
  [6, "after"],
  [0, ""],
] as const;

test("pauses end once, blackouts hold and each change has one notice, whatever kills the processes", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const program = join(folder.path, "program.mjs");
  await bundleProcess(join(ROOT, "test/scheduler/killed/operators-program.ts"), program);
  let output = "";
  for (const [minute, [killAt, when]] of KILLS.entries()) {
    const child = new Child([process.execPath, program, folder.path, String(minute), String(killAt), when]);
    expect(await child.ended).toBe(killAt === 0 ? 0 : "SIGKILL");
    output = child.output;
  }
  const { paused, changes } = JSON.parse(/answer: (.*)/.exec(output)?.[1] ?? "{}");
  expect(paused).toBe(false);
  // Of a pause that had passed while nobody was up, the next process knows the end.
  const kinds = changes.filter((kind: string) => kind !== "added");
  expect(kinds).toEqual(Array.from({ length: kinds.length }, (_, place) => (place % 2 === 0 ? "paused" : "unpaused")));
  const lines = (await readFile(join(folder.path, "journal"), "utf8")).trim().split("\n");
  const journal = lines.map((line): Record<string, string> => JSON.parse(line));
  const windows = journal.filter(({ from }) => from !== undefined);
  const isWithin = (at: string): boolean =>
    windows.some(
      ({ from = "", until = "" }) => Date.parse(from) <= Date.parse(at) && Date.parse(at) < Date.parse(until),
    );
  const runs = journal.filter(({ run }) => run !== undefined);
  expect(runs.length).toBeGreaterThan(10);
  expect(runs.filter(({ fireTime = "" }) => isWithin(fireTime))).toEqual([]);
  // A run that died with its process comes again, as the same job.
  const jobs = new Map(runs.map(({ run = "", fireTime = "" }) => [run, fireTime]));
  expect(new Set(jobs.values()).size).toBe(jobs.size);
  const notices = new Map(journal.filter(({ notice }) => notice !== undefined).map((one) => [one.notice, one]));
  const told = [...notices.values()].map(({ type, change }) => `${type} ${change}`);
  expect(new Set(told).size).toBe(told.length);
  expect(told.filter((one) => one.startsWith("paused")).length).toBe(kinds.length / 2);
  const ends = [...notices.values()].filter(({ type }) => type !== "paused").map(({ type }) => type);
  expect(ends.length).toBeGreaterThan(2);
  expect(ends).toEqual(ends.map((_, place) => (place % 2 === 0 ? "failed" : "recovered")));
});
