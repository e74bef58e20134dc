import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { startServer } from "../../test/support/http-server.ts";
import { bullBoard } from "./bull-board.ts";
import { escapement, type Recorded, raw, type Served } from "./contestants.ts";

export type ServerKind = "memory" | "file" | "raw" | "bull-board";

/** What a server's process is told first. */
interface Setup {
  readonly kind: ServerKind;
  /** The folder of a file, or the address of Redis. */
  readonly address: string;
  /** Of `raw`. */
  readonly answers: readonly Recorded[];
}

/** A server in a process of its own, so that its CPU is its own. */
export interface Child {
  readonly url: string;
  /** Microseconds that its process has computed. */
  cpuUs(): Promise<number>;
  publish(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Runs this bundle once more, as a server. @throws {Error} when it ends before it serves */
export async function startChild(kind: ServerKind, address = "", answers: readonly Recorded[] = []): Promise<Child> {
  const bundle = process.argv[1];
  if (bundle === undefined) throw new Error("the path of the bundle is unknown");
  const child = fork(bundle, ["serve"], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const setup: Setup = { kind, address, answers };
  const port = await ask(child, { setup });
  return {
    url: `http://127.0.0.1:${port}`,
    cpuUs: () => ask(child, { cpu: true }),
    publish: async (count) => void (await ask(child, { publish: count })),
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Sends a message and waits for the number that comes back. One at a time. */
function ask(child: ChildProcess, message: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`the server ended with exit code ${code}`));
    child.once("exit", fail);
    child.once("message", (answer) => {
      child.off("exit", fail);
      resolve(Number(answer));
    });
    child.send(message);
  });
}

/** What such a process does: it serves, and answers its parent. */
export function runChild(): void {
  let served: Served | undefined;
  process.on("message", async (message: { setup?: Setup; publish?: number }) => {
    const { setup, publish } = message;
    if (setup !== undefined) {
      served = await servedBy(setup);
      const { port } = await startServer(served.fetch);
      process.send?.(port);
    } else if (publish !== undefined) {
      await served?.publish(publish);
      process.send?.(publish);
    } else {
      const { user, system } = process.cpuUsage();
      process.send?.(user + system);
    }
  });
}

async function servedBy({ kind, address, answers }: Setup): Promise<Served> {
  switch (kind) {
    case "memory":
      return escapement(null);
    case "file":
      return escapement(address);
    case "raw":
      return raw(answers);
    case "bull-board":
      return bullBoard(address);
    default:
      return kind satisfies never;
  }
}
