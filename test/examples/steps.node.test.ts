import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createClient } from "@libsql/client";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Child, ROOT } from "../support/child.ts";

let folder: string;
beforeAll(async () => {
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  // Below node_modules, so that packages are found.
  folder = await mkdtemp(join(cache, "escapement-"));
  await build({
    entryPoints: [join(ROOT, "examples/steps.js")],
    outfile: join(folder, "steps.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    alias: {
      "escapement/libsql": join(ROOT, "src/stores/libsql/mod.ts"),
      escapement: join(ROOT, "src/mod.ts"),
    },
    external: ["@libsql/*", "temporal-polyfill", "valibot"],
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("an import of 100,000 rows goes on after each kill -9, and has each row once", async () => {
  const database = join(folder, "import.db");
  const start = (): Child => new Child([process.execPath, join(folder, "steps.mjs"), database]);
  const begins: number[] = [];
  for (const row of [20_000, 70_000]) {
    const child = start();
    await child.prints(new RegExp(`^row ${row}$`, "m"));
    child.process.kill("SIGKILL");
    expect(await child.ended).toBe("SIGKILL");
    begins.push(...[...child.output.matchAll(/begins at row (\d+)/g)].map(([, place]) => Number(place)));
  }
  const last = start();
  expect(await last.ended).toBe(0);
  begins.push(...[...last.output.matchAll(/begins at row (\d+)/g)].map(([, place]) => Number(place)));
  expect(last.output).toMatch(/imported 100000 rows/);
  const [first = -1, second = -1, third = -1] = begins;
  expect([begins.length, first, second >= 20_000, third >= 70_000, third < 100_000]).toEqual([3, 0, true, true, true]);
  const db = createClient({ url: `file:${database}` });
  const { rows } = await db.execute("SELECT count(*), count(DISTINCT name), min(id), max(id) FROM people");
  expect(Object.values(rows[0] ?? {}).slice(0, 4)).toEqual([100_000, 100_000, 0, 99_999]);
  db.close();
});
