import type { ScheduleRecord } from "../../records/schedule.ts";
import type { LookedSchedule, ScheduleChanges } from "../data-store.ts";
import { fieldsOf, readableColumn, rowAsJson, sizeInBytes, validJson } from "./rows.ts";
import type { TableNames } from "./schema.ts";

const COLUMNS = [
  "id",
  "task_id",
  "trigger_json",
  "trigger_rule",
  "paused",
  "created_at",
  "next_fire_time",
  "last_fire_time",
  "fence",
];

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
];

type Details = Partial<Omit<ScheduleRecord, "metadata">>;

/** The columns that no planner needs. */
const OTHER_COLUMNS = ["skipped_count", "declaration", "version"];

/** What {@link scheduleAsJson} yields. */
export type ScheduleRow = [
  [...Columns, skippedCount: number, declaration: string | null, version: number | null],
  metadata: ScheduleRecord["metadata"],
  Details,
];

/** What {@link lookedScheduleAsJson} yields. */
export type LookedScheduleRow = [
  [...Columns, favourite: string | null, bytes: number],
  Omit<Details, "payload" | "metadata" | "name">,
];

/** SQL that yields a schedule's row as JSON text. `table` is the name or alias of the table in the statement. */
export function scheduleAsJson(table: string): string {
  return rowAsJson(
    table,
    [...COLUMNS, ...OTHER_COLUMNS],
    [validJson(`${table}.metadata`), validJson(`${table}.details`)],
  );
}

/** The same SQL as {@link scheduleAsJson}, but without payload, metadata and name. `now` is the SQL of the present. */
export function lookedScheduleAsJson({ incarnations }: TableNames, table: string, now: string): string {
  const favourite =
    `(SELECT CAST(c.identity AS TEXT) FROM ${incarnations} c WHERE c.identity = ${table}.acquired_by ` +
    `AND c.resident = 1 AND c.alive_until > ${now} LIMIT 1)`;
  const texts = ["id", "task_id", "trigger_json", "trigger_rule", "metadata", "details"];
  const bytes = `${ROW_OVERHEAD_BYTES} + ${texts.map((column) => sizeInBytes(`${table}.${column}`)).join(" + ")}`;
  const columns = [...COLUMNS.map((column) => readableColumn(table, column)), favourite, bytes];
  return rowAsJson(null, columns, [`json_remove(${validJson(`${table}.details`)}, '$.payload', '$.name')`]);
}

/** About how many bytes the numbers of a row add to its texts. */
const ROW_OVERHEAD_BYTES = 200;

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
  ];
}

/** The fields that live in `details`. A field that is null is left out, and reads back as null. */
export function scheduleDetails(schedule: ScheduleChanges): Partial<Record<keyof ScheduleRecord, unknown>> {
  const { payload, executor, priority, coalesce, misfireGraceMs, maxJitterMs, maxCatchUp } = schedule;
  const { name, resultExpirationMs, maxRecoveries, overlap, concurrencyKey } = schedule;
  return {
    name,
    payload,
    executor,
    priority,
    coalesce,
    misfireGraceMs,
    maxJitterMs,
    maxCatchUp,
    resultExpirationMs,
    maxRecoveries,
    overlap,
    concurrencyKey,
  };
}

export function toSchedule([columns, metadata, stored]: ScheduleRow): ScheduleRecord {
  const details = fieldsOf(stored, {});
  const [id, taskId, trigger, triggerRule, paused, createdAt, nextFireTime, lastFireTime, fence, ...others] = columns;
  const known: Columns = [id, taskId, trigger, triggerRule, paused, createdAt, nextFireTime, lastFireTime, fence];
  const [skippedCount, declaration, version] = others;
  return {
    ...planned(known, details),
    name: details.name ?? null,
    payload: details.payload ?? null,
    metadata: fieldsOf(metadata, {}),
    nextFireTime,
    skippedCount,
    ...(details.concurrencyKey === undefined ? {} : { concurrencyKey: details.concurrencyKey }),
    ...(declaration === null ? {} : { declaration }),
    ...(version === null ? {} : { version }),
  };
}

export function toLookedSchedule([columns, stored]: LookedScheduleRow): LookedSchedule {
  const details = fieldsOf(stored, {});
  const [id, taskId, trigger, triggerRule, paused, createdAt, nextFireTime, lastFireTime, fence, favourite, bytes] =
    columns;
  const known: Columns = [id, taskId, trigger, triggerRule, paused, createdAt, nextFireTime, lastFireTime, fence];
  // The statement only shows schedules that have a fire time.
  return { ...planned(known, details), nextFireTime: nextFireTime ?? 0, favourite, bytes };
}

/** The fields of a schedule that a planner needs, except its next fire time. */
function planned(columns: Columns, details: Details): Omit<LookedSchedule, "nextFireTime" | "favourite" | "bytes"> {
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
    maxCatchUp: details.maxCatchUp ?? null,
    resultExpirationMs: details.resultExpirationMs ?? 0,
    maxRecoveries: details.maxRecoveries ?? 0,
    overlap: details.overlap ?? "queue",
    ...(details.concurrencyKey === undefined ? {} : { concurrencyKey: details.concurrencyKey }),
    paused: columns[4] === 1,
    createdAt: columns[5],
    lastFireTime: columns[7],
    fence: columns[8],
  };
}
