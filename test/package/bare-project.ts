import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runOk } from "./run.ts";
import { ROOT, stagePackage, temporaryFolder } from "./stage.ts";

/** A project that has installed the package with its dependencies alone, without optional peers. */
export class BareProject implements AsyncDisposable {
  readonly #path: string;
  readonly #folder: AsyncDisposable;

  private constructor(folder: { readonly path: string } & AsyncDisposable) {
    this.#path = folder.path;
    this.#folder = folder;
  }

  /** @param purpose names its folder */
  static async make(purpose: string): Promise<BareProject> {
    await using stage = await stagePackage();
    const folder = await temporaryFolder(purpose);
    const modules = join(folder.path, "node_modules");
    await mkdir(join(modules, "escapement"), { recursive: true });
    for (const name of ["package.json", "dist", "wasm"]) {
      await cp(join(stage.path, name), join(modules, "escapement", name), { recursive: true });
    }
    for (const name of ["temporal-polyfill", "temporal-utils"]) {
      await symlink(join(ROOT, "node_modules", name), join(modules, name), "dir");
    }
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ private: true, type: "module" }));
    return new BareProject(folder);
  }

  /** What a program of the project prints on Node. */
  async outputOf(program: string): Promise<string> {
    await writeFile(join(this.#path, "program.js"), program);
    return runOk(["node", "program.js"], { cwd: this.#path });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}
