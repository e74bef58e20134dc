import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "./programs.ts";
import { RUNTIMES } from "./start-cpu.mjs";
import { bundleProgram, WorkerdProcess } from "./workerd-process.ts";

/** The four runtimes; in workerd a program is a Worker. */
export type EdgeRuntime = keyof typeof RUNTIMES | "workerd";

const RESULT_MARK = "result: ";

/** The text of a module that runs a program as it is. */
export function moduleOf({ imports, body }: Program): string {
  return `${imports}\nawait (async () => { ${body} })();`;
}

/** Runs a program in a fresh process, and returns what it returns. */
export async function runProgram(runtime: EdgeRuntime, { imports, body }: Program, stage: string): Promise<unknown> {
  if (runtime !== "workerd") {
    const text = `${imports}\nconst result = await (async () => { ${body} })();`;
    return runModule(runtime, `${text}\nconsole.log("${RESULT_MARK}" + JSON.stringify(result));`, stage);
  }
  const workerd = await WorkerdProcess.start(await bundleProgram({ imports, body }, stage));
  try {
    return await workerd.run();
  } finally {
    await workerd.stop();
  }
}

/** CPU of one repetition of each work, in milliseconds: medians of blocks in turns, within one process that is warm. */
export async function cpuOfWork(
  runtime: EdgeRuntime,
  program: Program,
  address: string,
  works: readonly string[],
  stage: string,
): Promise<Readonly<Record<string, readonly number[]>>> {
  if (runtime === "workerd") return cpuInWorkerd(program, address, works, stage);
  const text = `${program.imports}
    async function run(address, work) { ${program.body} }
    const address = ${JSON.stringify(address)};
    await run(address, "declare");
    const samples = Object.fromEntries(${JSON.stringify(works)}.map((work) => [work, []]));
    for (let block = ${-WARM_UP_BLOCKS}; block < ${BLOCKS}; block++) {
      for (const [work, values] of Object.entries(samples)) {
        const before = process.cpuUsage();
        const repetitions = await run(address, work);
        const { user, system } = process.cpuUsage(before);
        if (block >= 0) values.push((user + system) / 1000 / repetitions);
      }
    }
    console.log("${RESULT_MARK}" + JSON.stringify(samples));
    process.exit(0);`;
  return runModule(runtime, text, stage) as Record<string, number[]>;
}

const BLOCKS = 9;
/** Compilers and pools of connections need some. */
const WARM_UP_BLOCKS = 4;

async function cpuInWorkerd(
  program: Program,
  address: string,
  works: readonly string[],
  stage: string,
): Promise<Record<string, number[]>> {
  const workerd = await WorkerdProcess.start(await bundleProgram(program, stage));
  try {
    await workerd.run({ address, work: "declare" });
    const samples: Record<string, number[]> = Object.fromEntries(works.map((work) => [work, []]));
    for (let block = -WARM_UP_BLOCKS; block < BLOCKS; block++) {
      for (const [work, values] of Object.entries(samples)) {
        const before = workerd.cpuMs();
        const repetitions = Number(await workerd.run({ address, work }));
        if (block >= 0) values.push((workerd.cpuMs() - before) / repetitions);
      }
    }
    return samples;
  } finally {
    await workerd.stop();
  }
}

function runModule(runtime: keyof typeof RUNTIMES, text: string, stage: string): unknown {
  const path = join(stage, "program.mjs");
  writeFileSync(path, text);
  const [file = "", ...args] = RUNTIMES[runtime];
  const { stdout, stderr, status } = spawnSync(file, [...args, path], { encoding: "utf8" });
  const line = stdout.split("\n").find((one) => one.startsWith(RESULT_MARK));
  if (line === undefined) throw new Error(`${runtime} ended with ${status}: ${stderr.slice(0, 2000)}`);
  return JSON.parse(line.slice(RESULT_MARK.length));
}
