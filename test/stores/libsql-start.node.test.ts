import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createClient } from "@libsql/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const IDENTITIES = ["a", "b", "c", "d"];
const ROUNDS = 5;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const workers: Worker[] = [];

/** A process that is told a url by a line, and answers by a line. */
class Worker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(bundle: string, identity: string) {
    this.#child = spawn(process.execPath, [bundle, identity], { stdio: ["pipe", "pipe", "inherit"] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("the process has no output");
    const lines: Interface = createInterface({ input: stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  tell(url: string): void {
    this.#child.stdin?.write(`${url}\n`);
  }

  async answer(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done === true ? `ended with ${this.#child.signalCode ?? this.#child.exitCode}` : value;
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}

beforeAll(async () => {
  folder = await temporaryFolder();
  const bundle = join(folder.path, "start-worker.mjs");
  await bundleProcess(fileURLToPath(new URL("./start-worker.ts", import.meta.url)), bundle);
  workers.push(...IDENTITIES.map((identity) => new Worker(bundle, identity)));
  for (const worker of workers) expect(await worker.answer()).toBe("ready");
});
afterAll(async () => {
  for (const worker of workers) worker.end();
  await folder.remove();
});

for (let round = 1; round <= ROUNDS; round++) {
  test(`four processes that start at once on a new file make one schema and lose nothing (${round} of ${ROUNDS})`, async () => {
    const url = `file:${join(folder.path, `${round}.db`)}`;
    for (const worker of workers) worker.tell(url);
    expect(await Promise.all(workers.map((worker) => worker.answer()))).toEqual(IDENTITIES.map(() => "done"));

    const client = createClient({ url });
    const column = async (sql: string): Promise<unknown[]> => (await client.execute(sql)).rows.map((row) => row[0]);
    expect({
      versions: await column("SELECT version FROM escapement_schema"),
      schedules: await column("SELECT id FROM escapement_schedules ORDER BY id"),
      jobs: await column("SELECT idempotency_key FROM escapement_jobs ORDER BY idempotency_key"),
      damage: await column("PRAGMA integrity_check"),
    }).toEqual({ versions: [1], schedules: IDENTITIES, jobs: IDENTITIES, damage: ["ok"] });
    client.close();
  });
}
