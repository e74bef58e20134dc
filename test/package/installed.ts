import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { runOk } from "./run.ts";
import { ROOT, stagePackage, temporaryFolder } from "./stage.ts";

/** What `npm pack` says of a tarball. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** A project that has installed the tarball, with `@libsql/client` beside it. */
export class InstalledProject implements AsyncDisposable {
  readonly path: string;
  readonly packed: Packed;
  readonly #folder: AsyncDisposable;

  private constructor(folder: { readonly path: string } & AsyncDisposable, packed: Packed) {
    this.path = folder.path;
    this.packed = packed;
    this.#folder = folder;
  }

  /** @param purpose names its folder */
  static async make(purpose: string): Promise<InstalledProject> {
    await using stage = await stagePackage();
    const folder = await temporaryFolder(purpose);
    const { path } = folder;
    const pack = ["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", path];
    const packed: Packed = JSON.parse(await runOk(pack, { cwd: stage.path }))[0];
    await writeFile(join(path, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await writeFile(join(path, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }));
    const install = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", `./${packed.filename}`];
    await runOk([...install, `@libsql/client@${manifest.devDependencies["@libsql/client"]}`], { cwd: path });
    return new InstalledProject(folder, packed);
  }

  /** Gives the project packages that the repository has installed. */
  async link(names: Iterable<string>): Promise<void> {
    for (const name of names) {
      const path = join(this.path, "node_modules", name);
      await mkdir(dirname(path), { recursive: true });
      await symlink(join(ROOT, "node_modules", name), path, "dir");
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#folder[Symbol.asyncDispose]());
  }
}
