import type { Connection } from "./connection.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { messageOf } from "./failures.ts";
import { migrate } from "./migrations.ts";
import { numberOrNull } from "./rows.ts";
import { MIGRATIONS, type TableNames } from "./schema.ts";

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;

/** Finds out, once, whether the schema is the one that this library knows, and brings it up to date. The first look
 *  reads the version on its way, so that it costs no round trip of its own. */
export class SchemaCheck {
  readonly #connection: Connection;
  readonly #names: TableNames;
  readonly #now: number;
  #isUpToDate = false;
  #running: Promise<void> | null = null;

  /** @param now when migrations are made, in epoch milliseconds */
  constructor(connection: Connection, names: TableNames, now: number) {
    this.#connection = connection;
    this.#names = names;
    this.#now = now;
  }

  /** Whether that is known. */
  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  /** @throws {StoreUnavailableError} see `migrate`; it may be tried again */
  bringUpToDate(): Promise<void> {
    this.#running ??= this.#migrate();
    return this.#running;
  }

  /** What {@link Connection.readFresh} answers, of a schema that is up to date. @throws as {@link bringUpToDate} */
  async readFresh(statement: SqlStatement): Promise<Row[]> {
    if (!this.#isUpToDate) {
      const rows = await this.#readWithVersion(statement);
      if (rows !== null) return rows;
      await this.bringUpToDate();
    }
    return this.#connection.readFresh(statement);
  }

  /** Null when the schema is another one. */
  async #readWithVersion({ sql, args }: SqlStatement): Promise<Row[] | null> {
    const version = `(SELECT max(version) FROM ${this.#names.schema})`;
    try {
      const both = { sql: `SELECT look.*, ${version} AS schema_version FROM (${sql}) look`, args };
      const rows = await this.#connection.readFresh(both);
      if (numberOrNull(rows, "schema_version") !== NEWEST) return null;
      this.#isUpToDate = true;
      return rows;
    } catch (error) {
      if (/no such (table|column)/i.test(messageOf(error))) return null;
      throw error;
    }
  }

  async #migrate(): Promise<void> {
    try {
      await migrate(this.#connection, this.#names, MIGRATIONS, this.#now);
      this.#isUpToDate = true;
    } finally {
      this.#running = null;
    }
  }
}
