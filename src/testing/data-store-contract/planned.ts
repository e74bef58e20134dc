import type { DataStore, LookedSchedule, PlanReport } from "../../stores/data-store.ts";
import { present } from "./assert.ts";
import { lookedAt, makeSchedule } from "./makers.ts";

/** How plans of a schedule answer. */
export const REFUSED: PlanReport = { committed: false, addedJobIds: [] };
export const COMMITTED: PlanReport = { committed: true, addedJobIds: ["job of schedule"] };

/** Adds a due schedule, and says how a planner sees it. */
export async function planned(
  store: DataStore,
  fields: Parameters<typeof makeSchedule>[0] = {},
): Promise<LookedSchedule> {
  return present((await lookedAt(store, makeSchedule(fields)))[0], "the schedule that was just added is due");
}
