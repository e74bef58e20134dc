import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";

/** A database in memory behind a network. It notes what is sent, and loses the answer to the next batch when it is told
 *  to. */
export class NotingDriver implements SqlDriver {
  readonly isLocal = false;
  sent: SqlStatement[] = [];
  trips = 0;
  losesNext = false;
  readonly #inner = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return this.#inner.failureKind(error);
  }

  open(): Promise<void> {
    return this.#inner.open();
  }

  execute(statement: SqlStatement): Promise<Row[]> {
    this.trips++;
    this.sent.push(statement);
    return this.#inner.execute(statement);
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.trips++;
    this.sent.push(...statements);
    const answer = await this.#inner.batch(statements);
    const { losesNext } = this;
    this.losesNext = false;
    if (losesNext) throw new TypeError("fetch failed");
    return answer;
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  /** The rows that a statement answers with, and which nobody counts. */
  rows(sql: string, ...args: SqlStatement["args"]): Promise<Row[]> {
    return this.#inner.execute({ sql, args });
  }
}
