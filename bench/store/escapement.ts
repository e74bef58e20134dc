import { Scheduler } from "../../src/mod.ts";
import { SqliteDataStore as BunSqliteDataStore } from "../../src/stores/bun-sqlite/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { SqliteDataStore as NodeSqliteDataStore } from "../../src/stores/node-sqlite/mod.ts";
import { type Contestant, countdown, type JobQueue, type QueueSettings } from "./contestant.ts";

/** Jobs that the scheduler holds at a time, and so the most that one commit releases and leases. */
const CONCURRENT_JOBS_MAX = 500;

const CONFIGURATION = `maxConcurrentJobs ${CONCURRENT_JOBS_MAX}, maxRunningJobs null, jobAcquired and jobReleased subscribed`;

export const ESCAPEMENT: readonly Contestant[] = [
  contestant("Escapement file FULL", "node", (settings) => fileStore(settings, "full"), "an fsync a commit"),
  contestant("Escapement file NORMAL", "node", (settings) => fileStore(settings, "normal"), "fsyncs at checkpoints"),
  contestant(
    "Escapement file NORMAL, Bun",
    "bun",
    (settings) => fileStore(settings, "normal"),
    "fsyncs at checkpoints",
  ),
  contestant(
    "Escapement sqld over HTTP",
    "node",
    ({ address, name }) => new LibsqlDataStore({ url: address }, { tablePrefix: `${name}_` }),
    "one sqld on loopback",
    "sqld",
  ),
  sqliteContestant("Escapement sqlite NORMAL, Node 24", "node 24", NodeSqliteDataStore),
  sqliteContestant("Escapement sqlite NORMAL, Bun", "bun", BunSqliteDataStore),
  contestant("Escapement memory", "node", () => new MemoryDataStore(), "for reference: nothing is durable"),
];

function contestant(
  name: string,
  runtime: Contestant["runtime"],
  makeStore: (settings: QueueSettings) => DataStore,
  note: string,
  server: Contestant["server"] = null,
): Contestant {
  return {
    name,
    runtime,
    server,
    keeps: "either",
    configuration: `${CONFIGURATION}; ${note}`,
    packages: ["@libsql/client"],
    open: async (settings) => openQueue(makeStore(settings), settings.isKept),
  };
}

/** The SQLite that the runtime brings along, which keeps its statements prepared. */
function sqliteContestant(
  name: string,
  runtime: Contestant["runtime"],
  Store: typeof NodeSqliteDataStore | typeof BunSqliteDataStore,
): Contestant {
  const makeStore = ({ address, name: file }: QueueSettings): DataStore =>
    new Store({ path: `${address}/${file}.db` }, { durability: "normal" });
  const note = "the SQLite of the runtime; fsyncs at checkpoints";
  return { ...contestant(name, runtime, makeStore, note), packages: [] };
}

function fileStore({ address, name }: QueueSettings, durability: "full" | "normal"): DataStore {
  return new LibsqlDataStore({ url: `file:${address}/${name}.db` }, { durability });
}

async function openQueue(dataStore: DataStore, isKept: boolean): Promise<JobQueue> {
  const scheduler = new Scheduler({ dataStore, maxConcurrentJobs: CONCURRENT_JOBS_MAX });
  let onRun = (_payload: number): void => {};
  const task = scheduler.task<number>(
    "noop",
    { maxRunningJobs: null, ...(isKept ? {} : { resultExpirationTime: { seconds: 0 } }) },
    async (payload) => onRun(payload),
  );
  await scheduler.getTasks();
  return {
    add: (payload) => scheduler.addJob(task, { payload }),
    addMany: (payloads) => scheduler.addJobs(payloads.map((payload) => ({ task, payload }))),
    process: async (count, report) => {
      onRun = report;
      const { done, tick } = countdown(count);
      scheduler.subscribe(["jobAcquired", "jobReleased"], (event) => {
        if (event.type === "jobReleased") tick();
      });
      await scheduler.start();
      await done;
    },
    close: () => scheduler.stop(),
  };
}
