import type { EventBroker } from "../../src/brokers/event-broker.ts";
import { Scheduler } from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { countdown, type JobQueue } from "./contestant.ts";

/** Jobs that the scheduler holds at a time, and so the most that one commit releases and leases. */
const CONCURRENT_JOBS_MAX = 500;

export const CONFIGURATION = `maxConcurrentJobs ${CONCURRENT_JOBS_MAX}, maxRunningJobs null, jobAcquired and jobReleased subscribed`;

/** A queue whose jobs a scheduler runs as a loop. */
export function openLoop(dataStore: DataStore, isKept: boolean, eventBroker?: EventBroker): Promise<JobQueue> {
  return openQueue(dataStore, isKept, (scheduler) => scheduler.start(), eventBroker);
}

/** A queue whose jobs a scheduler runs in ticks. */
export function openTicking(dataStore: DataStore, isKept: boolean): Promise<JobQueue> {
  return openQueue(dataStore, isKept, async (scheduler, isDone) => {
    while (!isDone()) await scheduler.tick();
  });
}

async function openQueue(
  dataStore: DataStore,
  isKept: boolean,
  run: (scheduler: Scheduler, isDone: () => boolean) => Promise<void>,
  eventBroker?: EventBroker,
): Promise<JobQueue> {
  const broker = eventBroker === undefined ? {} : { eventBroker };
  const scheduler = new Scheduler({ dataStore, maxConcurrentJobs: CONCURRENT_JOBS_MAX, ...broker });
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
      let released = 0;
      scheduler.subscribe(["jobAcquired", "jobReleased"], (event) => {
        if (event.type !== "jobReleased") return;
        released++;
        tick();
      });
      await run(scheduler, () => released >= count);
      await done;
    },
    close: () => scheduler.stop(),
  };
}
