import { onProgramEnd } from "../../core/host.ts";
import type { Logger } from "../../core/logger.ts";
import type { DataStore } from "../../stores/data-store.ts";

interface Unstarted {
  readonly store: DataStore;
  readonly logger: Logger;
  /** A schedule that it added to a store which outlives the program; null where the store is in memory. */
  readonly scheduleId: string | null;
}

/** The scheduler that did so last, and was not started yet. One is enough to tell a beginner, and more would keep
 *  schedulers in memory that nobody uses. */
let unstarted: Unstarted | null = null;
let isListening = false;
const begunStores = new WeakSet<DataStore>();

/**
 * Says so when the program ends by itself before {@link begun} was called. Of a store in memory it warns, while
 * schedules or jobs wait there, because they are lost then. Of another store it informs, because another program may be
 * the one that runs the schedules.
 */
export function expectBegin(scheduler: Unstarted): void {
  if (begunStores.has(scheduler.store) || unstarted?.store === scheduler.store) return;
  unstarted = scheduler;
  if (isListening) return;
  isListening = true;
  onProgramEnd(() => void tell());
}

/** A scheduler works, or its owner has closed it. */
export function begun(store: DataStore): void {
  begunStores.add(store);
  if (unstarted?.store === store) unstarted = null;
}

const ADVICE = "; await scheduler.runUntilStopped() starts the scheduler and waits for its end";

async function tell(): Promise<void> {
  if (unstarted === null) return;
  const { store, logger, scheduleId } = unstarted;
  unstarted = null;
  if (scheduleId !== null) {
    const what = `what it scheduled ("${scheduleId}") waits in the store for a program that runs it`;
    logger.info(`escapement: the program ends, and ${what}, because nothing called start() or tick()${ADVICE}`);
    return;
  }
  const page = { limit: 1, cursor: null };
  const [schedules, jobs] = [await store.getSchedules(page), await store.getJobs(page)];
  const what = schedules.items.length > 0 ? "schedules" : jobs.items.length > 0 ? "jobs" : null;
  if (what === null) return;
  logger.warn(
    `escapement: the program ends, and the ${what} that it added were in memory and never ran, because nothing ` +
      `called start()${ADVICE}`,
  );
}
