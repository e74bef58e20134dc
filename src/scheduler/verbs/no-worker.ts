import type { Environment } from "../environment.ts";
import { jobUnclaimed } from "../events/event-records.ts";

/** Warns, once, that somebody waits for a job and nobody is alive who runs jobs. */
export class NoWorker {
  readonly #env: Environment;
  #hasWarned = false;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Somebody has waited for a job for a while. Never rejects: the wait itself reports an outage. */
  async check(jobId: string): Promise<void> {
    const { store, clock, events, logger } = this.#env;
    if (this.#hasWarned) return;
    try {
      const now = clock.now();
      const job = await store.getJob(jobId);
      if (job === null || job.acquiredBy !== null || job.runAt > now) return;
      const alive = await store.getSchedulers(now);
      if (this.#hasWarned || alive.some(({ role }) => role !== "scheduler")) return;
      this.#hasWarned = true;
      const { taskId, scheduleId, executor } = job;
      logger.warn(
        `escapement: somebody waits for job ${jobId} of task "${taskId}", and no scheduler that runs jobs is alive; ` +
          "start one, here or in another process on the same store: await scheduler.start()",
      );
      events.publish([jobUnclaimed(this.#env, { jobId, taskId, scheduleId, executor }, "worker")]);
    } catch {
      // The next look of the wait finds out.
    }
  }
}
