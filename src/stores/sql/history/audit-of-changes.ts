import { INSTANT_MS_MAX, nearestInstantMs } from "../../../core/temporal.ts";
import { withoutUndefined } from "../../../core/without-undefined.ts";
import {
  type AuditRecord,
  SCHEDULE_CHANGE_KINDS,
  type ScheduleChangeRecord,
  type ScheduleState,
  type TaskPauseRecord,
} from "../../../records/ledger.ts";
import type { ScheduleRecord } from "../../../records/schedule.ts";
import type {
  ScheduleAddition,
  ScheduleRemovalRequest,
  ScheduleUpdateRequest,
  TaskPauseRequest,
} from "../../data-store.ts";
import { pauseFacts } from "../../shared/pauses.ts";
import { changeKind, settingsOf } from "../../shared/schedule-changes.ts";
import { type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { toSchedule } from "../schedules/schedule-rows.ts";
import { fieldsOf, rowParameters } from "../sql-and-json.ts";
import type { LedgerSwitch } from "./history-writes.ts";

// Who changed a schedule, or paused a task. A change begins as a *draft*: the row keeps what the schedule was, before
// the statement that changes it. So the statements that follow compare the draft with the schedule, need no arguments,
// and the last two of them turn the drafts into records.

type StatementsOfChanges = ChangeStatements & LedgerSwitch;

/** The statements of a batch that record a change: those that come before the change, and those after. */
export interface RecordedChange {
  readonly before: readonly SqlStatement[];
  readonly after: readonly SqlStatement[];
}

const NOTHING: RecordedChange = Object.freeze({ before: Object.freeze([]), after: Object.freeze([]) });

/** Records additions, no two of which have the same id; without a note, nothing.
 *  @param inserts schedules that leave a stored schedule as it is */
export function recordAdditions(
  statements: StatementsOfChanges,
  inserts: readonly ScheduleRecord[],
  replacements: readonly ScheduleAddition[],
  note: AuditRecord | undefined,
): RecordedChange {
  if (note === undefined || !statements.keepsLedger) return NOTHING;
  const rows: (string | null)[][] = inserts.map(({ id }) => [id, "doNothing"]);
  for (const { schedule, conflictPolicy } of replacements) {
    rows.push([schedule.id, conflictPolicy, schedule.declaration ?? null]);
  }
  const before = rowParameters(rows).map(({ text }) => statement(statements.draftAdditions, text, note.at, note.by));
  const mayMove = replacements.length > 0;
  return { before, after: after(statements, { mayMove, mayBeUnchanged: mayMove, mayCut: true }) };
}

/** Records changes of different schedules. `stamp` is that of the statement that makes them. */
export function recordUpdates(
  statements: StatementsOfChanges,
  updates: readonly ScheduleUpdateRequest[],
  stamp: string,
  note: AuditRecord | undefined,
): RecordedChange {
  if (note === undefined || !statements.keepsLedger) return NOTHING;
  const mayMove = updates.some(({ changes }) => changes.nextFireTime !== undefined);
  const mayCut = mayMove || updates.some(({ changes }) => changes.trigger !== undefined);
  const drafts = fencedRows(updates).map((rows) => statement(statements.draftUpdates, rows, note.at, note.by, stamp));
  return { before: drafts, after: after(statements, { mayMove, mayBeUnchanged: true, mayCut }) };
}

/** Records removals of different schedules. All of it comes before the schedules go. */
export function recordRemovals(
  statements: StatementsOfChanges,
  removals: readonly ScheduleRemovalRequest[],
  note: AuditRecord | undefined,
): SqlStatement[] {
  if (note === undefined || !statements.keepsLedger) return [];
  return [
    ...fencedRows(removals).map((rows) => statement(statements.draftRemovals, rows, note.at, note.by)),
    ...after(statements, { mayMove: true, mayBeUnchanged: false, mayCut: true }),
  ];
}

/** The rows that name schedules and their fences. */
export function fencedRows(schedules: readonly ScheduleRemovalRequest[]): string[] {
  return rowParameters(schedules.map(({ id, expectedFence = null }) => [id, expectedFence])).map(({ text }) => text);
}

function after(
  { dropUnchanged, cutSkips, removeCutSkips, skipUnprocessed, recordChanges, removeDrafts }: StatementsOfChanges,
  { mayMove, mayBeUnchanged, mayCut }: Readonly<Record<"mayMove" | "mayBeUnchanged" | "mayCut", boolean>>,
): SqlStatement[] {
  return [
    ...(mayBeUnchanged ? [dropUnchanged] : []),
    ...(mayCut ? [cutSkips, removeCutSkips] : []),
    ...(mayMove ? [skipUnprocessed] : []),
    recordChanges,
    removeDrafts,
  ].map((sql) => statement(sql));
}

/** Records that a task, or a key of a task, is paused or goes on. Comes before that happens. */
export function recordPause(
  { recordTaskPause, recordKeyPause, keepsLedger }: StatementsOfChanges,
  request: TaskPauseRequest,
): SqlStatement[] {
  const { taskId, key, paused, now, by, until = null, reason = null } = request;
  if (by === undefined || !keepsLedger) return [];
  const args = [taskId, paused ? 1 : 0, now, by, until, reason] as const;
  return [key === null ? statement(recordTaskPause, ...args) : statement(recordKeyPause, ...args, key)];
}

// How rows read. In a damaged row, each instant is one, and a state that is none reads as null.

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
type StoredState = Omit<ScheduleState, "paused" | "pausedUntil" | "pauseReason"> & {
  readonly paused: number;
  readonly pausedUntil?: number | null;
  readonly pauseReason?: string | null;
};

export type PauseRow = [
  [seq: number, at: number, taskId: string, key: string | null, by: string | null, kind: string],
  said: { readonly until?: number | null; readonly reason?: string | null } | null,
];

export function toChange([columns, former, latter]: ChangeRow): ScheduleChangeRecord {
  const [seq, scheduleId, time, by, name, from, changesPayload] = columns;
  const at = nearestInstantMs(time);
  const effectiveFrom = from === null ? at + 1 : nearestInstantMs(from);
  const stored = SCHEDULE_CHANGE_KINDS.find((one) => one === name) ?? "changed";
  const [before, after] = [toState(former), toState(latter)];
  const hasOtherPayload = changesPayload === 1;
  const isChange = stored === "changed" && before !== null && after !== null;
  const kind = isChange ? changeKind(before, after, hasOtherPayload) : stored;
  return { seq, scheduleId, at, by, kind, effectiveFrom, before, after, changesPayload: hasOtherPayload };
}

/** The state reads as the schedule did, also where its row was damaged. */
function toState(json: unknown): ScheduleState | null {
  const stored = fieldsOf(json as StoredState, {});
  const { trigger, nextFireTime, paused, taskId, settings: written, metadata } = stored;
  const pause = pauseFacts(stored);
  if (typeof trigger !== "string" || typeof taskId !== "string" || !isInstantOrNull(nextFireTime)) return null;
  const settled = Object.entries(fieldsOf(written ?? {}, {})).filter(([, value]) => value !== null);
  const columns = [
    "",
    taskId,
    trigger,
    "",
    paused ?? 0,
    0,
    nextFireTime,
    null,
    0,
    null,
    null,
    0,
    0,
    null,
    null,
    null,
    null,
    null,
    0,
    null,
  ] as const;
  const schedule = toSchedule([[...columns], metadata ?? {}, Object.fromEntries(settled)]);
  const settings = settingsOf(schedule);
  return { trigger, nextFireTime, paused: paused === 1, ...pause, taskId, settings, metadata: schedule.metadata };
}

function isInstantOrNull(value: unknown): value is number | null {
  return value === null || (Number.isInteger(value) && Math.abs(value as number) <= INSTANT_MS_MAX);
}

export function toTaskPause([[seq, at, taskId, key, by, kind], said]: PauseRow): TaskPauseRecord {
  const isPause = kind === "taskPaused";
  const { until, reason } = said ?? {};
  return {
    ...{ seq, at: nearestInstantMs(at), by, taskId, key, kind: isPause ? "taskPaused" : "taskUnpaused" },
    ...withoutUndefined({ until: until ?? undefined, reason: reason ?? undefined }),
  };
}

/** The statements about changes of schedules, and about pauses of tasks. */
export interface ChangeStatements {
  readonly draftAdditions: string;
  readonly draftUpdates: string;
  readonly draftRemovals: string;
  readonly dropUnchanged: string;
  readonly cutSkips: string;
  readonly removeCutSkips: string;
  readonly skipUnprocessed: string;
  readonly recordChanges: string;
  readonly removeDrafts: string;
  readonly recordExhausted: string;
  readonly recordTaskPause: string;
  readonly recordKeyPause: string;
  readonly draftPauseEnds: string;
  readonly draftFailing: string;
  readonly recordTaskPauseEnds: string;
  readonly recordKeyPauseEnds: string;
  readonly getScheduleChanges: ByOrder;
  readonly getTaskPauseHistory: ByOrder;
  readonly nextChanges: string;
  readonly removeAgedChanges: string;
  readonly removeExcessChanges: string;
}

/** A statement for each order. */
export type ByOrder = Readonly<Record<"oldest" | "newest", string>>;
