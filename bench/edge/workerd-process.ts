import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bundle, bundleWorker } from "../../test/bundles/bundle.ts";
import { freePort } from "../../test/support/free-port.ts";
import type { Program } from "./programs.ts";

const COMPATIBILITY_DATE = "2026-04-26";
const START_MS_MAX = 30_000;

/** Bundles a program as a Worker that answers with what the program returns. `stage` holds the packages. */
export function bundleProgram({ imports, body }: Program, stage: string): Promise<Bundle> {
  const source = `${imports}
    async function run(address, work) { ${body} }
    export default {
      async fetch(request) {
        const query = new URL(request.url).searchParams;
        return Response.json((await run(query.get("address"), query.get("work"))) ?? null);
      },
    };`;
  return bundleWorker(source, { stage, isMinified: false });
}

/** One workerd with one Worker and nothing else, not even what miniflare adds. */
export class WorkerdProcess {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #port: number;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess, folder: string, port: number) {
    this.#child = child;
    this.#folder = folder;
    this.#port = port;
    this.#ended = new Promise((resolve) => child.once("exit", resolve));
  }

  static async start({ code, wasm }: Bundle): Promise<WorkerdProcess> {
    const folder = mkdtempSync(join(tmpdir(), "escapement-workerd-"));
    const port = await freePort();
    writeFileSync(join(folder, "main.js"), code);
    for (const [name, bytes] of wasm) writeFileSync(join(folder, name), bytes);
    const modules = [...wasm.keys()].map((name) => `(name = "./${name}", wasm = embed "${name}")`);
    writeFileSync(
      join(folder, "config.capnp"),
      `using Workerd = import "/workerd/workerd.capnp";
      const config :Workerd.Config = (
        services = [
          (name = "main", worker = (
            modules = [${['(name = "main", esModule = embed "main.js")', ...modules].join(", ")}],
            compatibilityDate = "${COMPATIBILITY_DATE}",
          )),
          (name = "internet", network = (allow = ["public", "private"])),
        ],
        sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
      );`,
    );
    const child = spawn(binary(), ["serve", join(folder, "config.capnp")], { stdio: ["ignore", "ignore", "inherit"] });
    return new WorkerdProcess(child, folder, port);
  }

  /** What the Worker's program returns. The first request is repeated until workerd listens. */
  async run(query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const url = `http://127.0.0.1:${this.#port}/?${new URLSearchParams(query)}`;
    const deadline = performance.now() + START_MS_MAX;
    for (;;) {
      const answer = await fetch(url).catch(() => null);
      if (answer !== null) {
        if (!answer.ok) throw new Error(`the Worker answered: ${await answer.text()}`);
        return await answer.json();
      }
      if (this.#child.exitCode !== null) throw new Error(`workerd ended with ${this.#child.exitCode}`);
      if (performance.now() > deadline) throw new Error(`workerd did not answer within ${START_MS_MAX} ms`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Milliseconds of CPU of all its threads up to now. */
  cpuMs(): number {
    const tasks = `/proc/${this.#child.pid}/task`;
    const nanoseconds = readdirSync(tasks).map(
      (task) => readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0],
    );
    return nanoseconds.reduce((sum, ns) => sum + Number(ns), 0) / 1e6;
  }

  async stop(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The program of workerd that miniflare runs. */
function binary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  return require.resolve(`@cloudflare/workerd-linux-64/bin/workerd`);
}
