import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runOk } from "./run.ts";

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
 * A folder with what the package consists of, freshly built. Tests of the built form use it and not the tree's own
 * `dist`, which may be stale or be rebuilt meanwhile. Files in it can `import "escapement"` and every dependency.
 */
export async function stagePackage(): Promise<{ path: string } & AsyncDisposable> {
  const stage = await temporaryFolder("stage");
  for (const name of ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "wasm/dist"]) {
    if (existsSync(join(ROOT, name))) await cp(join(ROOT, name), join(stage.path, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(stage.path, "node_modules"), "dir");
  await runOk(["node", "scripts/build.mjs", "--outdir", join(stage.path, "dist")], { cwd: ROOT });
  return stage;
}
