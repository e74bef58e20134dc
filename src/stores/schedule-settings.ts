import { SCHEDULE_OPTIONS } from "../records/fields/schedule.ts";
import type { ScheduleState } from "../records/ledger.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import type { ScheduleChanges } from "./data-store.ts";

const OTHERS: readonly string[] = ["taskId", "triggerRule", "payload", "metadata"];

/** The fields of a schedule that somebody sets, besides those that {@link ScheduleState} names, and the payload. */
export const SCHEDULE_SETTINGS: readonly Setting[] = Object.freeze(
  Object.values(SCHEDULE_OPTIONS).filter((name) => !OTHERS.includes(name)) as Setting[],
);

type Setting = keyof ScheduleChanges & keyof ScheduleRecord;

/** Those that a schedule has. */
export function settingsOf(schedule: ScheduleRecord): ScheduleState["settings"] {
  return Object.fromEntries(
    SCHEDULE_SETTINGS.filter((name) => schedule[name] !== undefined).map((name) => [name, schedule[name]]),
  );
}
