import { CLEANUP_BATCH, CLEANUP_STEPS_MAX } from "../../core/limits.ts";
import type { WorkerEnvironment } from "../environment.ts";

/** Removes expired results, and schedules that have no fire time left and no unfinished job.
 *  @throws {StoreUnavailableError} */
export async function cleanUp(env: WorkerEnvironment): Promise<void> {
  const { store, clock, events } = env;
  for (let step = 0; step < CLEANUP_STEPS_MAX; step++) {
    const { removedResults, removedScheduleIds } = await store.cleanup({ now: clock.now(), limit: CLEANUP_BATCH });
    events.publish(
      removedScheduleIds.map((scheduleId) => events.record("scheduleRemoved", { scheduleId, finished: true })),
    );
    if (removedResults < CLEANUP_BATCH && removedScheduleIds.length < CLEANUP_BATCH) return;
  }
}
