import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processCommand } from "../support/bundle-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LIBSQL, rowsOf, SQLITE, withDriver } from "./local-stores.ts";

const ROUNDS = 5;
const IDENTITIES = ["a", "b", "c", "d"];

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let command: readonly string[];
beforeAll(async () => {
  folder = await temporaryFolder();
  command = await processCommand(fileURLToPath(new URL("./start-worker.ts", import.meta.url)), folder.path);
});
afterAll(() => folder.remove());

/** A process that is told what to do by a line, and answers by a line (see start-worker.ts). */
class Worker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(identity: string, kind: string) {
    const [executable = "", ...args] = command;
    this.#child = spawn(executable, [...args, identity, kind], { stdio: ["pipe", "pipe", "inherit"] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error("the process has no output");
    const lines: Interface = createInterface({ input: stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  tell(verb: "start" | "look", path: string): void {
    this.#child.stdin?.write(`${verb}\t${path}\n`);
  }

  ask(verb: "start" | "look", path: string): Promise<string> {
    this.tell(verb, path);
    return this.answer();
  }

  async answer(): Promise<string> {
    const { value, done } = await this.#lines.next();
    return done === true ? `ended with ${this.#child.signalCode ?? this.#child.exitCode}` : value;
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}

describe.each([
  { kinds: [LIBSQL, LIBSQL, LIBSQL, LIBSQL], words: "of LibsqlDataStore" },
  { kinds: [SQLITE, SQLITE, SQLITE, SQLITE], words: "of SqliteDataStore" },
  { kinds: [LIBSQL, SQLITE, LIBSQL, SQLITE], words: "of both stores" },
])("four processes $words", ({ kinds }) => {
  const whyMissing = kinds.find((kind) => kind.whyMissing !== null)?.whyMissing ?? null;
  const workers: Worker[] = [];
  beforeAll(async () => {
    if (whyMissing !== null) return;
    workers.push(...kinds.map(({ name }, index) => new Worker(IDENTITIES[index] ?? "", name)));
    for (const worker of workers) expect(await worker.answer()).toBe("ready");
  });
  afterAll(() => {
    for (const worker of workers) worker.end();
  });

  for (let round = 1; round <= ROUNDS; round++) {
    test(`that start at once on a new file make one schema and lose nothing (${round} of ${ROUNDS})`, async ({
      skip,
    }) => {
      if (whyMissing !== null) skip(whyMissing);
      const path = join(folder.path, `${kinds.map(({ name }) => name[0]).join("")}-${round}.db`);
      for (const worker of workers) worker.tell("start", path);
      expect(await Promise.all(workers.map((worker) => worker.answer()))).toEqual(IDENTITIES.map(() => "done"));

      const found = await withDriver(LIBSQL, path, async (driver) => {
        const column = async (sql: string): Promise<unknown[]> => (await rowsOf(driver, sql)).map(({ x }) => x);
        return {
          versions: await column("SELECT version AS x FROM escapement_schema"),
          schedules: await column("SELECT id AS x FROM escapement_schedules ORDER BY id"),
          jobs: await column("SELECT idempotency_key AS x FROM escapement_jobs ORDER BY idempotency_key"),
          damage: await column("SELECT integrity_check AS x FROM pragma_integrity_check"),
        };
      });
      expect(found).toEqual({ versions: [1], schedules: IDENTITIES, jobs: IDENTITIES, damage: ["ok"] });
    });
  }
});

describe.each([
  { first: LIBSQL, second: SQLITE },
  { first: SQLITE, second: LIBSQL },
])("a file of $first.name", ({ first, second }) => {
  test(`is read and written by ${second.name}`, async ({ skip }) => {
    for (const { whyMissing } of [first, second]) if (whyMissing !== null) skip(whyMissing);
    const workers = [new Worker("a", first.name), new Worker("b", second.name)] as const;
    try {
      for (const worker of workers) expect(await worker.answer()).toBe("ready");
      const path = join(folder.path, `of ${first.name}.db`);
      const records: string[] = [];
      for (const worker of workers) {
        expect(await worker.ask("start", path)).toBe("done");
        const [one, other] = [await workers[0].ask("look", path), await workers[1].ask("look", path)];
        expect(one).toBe(other);
        records.push(one);
      }
      expect(records.map((text) => JSON.parse(text).schedules.map(({ id }: { id: string }) => id))).toEqual([
        ["a"],
        ["a", "b"],
      ]);
    } finally {
      for (const worker of workers) worker.end();
    }
  });
});
