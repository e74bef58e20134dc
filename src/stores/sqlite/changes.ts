import type { LifeRecord, ScheduleChangeRecord, ScheduleState, TaskPauseRecord } from "../../records/ledger.ts";
import type { SchedulerRole } from "../../records/scheduler.ts";
import type { ChangeRecordFilter, Ledger } from "../ledger.ts";
import { settingsOf } from "../schedule-settings.ts";
import { statement } from "./batch.ts";
import type { ByOrder } from "./change-statements.ts";
import type { Connection } from "./connection.ts";
import type { Row } from "./driver.ts";
import { FAR_FUTURE_MS } from "./limits.ts";
import { fieldsOf, jsonRecords } from "./rows.ts";
import { toSchedule } from "./schedule-rows.ts";
import type { Statements } from "./statements.ts";

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
    return jsonRecords<PauseRow>(rows).map(([seq, at, taskId, key, by, kind]) => ({ seq, at, by, taskId, key, kind }));
  }

  async getLives({ from, until }: { readonly from: number; readonly until: number }): Promise<LifeRecord[]> {
    return jsonRecords<LifeRow>(await this.#connection.read(statement(this.#statements.getLives, from, until))).map(
      ([[identity, role, isResident, since, end], tasks]) => ({
        identity,
        role,
        isResident: isResident === 1,
        tasks,
        since,
        until: end,
      }),
    );
  }

  #list(sql: ByOrder, { order, limit, after }: ChangeRecordFilter, id: string): Promise<Row[]> {
    const start = after ?? (order === "oldest" ? 0 : FAR_FUTURE_MS);
    return this.#connection.read(statement(sql[order], start, limit, id));
  }
}

type ChangeRow = [
  [
    seq: number,
    scheduleId: string,
    at: number,
    by: string | null,
    kind: ScheduleChangeRecord["kind"],
    effectiveFrom: number,
    changesPayload: number,
  ],
  before: StoredState | null,
  after: StoredState | null,
];

/** What `stateAsJson` yields. */
type StoredState = Omit<ScheduleState, "paused"> & { readonly paused: number };

type PauseRow = [
  seq: number,
  at: number,
  taskId: string,
  key: string | null,
  by: string | null,
  kind: TaskPauseRecord["kind"],
];

type LifeRow = [
  [identity: string, role: SchedulerRole, isResident: number, since: number, until: number],
  tasks: string[],
];

function toChange([columns, before, after]: ChangeRow): ScheduleChangeRecord {
  const [seq, scheduleId, at, by, kind, effectiveFrom, changesPayload] = columns;
  return {
    seq,
    scheduleId,
    at,
    by,
    kind,
    effectiveFrom,
    before: toState(before),
    after: toState(after),
    changesPayload: changesPayload === 1,
  };
}

/** The state reads as the schedule did, also where its row was damaged, or was written by an earlier version. */
function toState(stored: StoredState | null): ScheduleState | null {
  if (stored === null) return null;
  const { trigger, nextFireTime, paused, taskId, settings: written, metadata } = stored;
  const settled = Object.entries(fieldsOf(written, {})).filter(([, value]) => value !== null);
  const columns = ["", taskId, trigger, "", paused, 0, nextFireTime, null, 0, null, null, 0, null, null] as const;
  const schedule = toSchedule([[...columns], metadata, Object.fromEntries(settled)]);
  const settings = settingsOf(schedule);
  return { trigger, nextFireTime, paused: paused === 1, taskId, settings, metadata: schedule.metadata };
}
