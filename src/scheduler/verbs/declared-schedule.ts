import { textHash } from "../../core/text-hash.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";

/** What a program declares of a schedule, besides whether it is paused; by the names of the options. Their order is
 *  part of the hash. */
const DECLARED = {
  name: "name",
  task: "taskId",
  trigger: "triggerRule",
  payload: "payload",
  executor: "executor",
  priority: "priority",
  coalesce: "coalesce",
  misfireGraceTime: "misfireGraceMs",
  maxJitter: "maxJitterMs",
  catchUp: "catchUp",
  resultExpirationTime: "resultExpirationMs",
  maxRecoveries: "maxRecoveries",
  overlap: "overlap",
  metadata: "metadata",
} as const satisfies Readonly<Record<string, keyof ScheduleRecord>>;

/** What came later. */
const LATER = {
  concurrencyKey: "concurrencyKey",
  expectStartWithin: "expectStartMs",
  expectFinishWithin: "expectFinishMs",
} as const satisfies Readonly<Record<string, keyof ScheduleRecord>>;

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
  const declared = Object.entries(DECLARED).map(([name, field]) =>
    name === "catchUp" ? ["maxCatchUp", catchUp?.maxCount ?? null] : [name, record[field]],
  );
  // What came later counts only where it is used, so that schedules without it are declared as before.
  const later = Object.entries(LATER).flatMap(([name, field]) =>
    record[field] === undefined ? [] : [[name, record[field]]],
  );
  const { maxAgeMs = null, paceMs = null } = catchUp ?? {};
  const bounds = maxAgeMs === null && paceMs === null ? [] : [["catchUp", maxAgeMs, paceMs]];
  const declaration = textHash(JSON.stringify([...declared, ["paused", paused], ...later, ...bounds]));
  return version === undefined ? { ...record, declaration } : { ...record, declaration, version };
}

/** The names of the options in which a stored schedule differs from the one that a program asked for. */
export function differingOptions(stored: ScheduleRecord, asked: ScheduleRecord): string[] {
  return Object.entries({ ...DECLARED, ...LATER })
    .filter(([, field]) => JSON.stringify(stored[field]) !== JSON.stringify(asked[field]))
    .map(([name]) => name);
}
