import { compareTexts } from "../../core/text.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { LookedSchedule, OverlapReport } from "../data-store.ts";
import { frozenCopy, type Mutable } from "./tables.ts";

/** A schedule of a `MemoryDataStore`. */
export interface ScheduleEntry {
  readonly record: Mutable<ScheduleRecord>;
  /** The approximate size of the record in bytes. */
  bytes: number;
  /** The scheduler that committed the last plan and can run its jobs. */
  favourite: string | null;
  /** Id of the step that committed the last plan. */
  stamp: string | null;
  /** What that plan did because of the schedule's `overlap`; null for nothing. */
  overlap: OverlapReport | null;
}

export function setOrDelete<
  K extends "concurrencyKey" | "expectStartMs" | "expectFinishMs" | "declaration" | "version" | "zoneRules",
>(record: Mutable<ScheduleRecord>, key: K, value: Mutable<ScheduleRecord>[K] | undefined): void {
  if (value === undefined) delete record[key];
  else record[key] = value;
}

export function newEntry(schedule: ScheduleRecord): ScheduleEntry {
  const record = { ...schedule, metadata: frozenCopy(schedule.metadata) };
  return { record, bytes: bytesOf(record), favourite: null, stamp: null, overlap: null };
}

/** What a look shows of a schedule: its record without payload and metadata. */
export function lookedAt(
  { record, bytes }: ScheduleEntry,
  nextFireTime: number,
  favourite: string | null,
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
    favourite,
    bytes,
  };
  return record.zoneRules === undefined ? looked : { ...looked, zoneRules: record.zoneRules };
}

/** The approximate size of the fields that are no texts, in bytes. */
const BYTES_FIXED = 200;

export function bytesOf({ id, taskId, executor, trigger, triggerRule, payload, metadata }: ScheduleRecord): number {
  const texts = id.length + taskId.length + executor.length + trigger.length + triggerRule.length;
  return BYTES_FIXED + texts + (payload?.length ?? 0) + JSON.stringify(metadata).length;
}

export function fireTimeOf({ record }: ScheduleEntry): number {
  return record.nextFireTime ?? Number.POSITIVE_INFINITY;
}

export function inOrderOfFireTimes(a: ScheduleEntry, b: ScheduleEntry): number {
  return fireTimeOf(a) - fireTimeOf(b) || compareTexts(a.record.id, b.record.id);
}

export function isAfter(entry: ScheduleEntry, [nextFireTime, id]: readonly [number, string]): boolean {
  const difference = fireTimeOf(entry) - nextFireTime;
  return difference > 0 || (difference === 0 && compareTexts(entry.record.id, id) > 0);
}
