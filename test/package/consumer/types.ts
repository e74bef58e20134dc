// What a user's code looks like to the compiler: checked against the packed tarball, never run.
import {
  CronTrigger,
  defineTasks,
  type Job,
  type JobContext,
  MemoryDataStore,
  Scheduler,
  type Task,
  type Trigger,
} from "escapement";
import { createWorker } from "escapement/cloudflare";
import { CronTrigger as CronTriggerAlone, triggerFromJSON } from "escapement/cron";
import { D1DataStore } from "escapement/d1";
import { DurableObjectDataStore } from "escapement/durable-object";
import { LibsqlDataStore } from "escapement/libsql";
import { SqliteDataStore } from "escapement/sqlite";
import { VirtualClock } from "escapement/testing";
import { WorkerExecutor } from "escapement/worker";

export const trigger: Trigger = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
export const alone: CronTriggerAlone = new CronTriggerAlone({ hour: 9 });
export const copy: Trigger = triggerFromJSON(alone.toJSON());
export const zone: string | undefined = trigger.next()?.timeZoneId;

/** For a page, without the condition `browser`. */
export const workers: WorkerExecutor = new WorkerExecutor({
  worker: () => new Worker(new URL("./tasks-worker.js", import.meta.url), { type: "module" }),
});

/** No types of Cloudflare's are installed here. */
export const worker: object = createWorker({ scheduler: () => new Scheduler() });

export async function main(): Promise<number> {
  await using scheduler = new Scheduler({
    dataStore: new LibsqlDataStore({ url: "file:jobs.db" }),
    clock: new VirtualClock(),
  });
  const add = scheduler.task("add", ({ a, b }: { a: number; b: number }, _context: JobContext) => a + b);
  const same: Task<{ a: number; b: number }, number> = add;
  await scheduler.addSchedule(add, trigger, { id: "sum", payload: { a: 1, b: 2 }, misfireGraceTime: { minutes: 5 } });
  // @ts-expect-error a payload of the wrong shape does not compile
  await scheduler.addJob(add, { payload: { a: "one" } });
  // @ts-expect-error nor does a payload that is left out
  await scheduler.addJob(add);
  const job: Job<number> = await scheduler.addJob(add, { payload: { a: 1, b: 2 }, idempotencyKey: perhaps() });
  const [sum, bye] = await scheduler.addJobs([{ task: add, payload: { a: 1, b: 2 } }, { task: tasks.bye }]);
  const values: [number, string] = [await sum.wait(), await bye.wait()];
  await scheduler.schedule(
    "report",
    "0 9 * * mon-fri",
    { payload: values, name: perhaps() },
    (pair: [number, string]) => pair,
  );
  // @ts-expect-error the handler needs a payload
  await scheduler.schedule("report", "0 9 * * mon-fri", (pair: [number, string]) => pair);
  scheduler.use(tasks, { timeout: "5m", executor: perhaps() });
  const previewed = await (await scheduler.addSchedule(tasks.bye, "@daily")).preview({ limit: 1 });
  const hours: (number | undefined)[] = [job.createdAt.epochMilliseconds, previewed[0]?.fireTime.hour];
  return (hours[0] ?? 0) + (await scheduler.runJob(same, { payload: { a: 1, b: 2 } }));
}

declare function perhaps(): string | undefined;

export const tasks = defineTasks({
  greet: { handler: ({ name }: { name: string }, { attempt }) => `Hello, ${name} (${attempt})` },
  bye: { settings: { retry: { maxAttempts: 3 } }, handler: () => "Bye" },
});

export const store: MemoryDataStore = new MemoryDataStore();
export const kept: SqliteDataStore = new SqliteDataStore({ path: ":memory:" }, { durability: "normal" });

// The shapes of Cloudflare's own types, as far as they matter here.
declare abstract class D1Database {
  prepare(query: string): D1PreparedStatement;
  batch<T = unknown>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]>;
  withSession(constraint?: string): unknown;
}
declare abstract class D1PreparedStatement {
  bind(...values: unknown[]): D1PreparedStatement;
  first<T = unknown>(column: string): Promise<T | null>;
  all<T = Record<string, unknown>>(): Promise<D1Result<T>>;
}
interface D1Result<T> {
  success: true;
  results: T[];
  meta: Record<string, unknown>;
}
type SqlStorageValue = ArrayBuffer | string | number | null;
interface DurableObjectStorage {
  sql: { exec<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: unknown[]): SqlStorageCursor<T> };
  transactionSync<T>(closure: () => T): T;
}
declare abstract class SqlStorageCursor<T extends Record<string, SqlStorageValue>> {
  toArray(): T[];
  one(): T;
}
declare const d1: D1Database;
declare const storage: DurableObjectStorage;

export const inD1: D1DataStore = new D1DataStore(d1, { tablePrefix: "jobs_", timeout: "5s" });
export const inObject: DurableObjectDataStore = new DurableObjectDataStore(storage, { reset: true });
// @ts-expect-error the state of an object is not its storage
export const inState: DurableObjectDataStore = new DurableObjectDataStore({ storage });
// @ts-expect-error a name is no binding
export const byName: D1DataStore = new D1DataStore("DB");
