// One process of a run of kill-job.ts: works at the job until the job ends, or until it comes to a point that no process
// before it came to; there it is killed as hard as a process can be.
import { appendFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import type { Clock } from "../../src/core/clock.ts";
import { Scheduler, type StepContext } from "../../src/mod.ts";
import type { CommitRequest, JobStepSave } from "../../src/stores/data-store.ts";
import type { Row, SqlValue } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { FileDataStore } from "../../src/stores/sqlite-file/store.ts";

const [folder = "", stepsText = "", positionsText = "", points = ""] = process.argv.slice(2);
const [STEPS, POSITIONS] = [Number(stepsText), Number(positionsText)];
/** The pauses after recoveries would else take most of the time. */
const SPEED = 100;

const passed = join(folder, "points");
const journal = join(folder, "journal");
/** Of so many positions of the cursor, one has a point before each statement of its save, not before the first alone. */
const DETAILED_EVERY = 50;

const seen = new Set(linesOf(passed));
/** The call of the store that is under way; null for those that are none of the job's. */
let call: string | null = null;
let isDetailed = true;
let statements = 0;

/** Ends this process at a point that is new. */
function pass(point: string): void {
  if (call === null) return;
  const name = `${call} ${point}`;
  if (seen.has(name)) return;
  appendFileSync(passed, `${name}\n`);
  process.kill(process.pid, "SIGKILL");
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").slice(0, -1);
  } catch {
    return [];
  }
}

interface NativeDatabase {
  prepare(sql: string): { all(args: readonly SqlValue[]): Row[] };
  exec(sql: string): void;
  close(): void;
}

function openNative(path: string): NativeDatabase {
  // The native part comes with `@libsql/client`.
  const client = createRequire(import.meta.url).resolve("@libsql/client");
  const Database: new (path: string) => NativeDatabase = createRequire(client)("libsql");
  return new Database(path);
}

class KilledStore extends FileDataStore {}

const store = new KilledStore(
  (path) => {
    const database = openNative(path);
    return {
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          all: (...args) => {
            if (++statements === 1 || isDetailed) pass(`before statement ${statements}`);
            return statement.all(args);
          },
        };
      },
      close: () => database.close(),
    };
  },
  { path: join(folder, "jobs.db") },
  // What a process has written is there when it is killed, whether the disk has it or not.
  { durability: "normal" },
);

/** Gives the points of a call their name. */
function named(method: "commit" | "look" | "getJobSteps" | "saveJobStep", nameOf: (request: never) => string): void {
  const original = store[method].bind(store) as (request: unknown, ...rest: unknown[]) => Promise<unknown>;
  Object.assign(store, {
    [method]: async (request: unknown, ...rest: unknown[]) => {
      call = points === "all" || method === "saveJobStep" ? nameOf(request as never) : null;
      statements = 0;
      const answer = await original(request, ...rest);
      pass("after");
      call = null;
      isDetailed = true;
      return answer;
    },
  });
}
named("look", () => "look");
named("getJobSteps", () => "getJobSteps");
named("commit", ({ releases, additions }: CommitRequest) => {
  return `commit with ${[...releases.map(({ kind }) => kind), ...additions.map(() => "addition")]}`;
});
named("saveJobStep", ({ step }: JobStepSave) => {
  isDetailed = points === "all" && (step.cursor === null || Number(step.cursor) % DETAILED_EVERY === 0);
  return `save of ${step.name} ${step.endedAt === null ? (step.cursor ?? "begin") : "end"}`;
});

const start = Date.UTC(2030, 0, 1);
const startedAt = Date.now();
// Each process begins later than the one before can have ended.
const offset = start + seen.size * 3_600_000;
const now = (): number => Math.floor(offset + (Date.now() - startedAt) * SPEED);
const clock: Clock = {
  now,
  sleep: (until, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min((until - now()) / SPEED, 1e9));
      signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    }),
  yield: () => new Promise((resolve) => setImmediate(resolve)),
};

/** What another side gets: it takes each key once. */
const other = openNative(join(folder, "other.db"));
other.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS taken (key TEXT PRIMARY KEY)",
);
const take = other.prepare("INSERT OR IGNORE INTO taken VALUES (?)");
function effect(key: string): void {
  appendFileSync(journal, `effect ${key.slice(key.indexOf(":") + 1)}\n`);
  take.all([key]);
}
const recorded = (what: string): void => appendFileSync(journal, `recorded ${what}\n`);

const scheduler = new Scheduler({
  ...{ dataStore: store, identity: "importer", leaseDuration: { minutes: 10 }, clock, logLevel: "silent" as const },
});
const task = scheduler.task("job", { maxRecoveries: 1_000_000 }, async (_: undefined, { step }) => {
  for (let index = 1; index < STEPS; index++) {
    if (index === Math.ceil(STEPS / 2)) {
      await step.run("loop", async ({ cursor = 0, save, key }: StepContext<number>) => {
        for (let i = cursor; i < POSITIONS; i++) {
          effect(`${key}:${i}`);
          await save(i + 1);
          recorded(`loop:${i}`);
        }
      });
      recorded("loop");
      await step.sleep("settle", { minutes: 1 });
    }
    await step.run(`step ${index}`, ({ key }) => effect(key));
    recorded(`step ${index}`);
  }
  return "done";
});
await scheduler.start();
// A process before this one may have been killed when the job had ended, and its key was free.
const [ended] = (await scheduler.getJobResults({ limit: 1 })).items;
const value = ended?.returnValue ?? (await (await scheduler.addJob(task, { idempotencyKey: "job" })).wait());
appendFileSync(journal, `ended ${value}\n`);
await scheduler.stop();
