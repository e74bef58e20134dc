import { present } from "../../../core/without-undefined.ts";
import type { CatchUp } from "../../../records/policies.ts";
import type { ScheduleRecord } from "../../../records/schedule.ts";
import type { ScheduleFailure } from "../../../records/schedule-failure.ts";
import type { LookedSchedule, ScheduleChanges } from "../../data-store.ts";
import { pauseFacts } from "../../shared/pauses.ts";
import { SCHEDULE_SETTINGS } from "../../shared/schedule-changes.ts";
import { SCHEDULE_COLUMNS } from "../schema/tables.ts";
import { fieldsOf, jsonOrUndefined } from "../sql-and-json.ts";

type Columns = [
  id: string,
  taskId: string,
  trigger: string,
  triggerRule: string,
  paused: number,
  createdAt: number,
  nextFireTime: number | null,
  lastFireTime: number | null,
  fence: number,
  paceUntil: number | null,
  zoneRules: string | null,
];

type Details = Partial<Omit<ScheduleRecord, "metadata" | "catchUp"> & { readonly catchUp: Partial<CatchUp> | null }>;

/** What {@link scheduleAsJson} yields. */
export type ScheduleRow = [
  [
    ...Columns,
    skippedCount: number,
    revision: number,
    declaration: string | null,
    version: number | null,
    pausedUntil: number | null,
    pauseReason: string | null,
    pausedBy: string | null,
    failures: number,
    lastFailure: string | null,
  ],
  metadata: ScheduleRecord["metadata"],
  Details,
];

/** What {@link lookedScheduleAsJson} yields. */
export type LookedScheduleRow = [
  [...Columns, preferredScheduler: string | null, bytes: number, missedSince: number | null],
  Omit<Details, "payload" | "metadata" | "name">,
];

/** The columns of a schedule as `insertSchedules` reads them. */
export function newScheduleRow(schedule: ScheduleRecord): (string | number | null)[] {
  return [
    schedule.id,
    schedule.taskId,
    schedule.trigger,
    schedule.triggerRule,
    schedule.paused ? 1 : 0,
    schedule.createdAt,
    schedule.nextFireTime,
    schedule.lastFireTime,
    schedule.fence,
    JSON.stringify(schedule.metadata),
    JSON.stringify(scheduleDetails(schedule)),
    schedule.skippedCount,
    schedule.declaration ?? null,
    schedule.version ?? null,
    schedule.paceUntil,
    schedule.zoneRules ?? null,
    schedule.expectStartMs ?? null,
    schedule.expectFinishMs ?? null,
    schedule.revision,
    schedule.pausedUntil ?? null,
    schedule.pauseReason ?? null,
    schedule.pausedBy ?? null,
    schedule.failures ?? 0,
    schedule.lastFailure === undefined ? null : JSON.stringify(schedule.lastFailure),
  ];
}

/** The fields that live in `details`. A field that is null is left out, and reads back as null. */
export function scheduleDetails(schedule: ScheduleChanges): Partial<Record<keyof Details, unknown>> {
  return {
    payload: schedule.payload,
    ...Object.fromEntries(SCHEDULE_SETTINGS.map((name) => [name, schedule[name]])),
  };
}

export function toSchedule([columns, metadata, stored]: ScheduleRow): ScheduleRecord {
  const details = fieldsOf(stored, {});
  const [known, others] = split(columns);
  const [skippedCount, revision, declaration, version, pausedUntil, pauseReason, pausedBy, failures, lastFailure] =
    others;
  return {
    ...planned(columns, details),
    name: details.name ?? null,
    payload: details.payload ?? null,
    metadata: fieldsOf(metadata, {}),
    nextFireTime: known[6],
    skippedCount,
    revision,
    ...present(details, "failureExpirationMs", "pauseAfterFailures", "expectStartMs", "expectFinishMs"),
    ...(declaration === null ? {} : { declaration }),
    ...(version === null ? {} : { version }),
    ...pauseFacts({ pausedUntil, pauseReason, pausedBy }),
    ...(failures > 0 ? { failures } : {}),
    ...failureFact(lastFailure),
  };
}

export function toLookedSchedule([columns, stored]: LookedScheduleRow): LookedSchedule {
  const details = fieldsOf(stored, {});
  const [known, [preferredScheduler, bytes, missedSince]] = split(columns);
  // The statement only shows schedules that have a fire time.
  const looked = { ...planned(known, details), nextFireTime: known[6] ?? 0, preferredScheduler, bytes };
  return missedSince === null ? looked : { ...looked, missedSince };
}

function failureFact(text: string | null): Pick<ScheduleRecord, "lastFailure"> {
  const lastFailure = text === null ? undefined : jsonOrUndefined<ScheduleFailure>(text);
  return lastFailure === undefined ? {} : { lastFailure };
}

/** The columns that a planner needs, and the others. */
function split<Others extends unknown[]>(columns: [...Columns, ...Others]): [Columns, Others] {
  return [columns.slice(0, SCHEDULE_COLUMNS.length) as Columns, columns.slice(SCHEDULE_COLUMNS.length) as Others];
}

/** The fields of a schedule that a planner needs, except its next fire time. */
function planned(
  columns: readonly [...Columns, ...unknown[]],
  details: Details,
): Omit<LookedSchedule, "nextFireTime" | "preferredScheduler" | "bytes"> {
  return {
    id: columns[0],
    taskId: columns[1],
    trigger: columns[2],
    triggerRule: columns[3],
    executor: details.executor ?? "",
    priority: details.priority ?? 0,
    coalesce: details.coalesce ?? "latest",
    misfireGraceMs: details.misfireGraceMs ?? null,
    maxJitterMs: details.maxJitterMs ?? 0,
    catchUp: catchUpOf(details.catchUp),
    resultExpirationMs: details.resultExpirationMs ?? 0,
    maxRecoveries: details.maxRecoveries ?? 0,
    overlap: details.overlap ?? "queue",
    ...(details.labels === undefined ? {} : { labels: details.labels }),
    ...(details.concurrencyKey === undefined ? {} : { concurrencyKey: details.concurrencyKey }),
    paused: columns[4] === 1,
    createdAt: columns[5],
    lastFireTime: columns[7],
    fence: columns[8],
    paceUntil: columns[9],
    ...(columns[10] === null ? {} : { zoneRules: columns[10] }),
  };
}

function catchUpOf(catchUp: Details["catchUp"]): CatchUp | null {
  if (catchUp === undefined || catchUp === null) return null;
  const { maxAgeMs = null, maxCount = null, paceMs = null } = catchUp;
  return { maxAgeMs, maxCount, paceMs };
}
