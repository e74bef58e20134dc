import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createClient } from "@libsql/client";
import { expect, onTestFinished, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child, ROOT } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const STEPS = 50;
const CURSOR = 1000;
/** After how many effects each process kills itself: within a step, between two, within the cursor, and at its end. */
const KILLS = [1, 2, 48, 333, 1, 600, 50];

test("a job of 50 steps and a cursor of 1,000 ends whenever its processes are killed", async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const program = join(folder.path, "program.mjs");
  await bundleProcess(join(ROOT, "test/scheduler/killed/program.ts"), program);
  const start = (killAt: number): Child => new Child([process.execPath, program, folder.path, String(killAt)]);
  for (const killAt of KILLS) expect(await start(killAt).ended).toBe("SIGKILL");
  const last = start(0);
  expect(await last.ended).toBe(0);
  expect(last.output).toMatch(/ended: done/);
  const journal = (await readFile(join(folder.path, "journal"), "utf8")).trim().split("\n");
  const expected = Array.from({ length: STEPS }, (_, index) => index).flatMap((index) =>
    Array.from({ length: index === 25 ? CURSOR : 2 }, (__, i) => `${index}:${i}`),
  );
  // Each position at least once, in order, and none of a step again that had ended.
  expect(new Set(journal)).toEqual(new Set(expected));
  const places = journal.map((line) => expected.indexOf(line));
  const steps = places.map((place) => Number(expected[place]?.split(":")[0]));
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
  expect(journal.length).toBeLessThan(expected.length + KILLS.length * 10);
  const db = createClient({ url: `file:${join(folder.path, "jobs.db")}` });
  const { rows } = await db.execute("SELECT count(*) AS effects FROM effects");
  expect(Number(rows[0]?.effects)).toBe(expected.length);
  db.close();
});
