import type { Program } from "./programs.ts";
import { startCosts } from "./start-cpu.mjs";
import { bundleProgram, WorkerdProcess } from "./workerd-process.ts";

/** What {@link startCpu} measures of other runtimes: CPU of fresh processes until the answer to their first request. */
export async function startCpuInWorkerd(
  programs: Readonly<Record<string, Program>>,
  rounds: number,
  stage: string,
): Promise<ReturnType<typeof startCosts>> {
  const bundles = new Map<string, Awaited<ReturnType<typeof bundleProgram>>>();
  for (const [name, program] of Object.entries(programs)) bundles.set(name, await bundleProgram(program, stage));
  const samples = new Map([...bundles.keys()].map((name) => [name, [] as number[]]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, bundle] of bundles) {
      const workerd = await WorkerdProcess.start(bundle);
      try {
        await workerd.run();
        if (round >= 0) samples.get(name)?.push(workerd.cpuMs());
      } finally {
        await workerd.stop();
      }
    }
  }
  return startCosts(samples);
}
