import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { HANG_MS } from "../support/hang.ts";
import { type Ended, run } from "./run.ts";

/** The repository's root folder. */
export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** The command line of a tool that `npm ci` installed. */
export function tool(name: string): string {
  return join(ROOT, "node_modules", ".bin", name);
}

/** A temporary folder that is gone once it is disposed of. */
export async function temporaryFolder(purpose: string): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), `escapement-${purpose}-`));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/**
 * A folder with what the package consists of, built once in a run of the tests. Tests of the built form use it and not
 * the tree's own `dist`, which may be stale or be rebuilt meanwhile. Files in it can `import "escapement"` and every
 * dependency.
 */
export async function stagePackage(): Promise<{ path: string } & AsyncDisposable> {
  const stage = await temporaryFolder("stage");
  const beside = ["README.md", "LICENSE", "wasm/dist", "examples/cloudflare-template"];
  for (const name of ["package.json", ...beside]) {
    if (existsSync(join(ROOT, name))) await cp(join(ROOT, name), join(stage.path, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(stage.path, "node_modules"), "dir");
  await cp(await builtPackage(), join(stage.path, "dist"), { recursive: true });
  return stage;
}

/** Waits until a worker of this run has built the package, or builds it. */
async function builtPackage(): Promise<string> {
  const folder = inject("runFolder");
  if (folder === undefined) throw new Error("vitest.config.ts provides no folder for what a run builds");
  const [dist, report] = [join(folder, "dist"), join(folder, "build.json")];
  const isFirst = await mkdir(join(folder, "build")).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const built = await run(["node", "scripts/build.mjs", "--outdir", dist], { cwd: ROOT });
    // Whoever finds the report finds all of it.
    await writeFile(`${report}.new`, JSON.stringify(built));
    await rename(`${report}.new`, report);
  }
  const { exitCode, output }: Ended = JSON.parse(await textOf(report));
  if (exitCode !== 0) throw new Error(`the build ended with ${exitCode}:\n${output}`);
  return dist;
}

/** Waits for a file that another process writes. */
async function textOf(path: string): Promise<string> {
  const deadline = AbortSignal.timeout(HANG_MS);
  for (;;) {
    if (existsSync(path)) return readFile(path, "utf8");
    if (deadline.aborted) throw new Error(`there was no ${path} within ${HANG_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
