import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

/** A disk in memory, as small as wanted. Making one is the superuser's right. */
export class SmallDisk {
  readonly path: string;
  readonly #readOnlyPath: string;
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;

  private constructor(folder: Awaited<ReturnType<typeof temporaryFolder>>) {
    this.#folder = folder;
    this.path = join(folder.path, "disk");
    this.#readOnlyPath = join(folder.path, "read-only");
  }

  /** @returns the disk, or why there can be none here */
  static async mount(sizeKiB: number): Promise<SmallDisk | string> {
    const folder = await temporaryFolder();
    const disk = new SmallDisk(folder);
    await mkdir(disk.path);
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${sizeKiB}k`, "tmpfs", disk.path]);
      return disk;
    } catch (error) {
      await folder.remove();
      return `no disk can be mounted here: ${String(error).trim()}`;
    }
  }

  async resize(sizeKiB: number): Promise<void> {
    await run("mount", ["-o", `remount,size=${sizeKiB}k`, this.path]);
  }

  /** Another path to the same files, by which they can only be read. */
  async mountReadOnly(): Promise<string> {
    await mkdir(this.#readOnlyPath);
    await run("mount", ["--bind", this.path, this.#readOnlyPath]);
    await run("mount", ["-o", "remount,bind,ro", this.#readOnlyPath]);
    return this.#readOnlyPath;
  }

  async remove(): Promise<void> {
    // Lazily: the native client keeps handles of closed files until they are garbage.
    if (existsSync(this.#readOnlyPath)) await run("umount", ["--lazy", this.#readOnlyPath]);
    await run("umount", ["--lazy", this.path]);
    await this.#folder.remove();
  }
}
