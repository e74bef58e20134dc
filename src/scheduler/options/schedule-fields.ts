import type { ScheduleRecord } from "../../records/schedule.ts";

/** Fields of a schedule's record, by the names of the options. */
type Fields = Readonly<Record<string, keyof ScheduleRecord>>;

/** What a program declares, besides whether the schedule is paused. The order is part of the hash of stored
 *  declarations. */
export const DECLARED_FIELDS: Fields = Object.freeze({
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
});

/** What came later, and a record may be without. */
export const LATER_FIELDS: Fields = Object.freeze({
  concurrencyKey: "concurrencyKey",
  expectStartWithin: "expectStartMs",
  expectFinishWithin: "expectFinishMs",
});

/** All of them. */
export const SCHEDULE_FIELDS: Fields = Object.freeze({ ...DECLARED_FIELDS, ...LATER_FIELDS });

/** The option behind a field: `maxJitter` behind `maxJitterMs`. A field that is none of these stands for itself. */
export function optionOfField(field: string): string {
  const [option = field] = Object.entries(SCHEDULE_FIELDS).find(([, known]) => known === field) ?? [];
  return option;
}
