import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child, ROOT } from "../support/child.ts";

export interface KilledJobReport {
  /** How many processes were killed, each at another point. */
  readonly kills: number;
  readonly effects: number;
  /** Effects beyond the first of each step and position: what "at least once" costs. */
  readonly repeatedEffects: number;
  /** What broke a promise; empty in a clean run. */
  readonly violations: readonly string[];
}

export interface KilledJobOptions {
  readonly steps: number;
  /** Of the cursor of one of the steps. */
  readonly positions: number;
  /** `all`: before and after each call of the store about the job, and before each SQL statement of most. `saves`: before
   *  and after each save of a step. */
  readonly points: "all" | "saves";
  readonly log?: ((line: string) => void) | undefined;
}

/**
 * Runs one job to its end, by processes of which each is killed at the first point of its way at which none before it
 * was. Each step and each position of the cursor comes to pass at least once, never again once it is recorded, and once
 * for whoever looks at its key.
 */
export async function killJob({ steps, positions, points, log }: KilledJobOptions): Promise<KilledJobReport> {
  // Below node_modules, so that the program finds its packages.
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "escapement-killed-"));
  try {
    const program = join(folder, "program.mjs");
    await bundleProcess(fileURLToPath(new URL("killed-job.ts", import.meta.url)), program);
    let kills = 0;
    for (;;) {
      const child = new Child([process.execPath, program, folder, String(steps), String(positions), points]);
      const end = await child.ended;
      if (end === 0) break;
      if (end !== "SIGKILL") throw new Error(`after ${kills} kills a process ended with ${end}:\n${child.output}`);
      if (++kills % 100 === 0) log?.(`${kills} kills`);
    }
    return { kills, ...(await found(folder, steps, positions)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function found(folder: string, steps: number, positions: number): Promise<Omit<KilledJobReport, "kills">> {
  const violations: string[] = [];
  const effects = new Map<string, number>();
  const recorded = new Set<string>();
  let end = "";
  for (const line of (await readFile(join(folder, "journal"), "utf8")).split("\n").slice(0, -1)) {
    const [kind = "", name = ""] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
    if (kind === "recorded") recorded.add(name);
    else if (kind === "ended") end += name;
    else {
      if (recorded.has(name)) violations.push(`${name} came to pass after it was recorded`);
      effects.set(name, (effects.get(name) ?? 0) + 1);
    }
  }
  const names = [
    ...Array.from({ length: steps - 1 }, (_, index) => `step ${index + 1}`),
    ...Array.from({ length: positions }, (_, index) => `loop:${index}`),
  ];
  for (const name of names) if (!effects.has(name)) violations.push(`${name} never came to pass`);
  if (effects.size > names.length) violations.push(`there were ${effects.size} effects of ${names.length}`);
  if (end !== "done") violations.push(`the job ended with "${end}"`);
  const keys = await takenKeys(folder);
  if (keys !== names.length) violations.push(`the other side has ${keys} keys of ${names.length}`);
  const count = [...effects.values()].reduce((sum, times) => sum + times, 0);
  return { effects: count, repeatedEffects: count - effects.size, violations };
}

async function takenKeys(folder: string): Promise<number> {
  const { createClient } = await import("@libsql/client");
  const client = createClient({ url: `file:${join(folder, "other.db")}` });
  const { rows } = await client.execute("SELECT count(*) AS count FROM taken");
  client.close();
  return Number(rows[0]?.count);
}
