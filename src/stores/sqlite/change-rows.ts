import { INSTANT_MS_MAX, nearestInstantMs } from "../../core/temporal.ts";
import {
  type LifeRecord,
  SCHEDULE_CHANGE_KINDS,
  type ScheduleChangeRecord,
  type ScheduleState,
  type TaskPauseRecord,
} from "../../records/ledger.ts";
import type { SchedulerRole } from "../../records/scheduler.ts";
import { settingsOf } from "../schedule-settings.ts";
import { fieldsOf } from "./rows.ts";
import { toSchedule } from "./schedule-rows.ts";

// What the statements about changes and lives yield, and how a damaged row reads: each instant is one, and a state that
// is none reads as null.

export type ChangeRow = [
  [
    seq: number,
    scheduleId: string,
    at: number,
    by: string | null,
    kind: string,
    effectiveFrom: number | null,
    changesPayload: number,
  ],
  before: unknown,
  after: unknown,
];

/** What `stateAsJson` yields. */
type StoredState = Omit<ScheduleState, "paused"> & { readonly paused: number };

export type PauseRow = [seq: number, at: number, taskId: string, key: string | null, by: string | null, kind: string];

export type LifeRow = [
  [identity: string, role: SchedulerRole, isResident: number, since: number, until: number],
  tasks: unknown,
];

export function toChange([columns, former, latter]: ChangeRow): ScheduleChangeRecord {
  const [seq, scheduleId, time, by, kind, from, changesPayload] = columns;
  const at = nearestInstantMs(time);
  const effectiveFrom = from === null ? at + 1 : nearestInstantMs(from);
  const [before, after] = [toState(former), toState(latter)];
  const isPayload = changesPayload === 1;
  return { seq, scheduleId, at, by, kind: kindOf(kind), effectiveFrom, before, after, changesPayload: isPayload };
}

function kindOf(kind: string): ScheduleChangeRecord["kind"] {
  return SCHEDULE_CHANGE_KINDS.find((one) => one === kind) ?? "changed";
}

/** The state reads as the schedule did, also where its row was damaged. */
function toState(json: unknown): ScheduleState | null {
  const stored = fieldsOf(json as StoredState, {});
  const { trigger, nextFireTime, paused, taskId, settings: written, metadata } = stored;
  if (typeof trigger !== "string" || typeof taskId !== "string" || !isInstantOrNull(nextFireTime)) return null;
  const settled = Object.entries(fieldsOf(written ?? {}, {})).filter(([, value]) => value !== null);
  const columns = ["", taskId, trigger, "", paused ?? 0, 0, nextFireTime, null, 0, null, null, 0, null, null] as const;
  const schedule = toSchedule([[...columns], metadata ?? {}, Object.fromEntries(settled)]);
  const settings = settingsOf(schedule);
  return { trigger, nextFireTime, paused: paused === 1, taskId, settings, metadata: schedule.metadata };
}

function isInstantOrNull(value: unknown): value is number | null {
  return value === null || (Number.isInteger(value) && Math.abs(value as number) <= INSTANT_MS_MAX);
}

export function toTaskPause([seq, at, taskId, key, by, kind]: PauseRow): TaskPauseRecord {
  const isPause = kind === "taskPaused";
  return { seq, at: nearestInstantMs(at), by, taskId, key, kind: isPause ? "taskPaused" : "taskUnpaused" };
}

export function toLife([[identity, role, isResident, since, until], stored]: LifeRow): LifeRecord {
  const tasks = Array.isArray(stored) ? stored.map(String) : [];
  const [begin, end] = [nearestInstantMs(since), nearestInstantMs(until)];
  return { identity, role, isResident: isResident === 1, tasks, since: begin, until: end };
}
