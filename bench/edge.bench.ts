// What does a scheduler cost where nothing stays resident: CPU of a cold start beside croner, and of a warm idle tick
// beside one raw request to the same server? Guess: twice croner in UTC, half as much again where a zone is involved,
// and a tick of two to three raw requests. Method and last results: README.md. Run by run.mjs, on a built package:
// npm run build && node bench/run.mjs edge [start] [idle] [node] [deno] [bun] [workerd]
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EDGE_GOALS, type EdgeCosts } from "./edge/goals.ts";
import { cpuOfWork, type EdgeRuntime, moduleOf, runProgram } from "./edge/host.ts";
import { FIRE_TIMES, IDLE_WORK, STARTS } from "./edge/programs.ts";
import { stageFolder, startCpu } from "./edge/start-cpu.mjs";
import { startCpuInWorkerd } from "./edge/start-in-workerd.ts";
import { load, machine } from "./lib/machine.ts";
import { printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { median } from "./store/median.ts";
import { startServers } from "./store/servers.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 11);
const EDGE_RUNTIMES: readonly EdgeRuntime[] = ["node", "deno", "bun", "workerd"];
const WORKS = ["raw", "tick", "fresh"];

// From the bundle, which lies in bench/node_modules/.cache.
const root = fileURLToPath(new URL("../../../", import.meta.url));
const packages = { escapement: root, croner: `${root}bench/node_modules/croner` };

const chosen = process.argv.slice(2);
const named = EDGE_RUNTIMES.filter((runtime) => chosen.includes(runtime));
const runtimes = named.length > 0 ? named : EDGE_RUNTIMES;
const isAll = !chosen.includes("start") && !chosen.includes("idle");
if (!existsSync(`${root}dist/mod.js`)) throw new Error("the package is not built: run npm run build");

console.log(machine());
const stage = stageFolder(packages);
const data = mkdtempSync(join(tmpdir(), "escapement-bench-"));
try {
  await compareFireTimes();
  const starts = isAll || chosen.includes("start") ? await measureStarts() : new Map();
  const works = isAll || chosen.includes("idle") ? await measureWorks() : new Map();
  reportGoals(new Map(runtimes.map((one) => [one, { starts: starts.get(one) ?? {}, works: works.get(one) ?? {} }])));
} finally {
  rmSync(stage, { recursive: true, force: true });
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
}
const versions = ["croner", "deno", "bun", "workerd"].map((name) => `${name} ${versionOf(name)}`);
console.log(`\n${versions.join(", ")}; load ${load()} at the end`);

/** A comparison of costs means something where the answers are the same. */
async function compareFireTimes(): Promise<void> {
  for (const runtime of runtimes) {
    const ours = await runProgram(runtime, FIRE_TIMES.escapement, stage);
    const theirs = await runProgram(runtime, FIRE_TIMES.croner, stage);
    const lists = Object.entries(ours as Record<string, number[]>);
    for (const [name, times] of lists) {
      const others = (theirs as Record<string, number[]>)[name] ?? [];
      const at = times.findIndex((ms, index) => ms !== others[index]);
      if (at >= 0) throw new Error(`${runtime}: "${name}" differs at fire ${at}: ${times[at]}, croner ${others[at]}`);
    }
    const count = lists.reduce((sum, [, times]) => sum + times.length, 0);
    console.log(`${runtime}: ${count} fire times of ${lists.length} crontabs and zones are the same as croner's`);
  }
}

async function measureStarts(): Promise<Map<EdgeRuntime, Record<string, number>>> {
  const measured = new Map<EdgeRuntime, Record<string, number>>();
  const { empty: _, ...others } = STARTS;
  const texts = Object.fromEntries(Object.entries(others).map(([name, program]) => [name, moduleOf(program)]));
  const rows = new Map<string, string[]>(Object.keys(STARTS).map((name) => [name, [name]]));
  for (const runtime of runtimes) {
    const costs =
      runtime === "workerd"
        ? await startCpuInWorkerd(STARTS, ROUNDS, stage)
        : startCpu({ runtime, rounds: ROUNDS, packages, programs: texts });
    for (const [name, { medianMs, overEmptyMs }] of Object.entries(costs)) {
      rows.get(name)?.push(name === "empty" ? `(${medianMs.toFixed(1)})` : overEmptyMs.toFixed(1));
    }
    measured.set(runtime, Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, cost.overEmptyMs])));
    console.log(`${runtime}: ${ROUNDS} rounds of cold starts are done, load ${load()}`);
  }
  printTable(
    `Cold start: ms of CPU over an empty program (itself in brackets), medians of ${ROUNDS} rounds`,
    ["", ...runtimes],
    [...rows.values()],
  );
  return measured;
}

async function measureWorks(): Promise<Map<EdgeRuntime, Record<string, number>>> {
  const measured = new Map<EdgeRuntime, Record<string, number>>();
  const failures: string[] = [];
  const sqld = { name: "an idle tick", server: "sqld" } as const;
  const server = (await startServers([sqld], data, (_, reason) => failures.push(reason))).get("sqld");
  if (server === undefined) throw new Error(failures.join());
  try {
    for (const runtime of runtimes) {
      const samples = await cpuOfWork(runtime, IDLE_WORK, server.address, WORKS, stage);
      measured.set(
        runtime,
        Object.fromEntries(Object.entries(samples).map(([work, values]) => [work, median(values)])),
      );
    }
  } finally {
    await server.stop();
  }
  const row = (title: string, work: string): string[] => [
    title,
    ...runtimes.map((runtime) => (measured.get(runtime)?.[work] ?? Number.NaN).toFixed(2)),
  ];
  printTable(
    "Warm, against sqld by escapement/libsql/http: ms of CPU each",
    ["", ...runtimes],
    [row("a raw request", "raw"), row("an idle tick", "tick"), row("an idle tick of a new scheduler", "fresh")],
  );
  console.log(`\n- server: ${server.description}`);
  return measured;
}

function reportGoals(costs: ReadonlyMap<EdgeRuntime, EdgeCosts>): void {
  const rows: string[][] = [];
  for (const { title, runtimes: wanted, unit, most, figure } of EDGE_GOALS) {
    for (const runtime of wanted) {
      const cost = costs.get(runtime);
      const value = cost === undefined ? Number.NaN : figure(cost);
      if (Number.isNaN(value)) continue;
      const verdict = value <= most ? "reached" : "missed";
      rows.push([title, runtime, `${value.toFixed(unit === "x" ? 2 : 1)}${unit}`, `${most}${unit}`, verdict]);
    }
  }
  printTable("Goals", ["", "runtime", "measured", "at most", ""], rows);
}
