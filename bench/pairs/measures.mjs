// What there is to measure: the program of each, its arguments, and why it cannot run here.
import { hasDoor } from "./library.mjs";
import { whyNoSqld } from "./sqld.mjs";

/**
 * By name: `program` is a file of this folder, started as `node PROGRAM CHECKOUT ...args`; `whyNot` gives the reason to
 * leave it out, or null.
 */
export const MEASURES = {
  "file-full": onStore("file-full"),
  "file-normal": onStore("file-normal"),
  sqlite: onStore("sqlite", whyNoSqlite),
  sqld: { ...onStore("sqld", whyNoSqld), needsServer: true },
  memory: onStore("memory"),
  fires: { program: "fires.mjs" },
  executors: { program: "executors.mjs", whyNot: whyNoExecutors, args: ({ folder }) => [folder] },
  throughput: { program: "throughput.mjs" },
  weight: { program: "weight.mjs" },
  cron: { program: "cron.mjs" },
  "ledger-file": ledgerOn("file"),
  "ledger-sqlite": ledgerOn("sqlite", whyNoSqlite),
  "ledger-in-memory": ledgerOn("in-memory"),
  "ledger-memory": ledgerOn("memory"),
};

function onStore(store, whyNot) {
  return {
    program: "queue.mjs",
    whyNot,
    /** @param place the folder of the run, or the address of the server; @param label differs from run to run;
     *  @param times how often to do what is measured */
    args: ({ folder, address, label, times }) => [store, store === "sqld" ? address : folder, label, times],
  };
}

/** Compares a store without its ledger, the old side, with the same store. */
function ledgerOn(store, whyNot = () => null) {
  return {
    program: "ledger.mjs",
    whyNot: (checkouts) => {
      const isOne = checkouts.every((checkout) => checkout === checkouts[0]);
      return isOne ? whyNot(checkouts) : "it compares a checkout with itself: --old DIR --new DIR with one DIR";
    },
    args: ({ folder, label }) => [store, folder, label],
  };
}

function whyNoExecutors(checkouts) {
  const without = checkouts.find((checkout) => !hasDoor(checkout, "./worker") || !hasDoor(checkout, "./process"));
  return without === undefined ? null : `${without} has no escapement/worker or no escapement/process`;
}

function whyNoSqlite(checkouts) {
  const without = checkouts.find((checkout) => !hasDoor(checkout, "./sqlite"));
  if (without !== undefined) return `${without} has no escapement/sqlite`;
  const hasSqlite = process.getBuiltinModule?.("node:sqlite") !== undefined;
  return hasSqlite ? null : `Node ${process.version} has no node:sqlite: run this with Node 22.13 or later`;
}
