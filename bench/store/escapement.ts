import { Scheduler } from "../../src/scheduler/scheduler.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
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
