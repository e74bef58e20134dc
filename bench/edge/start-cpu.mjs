// What starting costs: CPU time of fresh processes, each of which runs a few lines and ends.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { medianOf } from "../pairs/statistics.mjs";

/** The repository, for this file and for a bundle of it in bench/node_modules/.cache. */
const root = fileURLToPath(new URL(import.meta.url.includes("/.cache/") ? "../../../" : "../../", import.meta.url));
const bin = `${root}node_modules/.bin/`;

/** The command that runs a file, by runtime. Of workerd only a host program could say what an isolate costs. */
export const RUNTIMES = {
  node: [process.execPath],
  deno: [`${bin}deno`, "run", "-A", "--cached-only", "--no-lock"],
  bun: [`${bin}bun`, "run"],
};

const REPORT = `
const { user, system } = process.cpuUsage();
console.log("cpu", user + system);
process.exit();
`;

/**
 * Runs programs in turns, each round in fresh processes, and once before the rounds for what a runtime keeps in caches.
 *
 * @param {{
 *   runtime: keyof typeof RUNTIMES,
 *   rounds: number,
 *   packages: Readonly<Record<string, string>>,
 *   programs: Readonly<Record<string, string>>,
 *   onFailure?: (name: string, error: unknown) => void,
 * }} options `packages` are folders by the names that programs import; `programs` are module texts by name; `onFailure`
 *   hears of a program that does not run, which then is left out
 * @returns {Record<string, StartCost>}
 */
export function startCpu({ runtime, rounds, packages, programs, onFailure }) {
  const folder = stageFolder(packages);
  try {
    const all = Object.entries({ empty: "", ...programs });
    const samples = new Map(all.map(([name]) => [name, []]));
    all.forEach(([, text], index) => void writeFileSync(join(folder, `${index}.mjs`), `${text}\n${REPORT}`));
    const cpuMsOf = (index) => runOnce([...RUNTIMES[runtime], join(folder, `${index}.mjs`)]);
    all.forEach(([name], index) => {
      try {
        cpuMsOf(index);
      } catch (error) {
        if (onFailure === undefined) throw error;
        onFailure(name, error);
        samples.delete(name);
      }
    });
    for (let round = 0; round < rounds; round++) {
      all.forEach(([name], index) => void samples.get(name)?.push(cpuMsOf(index)));
    }
    return startCosts(samples);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A temporary folder whose programs can import these packages. @param {Readonly<Record<string, string>>} packages */
export function stageFolder(packages) {
  const folder = mkdtempSync(join(tmpdir(), "escapement-start-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
  mkdirSync(join(folder, "node_modules"));
  for (const [name, path] of Object.entries(packages)) symlinkSync(path, join(folder, "node_modules", name), "dir");
  return folder;
}

/**
 * @typedef {{ medianMs: number, leastMs: number, overEmptyMs: number }} StartCost `overEmptyMs` is the median above
 *   that of an empty module
 */

/**
 * @param {ReadonlyMap<string, readonly number[]>} samples by program, one of which is named empty
 * @returns {Record<string, StartCost>}
 */
export function startCosts(samples) {
  const emptyMs = medianOf(samples.get("empty") ?? []);
  return Object.fromEntries(
    [...samples].map(([name, values]) => {
      const medianMs = medianOf(values);
      return [name, { medianMs, leastMs: Math.min(...values), overEmptyMs: medianMs - emptyMs }];
    }),
  );
}

/** @param {string[]} command @returns {number} milliseconds of CPU, user and system */
function runOnce([file = "", ...args]) {
  const { stdout, stderr, status } = spawnSync(file, args, { encoding: "utf8" });
  const microseconds = /^cpu (\d+)/m.exec(stdout)?.[1];
  if (microseconds === undefined) throw new Error(`${file} ended with ${status}: ${stderr.slice(0, 2000)}`);
  return Number(microseconds) / 1000;
}
