import { textHash } from "../../core/text-hash.ts";
import { SCHEDULE_OPTIONS } from "../../records/fields/schedule.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { settingsOf } from "../../stores/shared/schedule-changes.ts";

/**
 * The schedule with the hash of what a program declares about it, by which the store knows whether that changed since
 * the program last added the schedule. What comes from the clock or from chance does not count.
 *
 * @param paused the option of the call; undefined when it is not given
 * @param version of the program
 */
export function declaredSchedule(
  record: ScheduleRecord,
  paused: boolean | undefined,
  version: number | undefined,
): ScheduleRecord {
  const { taskId, triggerRule, payload, metadata } = record;
  // Settings that are absent do not count, so that a new option leaves declarations without it as they are.
  const declaration = textHash(JSON.stringify([taskId, triggerRule, payload, metadata, paused, settingsOf(record)]));
  return version === undefined ? { ...record, declaration } : { ...record, declaration, version };
}

/** The names of the options in which a stored schedule differs from the one that a program asked for. */
export function differingOptions(stored: ScheduleRecord, asked: ScheduleRecord): string[] {
  return Object.entries(SCHEDULE_OPTIONS)
    .filter(([, field]) => JSON.stringify(stored[field]) !== JSON.stringify(asked[field]))
    .map(([name]) => name);
}
