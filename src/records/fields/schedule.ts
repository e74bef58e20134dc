import type { ScheduleRecord } from "../schedule.ts";
import { type Field, recordName, type SettingsOf } from "./field.ts";

/** What a schedule shows. Callers set the fields that have a `default` or inherit; the order of these is part of the
 *  hash of declarations. */
export const SCHEDULE_FIELDS = {
  id: { kind: "text" },
  name: { kind: "text", null: "none", default: null },
  taskId: { kind: "text" },
  trigger: { kind: "trigger" },
  payload: { kind: "value", default: null },
  executor: { kind: "text", inherits: true },
  priority: { kind: "whole", default: 0 },
  coalesce: { kind: "coalesce", default: "latest" },
  misfireGraceTime: { kind: "duration", null: "unlimited", inherits: true },
  maxJitter: { kind: "duration", default: 0 },
  catchUp: {
    kind: "object",
    null: "unlimited",
    default: null,
    fields: {
      maxAge: { kind: "duration", null: "unlimited" },
      maxCount: { kind: "count", null: "unlimited" },
      pace: { kind: "duration", null: "none" },
    },
  },
  resultExpirationTime: { kind: "duration", inherits: true },
  failureExpirationTime: { kind: "duration", absent: "none", inherits: true },
  overlap: { kind: "overlap", inherits: true },
  pauseAfterFailures: { kind: "count", absent: "never", inherits: true },
  concurrencyKey: { kind: "text", absent: "none", default: null },
  expectStartWithin: { kind: "duration", absent: "none", default: null },
  expectFinishWithin: { kind: "duration", absent: "none", default: null },
  skippedCount: { kind: "count" },
  lastFailure: {
    kind: "object",
    absent: "none",
    fields: {
      jobId: { kind: "text" },
      outcome: { kind: "outcome" },
      scheduledFireTime: { kind: "instant", null: "none" },
      finishedAt: { kind: "instant" },
      attempts: { kind: "count" },
      error: {
        kind: "object",
        null: "none",
        fields: { name: { kind: "text" }, message: { kind: "text" }, code: { kind: "text", null: "none" } },
      },
    },
  },
  metadata: { kind: "metadata", inherits: true },
  labels: { kind: "labels", inherits: true },
  paused: { kind: "flag" },
  pausedUntil: { kind: "instant", absent: "none" },
  pauseReason: { kind: "text", absent: "none" },
  pausedBy: { kind: "text", absent: "none" },
  createdAt: { kind: "instant" },
  nextFireTime: { kind: "instant", null: "none" },
  lastFireTime: { kind: "instant", null: "none" },
  revision: { kind: "count" },
} as const;

export type ScheduleSettings = SettingsOf<typeof SCHEDULE_FIELDS>;

/** The fields that callers set, each with its name in the record. */
export const SETTINGS: readonly (Field & { readonly name: string; readonly key: string })[] = Object.entries<Field>(
  SCHEDULE_FIELDS,
)
  .filter(([, field]) => "default" in field || field.inherits)
  .map(([name, field]) => ({ ...field, name, key: recordName(name, field) }));

/** What decides about a schedule's jobs: fields of its record, by the names of the options. */
export const SCHEDULE_OPTIONS: Readonly<Record<string, keyof ScheduleRecord>> = {
  task: "taskId",
  trigger: "triggerRule",
  maxRecoveries: "maxRecoveries",
  ...Object.fromEntries(SETTINGS.map(({ name, key }) => [name, key])),
};
