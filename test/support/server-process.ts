import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { HANG_MS } from "./hang.ts";
import type { TemporaryFolder } from "./temporary-folder.ts";

/** Kernel's helper that starts a program as another user, and ends it with its parent. Only Linux has it. */
const SETPRIV = "/usr/bin/setpriv";
/** Folders of servers, which only an administrator's search path has. */
const FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"];
/** Another program may use the port for a moment, after which the server is started again. */
const START_TRIES_MAX = 50;
const START_PAUSE_MS = 100;

/** How to start a server. */
export interface ServerCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the server prints when it can be used. */
  readonly ready: RegExp;
  /** The signal by which it crashes. Default: SIGKILL */
  readonly crash?: NodeJS.Signals;
  /** The user that it runs as, where this process is an administrator's. Default: the same user */
  readonly user?: ServerUser | null;
}

export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** A server of this machine, which ends when the process that started it ends, however that ends. */
export class ServerProcess {
  readonly #command: ServerCommand;
  #process: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #output = "";
  #onOutput = (): void => {};

  constructor(command: ServerCommand) {
    this.#command = command;
  }

  /** What it printed since it was last started. */
  get output(): string {
    return this.#output;
  }

  /** Starts it, and waits until it can be used. Does nothing while it runs. */
  async start(): Promise<void> {
    if (this.#process !== null) return;
    for (let tries = 1; ; tries++) {
      if (await this.#starts()) return;
      if (!/in use/i.test(this.#output) || tries === START_TRIES_MAX) {
        throw new Error(`${this.#command.name} could not be started:\n${this.#output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, START_PAUSE_MS));
    }
  }

  /** Ends it, by default at once, as a crash does. */
  async kill(signal: NodeJS.Signals = this.#command.crash ?? "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#process = null;
    child?.kill(signal);
    await this.#ended;
  }

  /** Freezes it, so that it neither answers nor refuses, or lets it go on. */
  freeze(isFrozen: boolean): void {
    // Not by the child's own method: on Deno it sends one signal only.
    if (this.#process?.pid !== undefined) process.kill(this.#process.pid, isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  /** Whether it can be used. Otherwise it has ended. */
  async #starts(): Promise<boolean> {
    const { name, command, args, ready, user = null, crash = "SIGKILL" } = this.#command;
    this.#output = "";
    const prefix = existsSync(SETPRIV) ? [SETPRIV, "--pdeathsig", crash.slice("SIG".length), ...userArgs(user)] : [];
    const [program = command, ...rest] = [...prefix, command, ...args];
    const child = spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, LC_ALL: "C" } });
    let isOver = false;
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        isOver = true;
        this.#onOutput();
        resolve();
      };
      child.once("close", end);
      child.once("error", (error) => {
        this.#output += error.message;
        end();
      });
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        this.#output += data.toString();
        this.#onOutput();
      });
    }
    const deadline = AbortSignal.timeout(HANG_MS);
    while (!isOver && !ready.test(this.#output)) {
      if (deadline.aborted) {
        child.kill("SIGKILL");
        throw new Error(`${name} did not start within ${HANG_MS} ms:\n${this.#output}`);
      }
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve;
        deadline.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (!isOver) this.#process = child;
    return !isOver;
  }
}

/** A server with a folder of its own, which tests crash and start again. */
export abstract class TestServer {
  readonly #server: ServerProcess;
  readonly #folder: TemporaryFolder;

  protected constructor(command: ServerCommand, folder: TemporaryFolder) {
    this.#server = new ServerProcess(command);
    this.#folder = folder;
  }

  /** The folder with what it has on disk. */
  protected get folder(): string {
    return this.#folder.path;
  }

  /** What it printed since it was last started. */
  get output(): string {
    return this.#server.output;
  }

  /** Starts it after `kill`, on the same port and the data that it had. */
  resume(): Promise<void> {
    return this.#server.start();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.resume();
  }

  /** Ends it at once, as a crash does. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Freezes the process, so that it neither answers nor refuses, or lets it go on. */
  freeze(isFrozen: boolean): void {
    this.#server.freeze(isFrozen);
  }

  /** Ends it, and removes its folder. */
  async stop(): Promise<void> {
    await this.kill();
    await this.#folder.remove();
  }
}

/** A program's file. Where there is none, the error names the Debian package that has it. */
export function serverBinary(command: string, debianPackage: string, folders: readonly string[] = FOLDERS): string {
  const searched = [...(process.env.PATH ?? "").split(delimiter), ...folders];
  const file = searched.map((folder) => join(folder, command)).find(existsSync);
  if (file !== undefined) return file;
  throw new Error(
    `the test server ${command} is missing; install it with: apt-get update && apt-get install -y ${debianPackage}`,
  );
}

/** Folders of the versions of a program under one folder, the newest first. */
export function versionFolders(parent: string, below: string): readonly string[] {
  if (!existsSync(parent)) return [];
  const versions = readdirSync(parent).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(parent, version, below));
}

/** For an administrator's process, a user who is none: the first of the named ones that this machine has. Otherwise
 *  null, because the process may run every server itself. */
export function plainUser(...names: readonly string[]): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of names) {
    try {
      const [uid, gid] = ["-u", "-g"].map((which) => Number(execFileSync("id", [which, name], { stdio: "pipe" })));
      if (uid !== undefined && gid !== undefined) return { name, uid, gid };
    } catch {
      // This machine has no such user.
    }
  }
  throw new Error(`this machine has none of the users ${names.join(", ")}`);
}

/** Gives a folder to the user of a server. */
export async function giveFolder(path: string, user: ServerUser | null): Promise<void> {
  if (user !== null) await chown(path, user.uid, user.gid);
}

/** Arguments of `setpriv`. */
function userArgs(user: ServerUser | null): readonly string[] {
  return user === null ? [] : ["--reuid", `${user.uid}`, "--regid", `${user.gid}`, "--clear-groups"];
}

/** Runs a server's tool to its end. */
export function runTool(user: ServerUser | null, command: string, ...args: readonly string[]): void {
  const [program = command, ...rest] =
    user === null ? [command, ...args] : [SETPRIV, ...userArgs(user), command, ...args];
  execFileSync(program, rest, { stdio: "pipe", env: { ...process.env, LC_ALL: "C" } });
}
