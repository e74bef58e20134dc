import { Buffer } from "node:buffer";
import { constants, openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { CliError, codeOf } from "./failure.ts";
import type { CliIo } from "./io.ts";

/** More than any crontab or manifest, and less than what would take a minute. */
const TEXT_BYTES_MAX = 8_000_000;

/**
 * The text of a file, or of the standard input for `-`.
 * @throws {CliError} when it cannot be read, or has more than `bytesMax`
 */
export async function readText(io: CliIo, path: string, bytesMax: number = TEXT_BYTES_MAX): Promise<string> {
  if (isStandardInput(path)) return readBounded(io.readInput(), "the standard input", bytesMax);
  const place = resolve(io.cwd, path);
  try {
    const facts = await stat(place);
    if (facts.isFIFO() && !("Deno" in globalThis || "Bun" in globalThis)) {
      const text = await readPipe(io, place, path, bytesMax);
      if (text === "") throw new CliError(`${path} is a pipe into which nobody has written`, { code: "file" });
      return text;
    }
    if (facts.isDirectory()) throw new CliError(`${path} is a folder, and no file`, { code: "file" });
    if (!facts.isFile() && !facts.isFIFO()) throw new CliError(`${path} is a device, and no file`, { code: "file" });
    if (facts.size > bytesMax) throw tooLarge(path, bytesMax);
    return await readFile(place, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    const reason = REASONS[codeOf(error) ?? ""] ?? `cannot be read: ${codeOf(error) ?? String(error)}`;
    throw new CliError(`${path} ${reason}`, { code: "file" });
  }
}

export function isStandardInput(path: string): boolean {
  return path === "-" || path === "/dev/stdin";
}

/** Text that comes in pieces. @throws {CliError} as soon as it is too long */
async function readBounded(pieces: AsyncIterable<Uint8Array>, name: string, bytesMax: number): Promise<string> {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > bytesMax) throw tooLarge(name, bytesMax);
    read.push(piece);
  }
  return Buffer.concat(read).toString("utf8");
}

/** The text of a pipe, by a socket: to open and to read a pipe may take for ever, and a process does not end while a
 *  thread of Node's is at that. */
async function readPipe(io: CliIo, place: string, name: string, bytesMax: number): Promise<string> {
  const fd = openSync(place, constants.O_RDONLY | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  const end = (): void => void socket.destroy();
  io.signals.first.addEventListener("abort", end, { once: true });
  try {
    return await readBounded(socket, name, bytesMax);
  } finally {
    io.signals.first.removeEventListener("abort", end);
    socket.destroy();
  }
}

function tooLarge(name: string, bytesMax: number): CliError {
  return new CliError(`${name} has more than ${bytesMax / 1_000_000} MB`, { code: "file" });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read by this user",
  ELOOP: "is a link to itself",
};
