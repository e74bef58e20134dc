import { Scheduler } from "../../src/mod.ts";
import type { TaskSettings } from "../../src/scheduler/options/options.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { SqliteDataStore } from "../../src/stores/node-sqlite/mod.ts";
import { countdown } from "../store/contestant.ts";
import type { FlowContestant, FlowJob, FlowLimit, FlowQueue } from "./contestant.ts";

/** Jobs that the scheduler holds at a time, and so the most that one commit releases and leases. */
export const CONCURRENT_JOBS_MAX = 500;

/** For keys, `maxRunningPerKey: 1`; for a rate, `rateLimit`. */
const CONFIGURATION = `maxConcurrentJobs ${CONCURRENT_JOBS_MAX}, maxRunningJobs null, maxRunningPerKey 1 or rateLimit`;

export const ESCAPEMENT: readonly FlowContestant[] = [
  contestant("Escapement file NORMAL", "node", null, fileStore, ["@libsql/client"]),
  contestant("Escapement sqlite NORMAL, Node 24", "node 24", null, sqliteStore, []),
  contestant("Escapement sqld over HTTP", "node", "sqld", sqldStore, ["@libsql/client"]),
  contestant("Escapement memory", "node", null, () => new MemoryDataStore(), []),
];

function contestant(
  name: string,
  runtime: FlowContestant["runtime"],
  server: FlowContestant["server"],
  makeStore: (address: string, name: string) => DataStore,
  packages: readonly string[],
): FlowContestant {
  return {
    name,
    runtime,
    server,
    configuration: CONFIGURATION,
    packages,
    kinds: ["none", "keys", "rate"],
    open: async (address, queue, limit) => openQueue(makeStore(address, queue), limit),
  };
}

function fileStore(address: string, name: string): DataStore {
  return new LibsqlDataStore({ url: `file:${address}/${name}.db` }, { durability: "normal" });
}

function sqliteStore(address: string, name: string): DataStore {
  return new SqliteDataStore({ path: `${address}/${name}.db` }, { durability: "normal" });
}

function sqldStore(address: string, name: string): DataStore {
  return new LibsqlDataStore({ url: address }, { tablePrefix: `${name}_` });
}

async function openQueue(dataStore: DataStore, limit: FlowLimit): Promise<FlowQueue> {
  const scheduler = new Scheduler({ dataStore, maxConcurrentJobs: CONCURRENT_JOBS_MAX, logLevel: "error" });
  let run = async (_payload: number): Promise<void> => {};
  const settings = { maxRunningJobs: null, resultExpirationTime: { seconds: 0 }, ...settingsOf(limit) };
  const task = scheduler.task<FlowJob>("noop", settings, ({ payload }) => run(payload));
  await scheduler.getTasks();
  return {
    addMany: (jobs) => scheduler.addJobs(jobs.map((payload) => ({ task, payload }))),
    process: async (count, handler) => {
      run = handler;
      const { done, tick } = countdown(count);
      scheduler.subscribe(["jobReleased"], () => tick());
      await scheduler.start();
      await done;
    },
    close: () => scheduler.stop(),
  };
}

function settingsOf(limit: FlowLimit): TaskSettings<FlowJob> {
  if (limit.kind === "keys") return { concurrencyKey: ({ key }) => key, maxRunningPerKey: 1 };
  if (limit.kind === "rate") return { rateLimit: { limit: limit.perSecond, per: { seconds: 1 } } };
  return {};
}
