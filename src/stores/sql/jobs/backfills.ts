import type { BackfillRecord } from "../../../records/backfill.ts";
import type { JobRecord } from "../../../records/job.ts";
import type { BackfillCommit, BackfillRequest, BackfillState } from "../../data-store.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { jsonArray, jsonRecords, numberOrNull } from "../sql-and-json.ts";
import type { SqlJobs } from "./job-commands-and-lists.ts";

/** The backfills of a `SqlDataStore`. */
export class SqlBackfills {
  readonly #connection: Connection;
  readonly #statements: BackfillStatements;
  readonly #jobs: SqlJobs;

  constructor(connection: Connection, statements: BackfillStatements, jobs: SqlJobs) {
    this.#connection = connection;
    this.#statements = statements;
    this.#jobs = jobs;
  }

  async see({ scheduleId, key, fireTimes }: BackfillRequest): Promise<BackfillState> {
    const asked = statement(this.#statements.seeBackfill, scheduleId, key, JSON.stringify(fireTimes));
    const rows = await this.#connection.read(asked);
    const [backfill = null] = jsonRecords<BackfillRecord | null>(rows);
    return { backfill, seq: numberOrNull(rows, "seq") ?? 0, taken: jsonArray<number>(rows, "taken") };
  }

  /** A repetition of a commit whose answer was lost does not count, because its `seq` is there already. */
  async commit({ backfill, expectedSeq, jobs }: BackfillCommit): Promise<readonly JobRecord[] | null> {
    const { id, scheduleId, key, seq, changedAt } = backfill;
    const fireTimes = JSON.stringify(jobs.map(({ fireTime }) => fireTime));
    const { commitBackfill } = this.#statements;
    const facts = [id, scheduleId, key, seq, changedAt, JSON.stringify(backfill), expectedSeq, fireTimes];
    try {
      return await this.#jobs.addAfter(statement(commitBackfill, ...facts), jobs);
    } catch (error) {
      if (this.#connection.failureKind(error) === "guard") return null;
      throw error;
    }
  }

  async cancel(id: string, now: number): Promise<boolean> {
    const { cancelBackfill } = this.#statements;
    const [rows] = await this.#connection.write(() => [statement(cancelBackfill, id, now)]);
    return rows?.length === 1;
  }
}

export type BackfillStatements = Readonly<
  Record<"seeBackfill" | "commitBackfill" | "cancelBackfill" | "removeBackfills", string>
>;
