import type { CleanupReport } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { scheduleRemoved } from "../events/event-records.ts";
import { CLEANUP_BATCH } from "../options/limits.ts";
import { CLEANUP_COMMITS_MAX } from "./limits.ts";

/** Removes expired results, schedules that have no fire time left and no unfinished job, and old windows.
 *  @throws {StoreUnavailableError} */
export async function cleanUp(env: Environment): Promise<void> {
  for (let commit = 0; commit < CLEANUP_COMMITS_MAX; commit++) if (!(await cleanUpOnce(env))) return;
}

/** One bounded commit of the clean-up. Returns whether there may be more to remove. @throws {StoreUnavailableError} */
async function cleanUpOnce(env: Environment): Promise<boolean> {
  const { store, clock } = env;
  return announceCleanUp(env, await store.cleanup({ now: clock.now(), limit: CLEANUP_BATCH }));
}

/** Tells listeners what a commit of the clean-up removed. Returns whether there may be more to remove. */
function announceCleanUp(env: Environment, report: CleanupReport): boolean {
  const { removedResults, removedScheduleIds, removedWindows = 0, removedOccurrences = 0, hasMore = false } = report;
  env.events.publish(removedScheduleIds.map((scheduleId) => scheduleRemoved(env, scheduleId, true)));
  const counts = [removedResults, removedScheduleIds.length, removedWindows, removedOccurrences];
  return hasMore || Math.max(...counts) >= CLEANUP_BATCH;
}

/**
 * The clean-up where nothing stays resident: a tick asks whether results have expired, at its first look and again
 * every `periodMs`, and takes one commit if so. The first tick of a scheduler counts only what has been expired for the
 * whole period, because there may be a new scheduler for every tick. So they do not clean up more often either.
 */
export class TickCleaning {
  readonly #env: Environment;
  readonly #periodMs: number | null;
  /** When a look was last asked, in epoch milliseconds; null before the first look. */
  #askedAt: number | null = null;
  #hasMore = false;

  /** @param periodMs null for never */
  constructor(env: Environment, periodMs: number | null) {
    this.#env = env;
    this.#periodMs = periodMs;
  }

  /** For how long results must have been expired for a look to tell of them, in milliseconds. Null when a look is not
   *  to ask. */
  asksFor(now: number): number | null {
    if (this.#periodMs === null) return null;
    if (this.#hasMore) return 0;
    if (this.#askedAt === null) return this.#periodMs;
    // A clock that was set back does not put the clean-up off.
    return now < this.#askedAt || now >= this.#askedAt + this.#periodMs ? 0 : null;
  }

  /** A look was asked. */
  asked(hasExpired: boolean): void {
    this.#askedAt = this.#env.clock.now();
    this.#hasMore = hasExpired;
  }

  /** A commit has cleaned up. The next tick goes on if there is more. */
  cleaned(report: CleanupReport): void {
    this.#hasMore = announceCleanUp(this.#env, report);
  }

  /** Makes one commit of the clean-up by itself. A failure is logged: the tick has done its work, and the next tick
   *  tries again. */
  async run(): Promise<void> {
    try {
      this.#hasMore = await cleanUpOnce(this.#env);
    } catch (error) {
      this.#env.logger.warn("escapement: the clean-up failed; the next tick tries again", error);
    }
  }
}
