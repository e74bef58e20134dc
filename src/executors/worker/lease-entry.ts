// The program of the thread of a LeaseThread.

import { writeSync } from "node:fs";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { coarseClock, sleepFor } from "../../core/clock.ts";
import { timerHost } from "../../core/timer-host.ts";
import { serializedError } from "../../records/serialized-error.ts";
import {
  type FromLeaseThread,
  type LeaseThreadData,
  LOOKS_PER_LEASE,
  type ToLeaseThread,
} from "./leases/lease-messages.ts";
import { LeasePulse } from "./leases/lease-pulse.ts";
import { type LeaseStore, openFor, storeOf, UnfitLeaseModule } from "./leases/lease-store.ts";
import { LeaseTable } from "./leases/lease-table.ts";

if (parentPort !== null) await keepLeases(parentPort, workerData as LeaseThreadData);

async function keepLeases(port: MessagePort, data: LeaseThreadData): Promise<void> {
  const { identity, instanceId, leaseMs, maxBlockedMs } = data;
  const tell = (message: FromLeaseThread): void => port.postMessage(message);
  const stopped = new AbortController();
  let table = new LeaseTable(data.buffer);
  let { profile } = data;
  port.on("message", (message: ToLeaseThread) => {
    if (message.kind === "table") table = new LeaseTable(message.buffer);
    else if (message.kind === "profile") profile = message.profile;
    else stopped.abort();
  });
  let store: LeaseStore | null = null;
  try {
    const exports = await importedModule(data.module);
    store = await storeOf(exports);
    await openFor(store, data);
    const warn = warningOf(exports);
    const { elapsed } = timerHost;
    const pulse = new LeasePulse({ store, identity, instanceId, leaseMs, maxBlockedMs, elapsed, warn });
    tell({ kind: "ready" });
    while (!stopped.signal.aborted) {
      await pulse.runOnce(table, profile);
      await sleepFor(coarseClock, leaseMs / LOOKS_PER_LEASE, stopped.signal);
    }
  } catch (error) {
    tell({ kind: "failed", isModule: error instanceof UnfitLeaseModule, error: serializedError(error) });
  }
  await store?.close().catch(() => {});
  tell({ kind: "stopped" });
}

async function importedModule(url: string): Promise<object> {
  try {
    return (await import(url)) as object;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new UnfitLeaseModule(`cannot be imported: ${said}`, { cause: error });
  }
}

/** Where warnings go: to the module's `logger`, or else to the standard error output, directly. The console of a thread
 *  may need the scheduler's thread, which is blocked. */
function warningOf(exports: object): (message: string, error?: unknown) => void {
  const logger: unknown = Reflect.get(exports, "logger");
  return (message, error) => {
    const details = error === undefined ? [] : [error];
    try {
      if (hasWarn(logger)) logger.warn(message, ...details);
      else writeSync(2, `${[message, ...details.map(String)].join(": ")}\n`);
    } catch {
      // There is no other place for it.
    }
  };
}

function hasWarn(logger: unknown): logger is { warn(message: string, ...details: unknown[]): void } {
  return typeof logger === "object" && logger !== null && "warn" in logger && typeof logger.warn === "function";
}
