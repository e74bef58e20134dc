import { textHash } from "../../core/text-hash.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { DECLARED_FIELDS, LATER_FIELDS, SCHEDULE_FIELDS } from "../options/schedule-fields.ts";

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
  const { catchUp } = record;
  // `maxCount` was `maxCatchUp`.
  const declared = Object.entries(DECLARED_FIELDS).map(([name, field]) =>
    name === "catchUp" ? ["maxCatchUp", catchUp?.maxCount ?? null] : [name, record[field]],
  );
  // What came later counts only where it is used, so that schedules without it are declared as before.
  const later = Object.entries(LATER_FIELDS).flatMap(([name, field]) =>
    record[field] === undefined ? [] : [[name, record[field]]],
  );
  const { maxAgeMs = null, paceMs = null } = catchUp ?? {};
  const bounds = maxAgeMs === null && paceMs === null ? [] : [["catchUp", maxAgeMs, paceMs]];
  const declaration = textHash(JSON.stringify([...declared, ["paused", paused], ...later, ...bounds]));
  return version === undefined ? { ...record, declaration } : { ...record, declaration, version };
}

/** The names of the options in which a stored schedule differs from the one that a program asked for. */
export function differingOptions(stored: ScheduleRecord, asked: ScheduleRecord): string[] {
  return Object.entries(SCHEDULE_FIELDS)
    .filter(([, field]) => JSON.stringify(stored[field]) !== JSON.stringify(asked[field]))
    .map(([name]) => name);
}
