import { CLEANUP_BATCH, CLEANUP_STEPS_MAX } from "../../core/limits.ts";
import type { Environment } from "../environment.ts";
import { scheduleRemoved } from "../events/event-records.ts";

/** Removes expired results, and schedules that have no fire time left and no unfinished job.
 *  @throws {StoreUnavailableError} */
export async function cleanUp(env: Environment): Promise<void> {
  const { store, clock, events } = env;
  for (let step = 0; step < CLEANUP_STEPS_MAX; step++) {
    const { removedResults, removedScheduleIds } = await store.cleanup({ now: clock.now(), limit: CLEANUP_BATCH });
    events.publish(removedScheduleIds.map((scheduleId) => scheduleRemoved(env, scheduleId, true)));
    if (removedResults < CLEANUP_BATCH && removedScheduleIds.length < CLEANUP_BATCH) return;
  }
}
