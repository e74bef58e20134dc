import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventBroker } from "../../src/brokers/event-broker.ts";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { connectBullMQ } from "../lib/bullmq-connection.ts";
import { load, until } from "../store/contestant.ts";
import { BROKERS } from "./brokers.ts";
import type { BenchServerName } from "./servers.ts";

/** Where a contestant's two processes meet. */
export interface WakeSettings {
  /** Of its server; empty where it has none. */
  readonly url: string;
  /** A folder for files. */
  readonly folder: string;
  /** Distinguishes the rounds: lower-case letters and digits. */
  readonly label: string;
}

interface Adder {
  add(payload: number): Promise<unknown>;
  /** Sends what was not sent yet. */
  close(): Promise<unknown>;
}

export interface WakeContestant {
  readonly name: string;
  readonly server: BenchServerName | null;
  /** Jobs of a round: fewer where each takes long. */
  readonly count: number;
  /** Shortest pause between two jobs: longer than a worker that polls needs for one. */
  readonly pauseMs: number;
  /** Runs jobs; `onRun` gets the payload of each. Resolves when it is ready for them. */
  work(settings: WakeSettings, onRun: (payload: number) => void): Promise<void>;
  /** What adds jobs. */
  connect(settings: WakeSettings): Promise<Adder>;
}

const COUNT = 100;
/** Long enough for a worker to fall asleep. */
const PAUSE_MS = 30;

export const WAKE_CONTESTANTS: readonly WakeContestant[] = [
  escapement("Escapement, no broker", null, 5, () => null),
  ...BROKERS.map(({ name, server, make }) => escapement(`Escapement, ${name}`, server, COUNT, make)),
  {
    name: "BullMQ",
    server: "redis",
    count: COUNT,
    pauseMs: PAUSE_MS,
    work: async ({ url, label }, onRun) => {
      const { process } = await connectBullMQ(url, label, false);
      void process(Number.POSITIVE_INFINITY, async (payload) => onRun(payload));
    },
    connect: ({ url, label }) => connectBullMQ(url, label, false),
  },
  {
    name: "pg-boss",
    server: "postgres",
    count: 30,
    pauseMs: 1000,
    work: async (settings, onRun) => {
      const boss = await openBoss(settings);
      // The shortest that it takes.
      await boss.work("wake", { pollingIntervalSeconds: 0.5 }, async ([job]) => onRun(job?.data.payload ?? 0));
    },
    connect: async (settings) => {
      const boss = await openBoss(settings);
      return { add: (payload) => boss.send("wake", { payload }), close: () => boss.stop({ graceful: true }) };
    },
  },
];

function escapement(
  name: string,
  server: BenchServerName | null,
  count: number,
  make: (url: string) => EventBroker | null,
): WakeContestant {
  const schedulerOf = ({ url, folder, label }: WakeSettings): Scheduler => {
    const eventBroker = make(url);
    const dataStore = new LibsqlDataStore({ url: `file:${join(folder, `${label}.db`)}` }, { durability: "normal" });
    return new Scheduler({ dataStore, logLevel: "error", ...(eventBroker === null ? {} : { eventBroker }) });
  };
  return {
    name,
    server,
    count,
    pauseMs: PAUSE_MS,
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
  };
}

interface Boss {
  start(): Promise<unknown>;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<unknown>;
  stop(options: object): Promise<void>;
  work(
    name: string,
    options: object,
    handler: (jobs: { data: { payload: number } }[]) => Promise<void>,
  ): Promise<unknown>;
}

async function openBoss({ url, label }: WakeSettings): Promise<Boss> {
  const { default: PgBoss } = await load<{ default: new (options: object) => Boss }>(import.meta.resolve("pg-boss"));
  const boss = new PgBoss({ connectionString: url, schema: label, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue("wake");
  return boss;
}

/** So that the jobs are not in step with anything. */
function inexactMs(index: number): number {
  return (index * 37) % 50;
}

/** Milliseconds on a clock that all processes of the machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** The worker's process: milliseconds from each job's addition to its handler's start. */
export async function workUntilAll(contestant: WakeContestant, settings: WakeSettings): Promise<readonly number[]> {
  const delays: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const onRun = (addedAt: number): void => {
      delays.push(now() - addedAt);
      if (delays.length === contestant.count) resolve();
    };
    contestant.work(settings, onRun).then(() => writeFileSync(readyFile(settings), ""), reject);
  });
  return delays;
}

/** The other process: adds one job after the other. */
export async function addAll(contestant: WakeContestant, settings: WakeSettings): Promise<number> {
  await until(async () => existsSync(readyFile(settings)));
  const adder = await contestant.connect(settings);
  for (let index = 0; index < contestant.count; index++) {
    await new Promise((resolve) => setTimeout(resolve, contestant.pauseMs + inexactMs(index)));
    await adder.add(now());
  }
  await adder.close();
  return contestant.count;
}

function readyFile({ folder, label }: WakeSettings): string {
  return join(folder, `${label}.ready`);
}
