import type { DataStore, LookedSchedule, PlanReport } from "../../stores/data-store.ts";
import { present } from "./assert.ts";
import { lookedAt, makeSchedule } from "./makers.ts";

/** The reports of a plan that did not count, and of a plan that counted. */
export const REFUSED: PlanReport = { committed: false, addedJobIds: [] };
export const COMMITTED: PlanReport = { committed: true, addedJobIds: ["job of schedule"] };

/** Adds a due schedule, and returns it as a planner sees it. */
export async function planned(
  store: DataStore,
  fields: Parameters<typeof makeSchedule>[0] = {},
): Promise<LookedSchedule> {
  return present((await lookedAt(store, makeSchedule(fields)))[0], "the schedule that was just added is due");
}
