import { CLEANUP_BATCH, CLEANUP_STEPS_MAX } from "../../core/limits.ts";
import type { Environment } from "../environment.ts";
import { scheduleRemoved } from "../events/event-records.ts";

/** Removes expired results, schedules that have no fire time left and no unfinished job, and old windows.
 *  @throws {StoreUnavailableError} */
export async function cleanUp(env: Environment): Promise<void> {
  for (let step = 0; step < CLEANUP_STEPS_MAX; step++) if (!(await cleanUpOnce(env))) return;
}

/** One bounded step of the clean-up. Returns whether there may be more to remove. @throws {StoreUnavailableError} */
async function cleanUpOnce(env: Environment): Promise<boolean> {
  const { store, clock, events } = env;
  const report = await store.cleanup({ now: clock.now(), limit: CLEANUP_BATCH });
  const { removedResults, removedScheduleIds, removedWindows = 0 } = report;
  events.publish(removedScheduleIds.map((scheduleId) => scheduleRemoved(env, scheduleId, true)));
  return Math.max(removedResults, removedScheduleIds.length, removedWindows) >= CLEANUP_BATCH;
}

/** The clean-up where nothing stays resident: a tick asks whether results have expired, at its first look and again
 *  every `periodMs`, and takes one step if so. */
export class TickCleaning {
  readonly #env: Environment;
  readonly #periodMs: number | null;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** @param periodMs null for never */
  constructor(env: Environment, periodMs: number | null) {
    this.#env = env;
    this.#periodMs = periodMs;
  }

  /** Whether a look is to find out if results have expired. */
  isDue(now: number): boolean {
    // A clock that was set back does not put the clean-up off.
    return this.#periodMs !== null && (now < this.#askedAt || now >= this.#askedAt + this.#periodMs);
  }

  /** A look has found out. Takes one step of the clean-up if results have expired; the next tick goes on if there are
   *  more. A failure is logged: the tick has done its work. */
  async found(hasExpired: boolean): Promise<void> {
    this.#askedAt = this.#env.clock.now();
    if (!hasExpired) return;
    try {
      const hasMore = await cleanUpOnce(this.#env);
      if (hasMore) this.#askedAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      this.#askedAt = Number.NEGATIVE_INFINITY;
      this.#env.logger.warn("escapement: the clean-up failed; the next tick tries again", error);
    }
  }
}
