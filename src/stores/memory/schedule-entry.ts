import type { Mutable } from "../../core/mutable.ts";
import { compareTexts } from "../../core/text.ts";
import { hasLabels } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { LookedSchedule, OverlapReport, ScheduleFilter } from "../data-store.ts";
import { isFound, type ScheduleCursor } from "../shared/cursors-and-search.ts";
import { inOrderOfIds } from "./entries-of-jobs-and-tasks.ts";

/** A schedule of a memory store: its record, and what belongs to it. */
export interface ScheduleEntry {
  readonly record: Mutable<ScheduleRecord>;
  /** Stands for the id where schedules are in its order. */
  readonly orderKey: string;
  /** The approximate size of the record in bytes. */
  bytes: number;
  /** The preferred scheduler: it committed the last plan and can run the schedule's jobs. */
  preferred: string | null;
  /** Id of the commit that committed the last plan. */
  commitId: string | null;
  /** What that plan did because of the schedule's `overlap`; null for nothing. */
  overlap: OverlapReport | null;
}

/** Changes fields of a record. Null removes the fields that a schedule has or has not. */
export function assign(record: Mutable<ScheduleRecord>, changes: { readonly [name: string]: unknown }): void {
  Object.assign(record, changes);
  for (const name of OPTIONAL) if (record[name] === null) delete record[name];
}

/** Removes what was said of a pause. */
export function removePauseFacts(record: Mutable<ScheduleRecord>): void {
  delete record.pausedUntil;
  delete record.pauseReason;
  delete record.pausedBy;
}

const OPTIONAL = [
  "concurrencyKey",
  "failureExpirationMs",
  "pauseAfterFailures",
  "expectStartMs",
  "expectFinishMs",
  "declaration",
  "version",
  "zoneRules",
  "labels",
] as const;

/** What a look shows of a schedule: its record without payload and metadata. */
export function lookedAt(
  { record, bytes }: ScheduleEntry,
  nextFireTime: number,
  preferredScheduler: string | null,
): LookedSchedule {
  const looked: LookedSchedule = {
    id: record.id,
    taskId: record.taskId,
    trigger: record.trigger,
    triggerRule: record.triggerRule,
    executor: record.executor,
    priority: record.priority,
    coalesce: record.coalesce,
    misfireGraceMs: record.misfireGraceMs,
    maxJitterMs: record.maxJitterMs,
    catchUp: record.catchUp,
    resultExpirationMs: record.resultExpirationMs,
    maxRecoveries: record.maxRecoveries,
    overlap: record.overlap,
    paused: record.paused,
    createdAt: record.createdAt,
    nextFireTime,
    lastFireTime: record.lastFireTime,
    paceUntil: record.paceUntil,
    fence: record.fence,
    preferredScheduler,
    bytes,
  };
  const { zoneRules, labels } = record;
  if (zoneRules === undefined && labels === undefined) return looked;
  return { ...looked, ...(zoneRules === undefined ? {} : { zoneRules }), ...(labels === undefined ? {} : { labels }) };
}

/** The approximate size of the fields that are no texts, in bytes. */
const BYTES_FIXED = 200;

export function bytesOf({ id, taskId, executor, trigger, triggerRule, payload, metadata }: ScheduleRecord): number {
  const texts = id.length + taskId.length + executor.length + trigger.length + triggerRule.length;
  return BYTES_FIXED + texts + (payload?.length ?? 0) + JSON.stringify(metadata).length;
}

export function isSelected(
  { record }: ScheduleEntry,
  { taskId, paused, state, search, labels }: ScheduleFilter,
): boolean {
  return (
    (taskId ?? record.taskId) === record.taskId &&
    (paused ?? record.paused) === record.paused &&
    (state === "failing" ? (record.failures ?? 0) > 0 : (state ?? stateOf(record)) === stateOf(record)) &&
    (search === undefined || isFound(search, [record.id, record.name])) &&
    hasLabels(record.labels, labels)
  );
}

export function stateOf({ nextFireTime, paused }: ScheduleRecord): "active" | "paused" | "ended" {
  if (nextFireTime === null) return "ended";
  return paused ? "paused" : "active";
}

export function fireTimeOf({ record }: ScheduleEntry): number {
  return record.nextFireTime ?? Number.POSITIVE_INFINITY;
}

export function inOrderOfFireTimes(a: ScheduleEntry, b: ScheduleEntry): number {
  const timeOfA = fireTimeOf(a);
  const timeOfB = fireTimeOf(b);
  return timeOfA === timeOfB ? inOrderOfIds(a, b) : timeOfA - timeOfB;
}

export function inOrderOfPauseEnds(a: ScheduleEntry, b: ScheduleEntry): number {
  return (a.record.pausedUntil ?? 0) - (b.record.pausedUntil ?? 0) || inOrderOfIds(a, b);
}

export function isAfter({ record }: ScheduleEntry, [nextFireTime, id]: readonly [number, string]): boolean {
  return compareToEnd(record, { nextFireTime, id }) > 0;
}

/** Schedules that have no fire time left come last. */
export function compareToEnd(a: ScheduleCursor, b: ScheduleCursor): number {
  if (a.nextFireTime === b.nextFireTime) return compareTexts(a.id, b.id);
  return (a.nextFireTime ?? Number.POSITIVE_INFINITY) - (b.nextFireTime ?? Number.POSITIVE_INFINITY);
}
