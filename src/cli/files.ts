import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CliError, codeOf } from "./failure.ts";
import type { CliIo } from "./io.ts";

/** More than any crontab, and less than what would fill the memory. */
const FILE_LENGTH_MAX = 64_000_000;

/** The text of a file, or of the standard input for `-`. @throws {CliError} when it cannot be read */
export async function readText(io: CliIo, path: string): Promise<string> {
  if (path === "-") return io.readInput();
  try {
    const text = await readFile(resolve(io.cwd, path), "utf8");
    if (text.length <= FILE_LENGTH_MAX) return text;
  } catch (error) {
    const reason = REASONS[codeOf(error) ?? ""] ?? `cannot be read: ${codeOf(error) ?? String(error)}`;
    throw new CliError(`${path} ${reason}`, { code: "file" });
  }
  throw new CliError(`${path} has more than ${FILE_LENGTH_MAX / 1_000_000} MB`, { code: "file" });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read by this user",
  EISDIR: "is a folder, and no file",
};
