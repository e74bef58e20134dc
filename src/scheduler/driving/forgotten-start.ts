import { onProgramEnd } from "../../core/host.ts";
import type { Logger } from "../../core/logger.ts";
import type { DataStore } from "../../stores/data-store.ts";

interface Unstarted {
  readonly store: DataStore;
  readonly logger: Logger;
}

/** The scheduler that was made last, keeps what it gets in memory, and was not started yet. One is enough to tell a
 *  beginner, and more would keep schedulers in memory that nobody uses. */
let unstarted: Unstarted | null = null;
let isListening = false;

/** Warns when the program ends by itself before {@link begun} was called, while schedules or jobs wait in the store,
 *  because they are lost then. */
export function expectBegin(scheduler: Unstarted): void {
  unstarted = scheduler;
  if (isListening) return;
  isListening = true;
  onProgramEnd(() => void tellLost());
}

/** A scheduler works, or its owner has closed it. */
export function begun(store: DataStore): void {
  if (unstarted?.store === store) unstarted = null;
}

async function tellLost(): Promise<void> {
  if (unstarted === null) return;
  const { store, logger } = unstarted;
  unstarted = null;
  const page = { limit: 1, cursor: null };
  const [schedules, jobs] = [await store.getSchedules(page), await store.getJobs(page)];
  const what = schedules.items.length > 0 ? "schedules" : jobs.items.length > 0 ? "jobs" : null;
  if (what === null) return;
  logger.warn(
    `escapement: the program ends, and the ${what} that it added were in memory and never ran, because nothing ` +
      "called start(); await scheduler.runUntilStopped() starts the scheduler and waits for its end",
  );
}
