import type { DataStore } from "../stores/data-store.ts";
import { MemoryDataStore } from "../stores/memory/store.ts";
import type { SchedulerOptions } from "./options/scheduler-options.ts";
import { Scheduler as StoredScheduler, type StoredSchedulerOptions } from "./scheduler.ts";

/**
 * Fires schedules and runs jobs. Before it is started, a scheduler is a client of its data store: everything works
 * except firing and running.
 *
 * Without `dataStore`, everything is kept in a new `MemoryDataStore`. Where every byte counts, as in a Worker, the
 * `Scheduler` of `escapement/scheduler` leaves that store out: it is the same class, and has to be given a store.
 *
 * @example
 * const dataStore = new LibsqlDataStore({ url: "file:jobs.db" });
 * const scheduler = new Scheduler({ dataStore, timeZone: "Europe/Berlin" });
 * await scheduler.schedule("report", "0 9 * * mon-fri", () => console.log("Good morning"));
 * await scheduler.runUntilStopped();
 */
export class Scheduler extends StoredScheduler {
  /** @throws {OptionsError} for unknown or invalid options, with the path to each */
  constructor(options: SchedulerOptions = {}) {
    // Only `dataStore` may be missing, and then `makeStore` is asked.
    super(options as StoredSchedulerOptions);
  }

  protected static override makeStore(): DataStore {
    return new MemoryDataStore();
  }
}
