// What a lease thread runs. `LeaseThread` starts it.

import { coarseClock, sleepFor } from "../../core/clock.ts";
import { builtinModule } from "../../core/host.ts";
import { timerHost } from "../../core/timer-host.ts";
import { LeasePulse } from "./lease-pulse.ts";
import { LEASE_STORE_METHODS, type LeaseStore } from "./lease-store.ts";
import { LeaseTable } from "./lease-table.ts";
import type { FromLeaseThread, LeaseThreadData, ToLeaseThread } from "./messages.ts";
import { LOOKS_PER_LEASE } from "./rhythm.ts";
import { workerThreads } from "./worker-threads.ts";

const threads = workerThreads();
if (threads?.parentPort) await keepLeases(threads.parentPort, threads.workerData as LeaseThreadData);

type Port = NonNullable<NonNullable<typeof threads>["parentPort"]>;

async function keepLeases(port: Port, data: LeaseThreadData): Promise<void> {
  const { identity, incarnation, leaseMs, maxBlockedMs } = data;
  const tell = (message: FromLeaseThread): void => port.postMessage(message);
  const stopped = new AbortController();
  let table = new LeaseTable(data.buffer);
  let { profile } = data;
  port.on("message", (received) => {
    const message = received as ToLeaseThread;
    if (message.kind === "table") table = new LeaseTable(message.buffer);
    else if (message.kind === "profile") profile = message.profile;
    else stopped.abort();
  });
  let store: LeaseStore | null = null;
  try {
    const module = await importedModule(data.module);
    store = await storeOf(module);
    await openStore(store, data);
    const warn = warningOf(module);
    tell({ kind: "ready" });
    const pulse = new LeasePulse({
      ...{ store, identity, incarnation, leaseMs, maxBlockedMs, warn },
      elapsed: timerHost.elapsed,
    });
    while (!stopped.signal.aborted) {
      await pulse.runOnce(table, profile);
      await sleepFor(coarseClock, leaseMs / LOOKS_PER_LEASE, stopped.signal);
    }
  } catch (error) {
    const { fault, message, stack } = error instanceof Failure ? error : new Failure("store", textOf(error), error);
    tell({ kind: "failed", fault, message, stack: stack ?? "" });
  } finally {
    await store?.close().catch(() => {});
    tell({ kind: "stopped" });
  }
}

class Failure extends Error {
  readonly fault: "module" | "store";

  constructor(fault: "module" | "store", message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = fault;
    if (cause instanceof Error && cause.stack !== undefined) this.stack = cause.stack;
  }
}

async function importedModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(url);
  } catch (error) {
    throw new Failure("module", `cannot be loaded: ${textOf(error)}`, error);
  }
}

async function storeOf(module: Readonly<Record<string, unknown>>): Promise<LeaseStore> {
  const { createDataStore } = module;
  if (typeof createDataStore !== "function") {
    const names = Object.keys(module).join(", ");
    throw new Failure(
      "module",
      `must export a function createDataStore; it exports ${names === "" ? "nothing" : names}`,
    );
  }
  let store: unknown;
  try {
    store = await createDataStore();
  } catch (error) {
    throw new Failure("module", `has a createDataStore() that failed: ${textOf(error)}`, error);
  }
  if (!isLeaseStore(store)) throw new Failure("module", "has a createDataStore() that returned no DataStore");
  if (!store.capabilities.sharedByProcesses) {
    throw new Failure(
      "module",
      "has a createDataStore() that made a store of its own memory; make one that reaches the scheduler's data",
    );
  }
  return store;
}

function isLeaseStore(value: unknown): value is LeaseStore {
  if (typeof value !== "object" || value === null || !("capabilities" in value)) return false;
  return LEASE_STORE_METHODS.every((method) => typeof Reflect.get(value, method) === "function");
}

/** Opens the store, which must know of the scheduler. */
async function openStore(store: LeaseStore, { now, identity, incarnation }: LeaseThreadData): Promise<void> {
  await store.open(now);
  const known = await store.getSchedulers(now);
  if (known.some((scheduler) => scheduler.incarnation === incarnation)) return;
  throw new Failure(
    "module",
    `has a createDataStore() whose store does not know of the scheduler "${identity}": it must make a store of the ` +
      "same database as the scheduler's",
  );
}

/** Where the thread's warnings go: to the module's `logger`, or else to the standard error output, directly. A console
 *  may need the scheduler's thread, which is blocked. */
function warningOf({ logger }: Readonly<Record<string, unknown>>): (message: string, error?: unknown) => void {
  const given = logger as { warn?(message: string, ...details: unknown[]): void } | undefined;
  const fs = builtinModule("node:fs") as { writeSync(fd: number, text: string): void } | undefined;
  return (message, error) => {
    const details = error === undefined ? [] : [error];
    try {
      if (typeof given?.warn === "function") given.warn(message, ...details);
      else fs?.writeSync(2, `${[message, ...details.map(textOf)].join(": ")}\n`);
    } catch {
      // There is no other place for it.
    }
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
