import type { LifeRecord, ScheduleChangeRecord, TaskPauseRecord } from "../../records/ledger.ts";
import type { ChangeRecordFilter, Ledger } from "../ledger.ts";
import { statement } from "./batch.ts";
import { type ChangeRow, type LifeRow, type PauseRow, toChange, toLife, toTaskPause } from "./change-rows.ts";
import type { ByOrder } from "./change-statements.ts";
import type { Connection } from "./connection.ts";
import type { Row } from "./driver.ts";
import { FAR_FUTURE_MS } from "./limits.ts";
import { jsonRecords } from "./rows.ts";
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
