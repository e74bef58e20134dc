import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { InstalledProject } from "../package/installed.ts";
import { runOk } from "../package/run.ts";
import { tool } from "../package/stage.ts";
import { Child } from "../support/child.ts";
import { blocksOf, lowered } from "./programs.ts";

const PAGE = "docs/guides/in-your-framework.md";

/** The code of the page's file of a name, or of its program that imports a package. */
export function codeOf(name: string): string {
  const block = blocksOf(PAGE).find(({ file, code }) => file === name || code.includes(` from "${name}"`));
  if (block === undefined) throw new Error(`${PAGE} has no ${name}`);
  return block.code;
}

/** Builds the servers of the page in a folder of a project: `express.js`, `fastify.js` and `nest.js`. */
export async function buildServers(project: InstalledProject): Promise<string> {
  await project.link(["@nestjs/platform-express", "reflect-metadata", "rxjs"]);
  const folder = join(project.path, "servers");
  await mkdir(folder);
  for (const name of ["express", "fastify"]) await writeFile(join(folder, `${name}.js`), await lowered(codeOf(name)));
  await writeFile(join(folder, "scheduler.ts"), codeOf("scheduler.js"));
  await writeFile(join(folder, "nest.ts"), codeOf("nest.ts"));
  const compilerOptions = {
    ...{ module: "nodenext", target: "es2022", lib: ["es2024", "dom", "esnext.disposable"], types: ["node"] },
    ...{ strict: true, skipLibCheck: true, experimentalDecorators: true, emitDecoratorMetadata: true },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["nest.ts"] }));
  await runOk([tool("tsc"), "-p", "tsconfig.json"], { cwd: folder });
  return folder;
}

/** A server that runs, and where. */
export interface Served {
  readonly child: Child;
  readonly address: string;
}

/** Starts a server that prints where it listens. */
export async function startServer(command: readonly string[], variables: Record<string, string>): Promise<Served> {
  const child = new Child(command, { NODE_ENV: "production", PORT: "0", ...variables });
  await child.prints(/listening on http:\S+\n/);
  return { child, address: /listening on (http:\S+)/.exec(child.output)?.[1] ?? "" };
}
