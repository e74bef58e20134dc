import { PostgresDataStore, PostgresEventBroker } from "../../src/postgres.ts";
import { Scheduler } from "../../src/scheduler.ts";
import type { WakeContestant, WakeSettings } from "../brokers/wake.ts";
import { type Contestant, countdown, load, until } from "../store/contestant.ts";
import { CONFIGURATION, openLoop } from "../store/escapement-queue.ts";
import { GRAPHILE_WORKER, PLAIN_GRAPHILE_WORKER } from "../store/graphile-worker.ts";

const ESCAPEMENT: Contestant = {
  name: "Escapement",
  runtime: "node",
  server: "postgres",
  keeps: "either",
  configuration: CONFIGURATION,
  packages: ["postgres"],
  open: ({ address, name, isKept }) => openLoop(new PostgresDataStore({ url: address }, { schema: name }), isKept),
};

export interface Boss {
  on(event: "error", listener: (error: Error) => void): void;
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options?: object): Promise<void>;
  schedule(name: string, cron: string, data: object | null, options: object): Promise<void>;
  send(name: string, data: object): Promise<unknown>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  work(
    name: string,
    options: object,
    handler: (jobs: { data: { payload: number } }[]) => Promise<void>,
  ): Promise<string>;
  notifyWorker(id: string): void;
}

const WORKERS = 4;
const BATCH_SIZE = 1000;

export async function openBoss(options: object): Promise<Boss> {
  const { PgBoss } = await load<{ PgBoss: new (options: object) => Boss }>(import.meta.resolve("pg-boss-12"));
  const boss = new PgBoss(options);
  boss.on("error", (error) => console.error(error));
  await boss.start();
  return boss;
}

const PG_BOSS: Contestant = {
  name: "pg-boss 12",
  runtime: "node 24",
  server: "postgres",
  keeps: "always",
  configuration: `${WORKERS} workers with batchSize ${BATCH_SIZE}, each notified after a batch so that none waits for its poll, insert`,
  packages: ["pg-boss-12"],
  open: (settings) => openBossQueue(settings, false),
};

async function openBossQueue(
  { address, name }: Parameters<Contestant["open"]>[0],
  supervise: boolean,
): ReturnType<Contestant["open"]> {
  const boss = await openBoss({ connectionString: address, schema: name, supervise, schedule: false, max: 25 });
  await boss.createQueue("noop");
  return {
    add: (payload) => boss.send("noop", { payload }),
    addMany: (payloads) =>
      boss.insert(
        "noop",
        payloads.map((payload) => ({ data: { payload } })),
      ),
    process: async (count, onRun) => {
      const { done, tick } = countdown(count);
      const ids: string[] = [];
      for (let index = 0; index < WORKERS; index++) {
        const options = { batchSize: BATCH_SIZE, pollingIntervalSeconds: 0.5 };
        const id: string = await boss.work("noop", options, async (jobs) => {
          for (const { data } of jobs) onRun(data.payload);
          // The outcome of the batch is recorded after the handler has returned.
          setImmediate(() => {
            for (const each of ids) boss.notifyWorker(each);
          });
          for (const _ of jobs) tick();
        });
        ids.push(id);
      }
      await done;
      if (Number.isFinite(count)) await until(async () => (await unfinished(address, name)) === 0);
    },
    close: () => boss.stop({ graceful: true, wait: true, timeout: 10_000 }),
  };
}

/** Those of a soak. Its jobs come from another process, which wakes the worker; the defaults of graphile-worker would not
 *  keep up. */
export const SOAKED: readonly Contestant[] = [
  {
    ...ESCAPEMENT,
    name: "Escapement, with its broker",
    open: ({ address, name, isKept }) => {
      const store = new PostgresDataStore({ url: address }, { schema: name });
      return openLoop(store, isKept, new PostgresEventBroker({ url: address, channel: name }));
    },
  },
  GRAPHILE_WORKER,
  // With its maintenance, as services run it.
  { ...PG_BOSS, open: (settings) => openBossQueue(settings, true) },
];

export const QUEUES: readonly Contestant[] = [ESCAPEMENT, GRAPHILE_WORKER, PLAIN_GRAPHILE_WORKER, PG_BOSS];

export interface Sql {
  unsafe<Row extends object>(query: string): Promise<Row[]>;
  reserve(): Promise<Sql & { release(): void }>;
  /** @param options.timeout seconds to wait for what is under way */
  end(options?: { timeout: number }): Promise<void>;
}

/** A client of the bench's own. The package is the library's. */
export async function connectSql(address: string): Promise<Sql> {
  const url = new URL("../../../node_modules/postgres/src/index.js", import.meta.url).href;
  const { default: postgres } = await load<{ default: (address: string, options: object) => Sql }>(url);
  return postgres(address, { max: 2, onnotice: () => {} });
}

let watcher: Promise<Sql> | null = null;

/** Jobs of pg-boss whose outcome is not recorded yet. */
async function unfinished(address: string, schema: string): Promise<number> {
  watcher ??= connectSql(address);
  const sql = `SELECT count(*)::int AS n FROM ${schema}.job WHERE state < 'completed'`;
  const [row] = await (await watcher).unsafe<{ n: number }>(sql);
  return row?.n ?? 0;
}

/** Jobs of a round, and the shortest pause between two of them: long enough for a worker to fall asleep. */
const WAKES = { count: 100, pauseMs: 30 };

export const WAKE_CONTESTANTS: readonly WakeContestant[] = [
  {
    name: "Escapement, with its broker",
    server: "postgres",
    ...WAKES,
    work: async (settings, onRun) => {
      const scheduler = schedulerOf(settings);
      scheduler.task<number>("wake", (payload) => onRun(payload));
      await scheduler.start();
    },
    connect: async (settings) => {
      const scheduler = schedulerOf(settings);
      await scheduler.getTasks();
      return { add: (payload) => scheduler.addJob("wake", { payload }), close: () => scheduler.stop() };
    },
  },
  {
    name: "graphile-worker",
    server: "postgres",
    ...WAKES,
    work: async ({ url, label }, onRun) => {
      const { Logger, run } = await loadGraphile();
      const wake = async (data: unknown): Promise<void> => onRun((data as { payload: number }).payload);
      const logger = new Logger(() => () => {});
      await run({ connectionString: url, schema: label, logger, noHandleSignals: true, taskList: { wake } });
    },
    connect: async ({ url, label }) => {
      const { Logger, makeWorkerUtils } = await loadGraphile();
      const utils = await makeWorkerUtils({
        connectionString: url,
        schema: label,
        logger: new Logger(() => () => {}),
      });
      return { add: (payload) => utils.addJob("wake", { payload }), close: () => utils.release() };
    },
  },
  {
    name: "pg-boss 12, with NOTIFY",
    server: "postgres",
    ...WAKES,
    work: async (settings, onRun) => {
      const boss = await openWakingBoss(settings);
      await boss.work("wake", { pollingIntervalSeconds: 0.5 }, async ([job]) => onRun(job?.data.payload ?? 0));
    },
    connect: async (settings) => {
      const boss = await openWakingBoss(settings);
      return { add: (payload) => boss.send("wake", { payload }), close: () => boss.stop({ graceful: true }) };
    },
  },
];

function schedulerOf({ url, label }: WakeSettings): Scheduler {
  const dataStore = new PostgresDataStore({ url }, { schema: label });
  return new Scheduler({ dataStore, eventBroker: new PostgresEventBroker({ url }), logLevel: "error" });
}

interface Graphile {
  readonly Logger: new (factory: () => () => void) => object;
  run(options: object): Promise<unknown>;
  makeWorkerUtils(options: object): Promise<{
    addJob(task: string, payload: unknown): Promise<unknown>;
    release(): Promise<void>;
  }>;
}

export function loadGraphile(): Promise<Graphile> {
  return load<Graphile>(import.meta.resolve("graphile-worker"));
}

async function openWakingBoss({ url, label }: WakeSettings): Promise<Boss> {
  const options = { connectionString: url, schema: label, supervise: false, schedule: false, useListenNotify: true };
  const boss = await openBoss(options);
  await boss.createQueue("wake", { notify: true });
  return boss;
}
