import { LIVES_PER_ANSWER_MAX } from "../../../core/limits.ts";
import { INSTANT_MS_MAX, nearestInstantMs } from "../../../core/temporal.ts";
import {
  type ChangeNote,
  type LifeRecord,
  SCHEDULE_CHANGE_KINDS,
  type ScheduleChangeRecord,
  type ScheduleState,
  type TaskPauseRecord,
} from "../../../records/ledger.ts";
import type { ScheduleRecord } from "../../../records/schedule.ts";
import type { SchedulerRole } from "../../../records/scheduler.ts";
import type { ScheduleAddition, ScheduleChanges, TaskPauseRequest } from "../../data-store.ts";
import type { ChangeRecordFilter, Ledger } from "../../ledger.ts";
import { settingsOf } from "../../schedule-settings.ts";
import type { Connection } from "../driver/connection.ts";
import type { Row, SqlStatement } from "../driver/driver.ts";
import { rowParameters, statement } from "../driver/parameters.ts";
import { lazily } from "../lazily.ts";
import { FAR_FUTURE_MS } from "../limits.ts";
import { fieldsOf, jsonRecords, rowAsJson, validJson } from "../rows.ts";
import { toSchedule } from "../schedules/schedule-rows.ts";
import type { TableNames } from "../schema/schema.ts";
import type { ByOrder, ChangeStatements } from "./change-statements.ts";
import type { LedgerSwitch } from "./entries.ts";

type Statements = ChangeStatements & LifeStatements & LedgerSwitch;

type Readers = Pick<Ledger, "getScheduleChanges" | "getTaskPauseHistory" | "getLives">;

/** What a `SqlDataStore` remembers of changes, and of the lives of schedulers. */
export class SqliteChanges implements Readers {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async getScheduleChanges(
    filter: ChangeRecordFilter & { readonly scheduleId: string },
  ): Promise<ScheduleChangeRecord[]> {
    const rows = await this.#list(this.#statements.getScheduleChanges, filter, filter.scheduleId);
    return jsonRecords<ChangeRow>(rows).map(toChange);
  }

  async getTaskPauseHistory(filter: ChangeRecordFilter & { readonly taskId: string }): Promise<TaskPauseRecord[]> {
    const rows = await this.#list(this.#statements.getTaskPauseHistory, filter, filter.taskId);
    return jsonRecords<PauseRow>(rows).map(toTaskPause);
  }

  async getLives({ from, until }: { readonly from: number; readonly until: number }): Promise<LifeRecord[]> {
    const rows = await this.#connection.read(statement(this.#statements.getLives, from, until));
    return jsonRecords<LifeRow>(rows).map(toLife);
  }

  #list(sql: ByOrder, { order, limit, after }: ChangeRecordFilter, id: string): Promise<Row[]> {
    const start = after ?? (order === "oldest" ? 0 : FAR_FUTURE_MS);
    return this.#connection.read(statement(sql[order], start, limit, id));
  }
}

/** The statements of a batch that tell the ledger of a change: those that come before the change, and those after. */
export interface NotedChange {
  readonly before: readonly SqlStatement[];
  readonly after: readonly SqlStatement[];
}

const NOTHING: NotedChange = Object.freeze({ before: Object.freeze([]), after: Object.freeze([]) });

/** Notes additions, no two of which have the same id; without a note, nothing.
 *  @param inserts schedules that leave a stored schedule as it is */
export function noteAdditions(
  statements: Statements,
  inserts: readonly ScheduleRecord[],
  replacements: readonly ScheduleAddition[],
  note: ChangeNote | undefined,
): NotedChange {
  if (note === undefined || !statements.keepsLedger) return NOTHING;
  const rows: (string | null)[][] = inserts.map(({ id }) => [id, "doNothing"]);
  for (const { schedule, conflictPolicy } of replacements) {
    rows.push([schedule.id, conflictPolicy, schedule.declaration ?? null]);
  }
  let before = 0;
  const noted = rowParameters(rows).map(({ text, count }) => {
    before += count;
    return statement(statements.noteAdditions, text, note.at, note.by, before - count);
  });
  const mayMove = replacements.length > 0;
  return { before: noted, after: after(statements, { mayMove, mayBeUnchanged: mayMove, mayCut: true }) };
}

/** Notes a change. `stamp` is that of the statement that makes it. */
export function noteUpdate(
  statements: Statements,
  change: {
    readonly id: string;
    readonly changes: ScheduleChanges;
    readonly expectedFence: number | undefined;
    readonly stamp: string;
  },
  note: ChangeNote | undefined,
): NotedChange {
  if (note === undefined || !statements.keepsLedger) return NOTHING;
  const { id, changes, expectedFence, stamp } = change;
  const mayMove = changes.nextFireTime !== undefined;
  const mayCut = mayMove || changes.trigger !== undefined;
  return {
    before: [statement(statements.noteUpdate, id, note.at, note.by, expectedFence ?? null, stamp)],
    after: after(statements, { mayMove, mayBeUnchanged: true, mayCut }),
  };
}

/** Notes a removal. All of it comes before the schedule goes. */
export function noteRemoval(statements: Statements, id: string, note: ChangeNote | undefined): SqlStatement[] {
  if (note === undefined || !statements.keepsLedger) return [];
  return [
    statement(statements.noteRemoval, id, note.at, note.by),
    ...after(statements, { mayMove: true, mayBeUnchanged: false, mayCut: true }),
  ];
}

function after(
  { dropUnchanged, cutSkips, removeCutSkips, skipUnprocessed, completeChanges }: Statements,
  {
    mayMove,
    mayBeUnchanged,
    mayCut,
  }: { readonly mayMove: boolean; readonly mayBeUnchanged: boolean; readonly mayCut: boolean },
): SqlStatement[] {
  return [
    ...(mayBeUnchanged ? [dropUnchanged] : []),
    ...(mayCut ? [cutSkips, removeCutSkips] : []),
    ...(mayMove ? [skipUnprocessed] : []),
    completeChanges,
  ].map((sql) => statement(sql));
}

/** Notes that a task, or a key of a task, is to be paused or to go on. Comes before that happens. */
export function notePause(
  { noteTaskPause, noteKeyPause, keepsLedger }: ChangeStatements & LedgerSwitch,
  { taskId, key, paused, now, by }: TaskPauseRequest,
): SqlStatement[] {
  if (by === undefined || !keepsLedger) return [];
  const args = [taskId, paused ? 1 : 0, now, by] as const;
  return [key === null ? statement(noteTaskPause, ...args) : statement(noteKeyPause, ...args, key)];
}

// What the statements about changes and lives yield, and how a damaged row reads: each instant is one, and a state that
// is none reads as null.

type ChangeRow = [
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

type PauseRow = [seq: number, at: number, taskId: string, key: string | null, by: string | null, kind: string];

type LifeRow = [
  [identity: string, role: SchedulerRole, isResident: number, since: number, until: number],
  tasks: unknown,
];

function toChange([columns, former, latter]: ChangeRow): ScheduleChangeRecord {
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

function toTaskPause([seq, at, taskId, key, by, kind]: PauseRow): TaskPauseRecord {
  const isPause = kind === "taskPaused";
  return { seq, at: nearestInstantMs(at), by, taskId, key, kind: isPause ? "taskPaused" : "taskUnpaused" };
}

function toLife([[identity, role, isResident, since, until], stored]: LifeRow): LifeRecord {
  const tasks = Array.isArray(stored) ? stored.map(String) : [];
  const [begin, end] = [nearestInstantMs(since), nearestInstantMs(until)];
  return { identity, role, isResident: isResident === 1, tasks, since: begin, until: end };
}

/** The statements about the lives of schedulers. A comment before each statement lists its arguments. */
export interface LifeStatements {
  readonly extendLife: string;
  readonly getLives: string;
  readonly removeLives: string;
}

export function lifeStatements({ lives, schedulers }: TableNames): LifeStatements {
  const columns = ["CAST(identity AS TEXT)", "CAST(role AS TEXT)", "resident = 1", "since + 0", "until + 0"];
  return lazily<LifeStatements>({
    // Follows keepAlive. ?1 identity, ?2 now, ?3 aliveUntil, ?4 role, ?5 whether it is resident, ?6 task ids, ?7 how
    // long ago the last life may have ended that goes on, if it was one of ticks. The lives of an identity do not
    // overlap, so that the last to begin is the last to end. It ends with the last of the runs, and earlier than it
    // seemed if that run signs off.
    extendLife: () =>
      `INSERT INTO ${lives} (identity, since, until, role, resident, tasks) SELECT ?1, coalesce(since, ?2), ` +
      "max(coalesce(since, ?2), ?2, " +
      `coalesce((SELECT max(alive_until) FROM ${schedulers} WHERE identity = ?1), ?3)), ` +
      "?4, ?5, ?6 FROM (SELECT (SELECT " +
      "CASE WHEN until >= ?2 - CASE WHEN resident = 0 AND ?3 > ?2 THEN ?7 ELSE 0 END THEN since END " +
      `FROM ${lives} WHERE identity = ?1 ORDER BY since DESC LIMIT 1) AS since) WHERE since IS NOT NULL OR ?3 > ?2 ` +
      "ON CONFLICT (identity, since) DO UPDATE SET until = excluded.until, role = excluded.role, " +
      "resident = excluded.resident, tasks = excluded.tasks",
    // ?1 from, ?2 until
    getLives: () =>
      `SELECT ${rowAsJson(null, columns, [validJson("tasks", "[]")])} AS record FROM (SELECT * FROM ${lives} ` +
      `WHERE until >= ?1 AND since <= ?2 ORDER BY since DESC, identity DESC LIMIT ${LIVES_PER_ANSWER_MAX}) ` +
      "ORDER BY since, identity",
    // ?1 the instant before which lives ended long ago, ?2 limit
    removeLives: () =>
      `DELETE FROM ${lives} WHERE (identity, since) IN (SELECT identity, since FROM ${lives} WHERE until < ?1 ` +
      "ORDER BY until LIMIT +?2)",
  });
}
