import { SqliteDataStore as BunSqliteDataStore } from "../../src/stores/bun-sqlite/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { SqliteDataStore as NodeSqliteDataStore } from "../../src/stores/node-sqlite/mod.ts";
import type { Contestant, QueueSettings } from "./contestant.ts";
import { CONFIGURATION, openLoop } from "./escapement-queue.ts";

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
  sqliteContestant("Escapement sqlite FULL, Node 24", "node 24", NodeSqliteDataStore, "full"),
  sqliteContestant("Escapement sqlite NORMAL, Node 24", "node 24", NodeSqliteDataStore, "normal"),
  sqliteContestant("Escapement sqlite FULL, Bun", "bun", BunSqliteDataStore, "full"),
  sqliteContestant("Escapement sqlite NORMAL, Bun", "bun", BunSqliteDataStore, "normal"),
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
    open: async (settings) => openLoop(makeStore(settings), settings.isKept),
  };
}

/** The SQLite that the runtime brings along, which keeps its statements prepared. */
function sqliteContestant(
  name: string,
  runtime: Contestant["runtime"],
  Store: typeof NodeSqliteDataStore | typeof BunSqliteDataStore,
  durability: "full" | "normal",
): Contestant {
  const makeStore = ({ address, name: file }: QueueSettings): DataStore =>
    new Store({ path: `${address}/${file}.db` }, { durability });
  const note = `the SQLite of the runtime; ${durability === "full" ? "an fsync a commit" : "fsyncs at checkpoints"}`;
  return { ...contestant(name, runtime, makeStore, note), packages: [] };
}

function fileStore({ address, name }: QueueSettings, durability: "full" | "normal"): DataStore {
  return new LibsqlDataStore({ url: `file:${address}/${name}.db` }, { durability });
}
