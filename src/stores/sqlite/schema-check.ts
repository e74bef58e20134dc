import { JoinedCall } from "../../core/joined-call.ts";
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
  readonly #migration = new JoinedCall(() => this.#migrate());
  #isUpToDate = false;

  /** @param now when migrations are made, in epoch milliseconds */
  constructor(connection: Connection, names: TableNames, now: number) {
    this.#connection = connection;
    this.#names = names;
    this.#now = now;
  }

  /** Whether the schema is known to be the one of this library. */
  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  /** Checks the schema and brings it up to date. @throws {StoreUnavailableError} see `migrate`; the call may be
   *  repeated */
  bringUpToDate(): Promise<void> {
    return this.#migration.run();
  }

  /** The answer of {@link Connection.readFresh}, after the schema was brought up to date if need be. Throws what
   *  {@link bringUpToDate} throws. */
  async readFresh(statement: SqlStatement): Promise<Row[]> {
    if (!this.#isUpToDate) {
      const rows = await this.#readWithVersion(statement);
      if (rows !== null) return rows;
      await this.bringUpToDate();
    }
    return this.#connection.readFresh(statement);
  }

  /** The rows of a statement that also reads the schema's version; null when the schema is not up to date. */
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
    await migrate(this.#connection, this.#names, MIGRATIONS, this.#now);
    this.#isUpToDate = true;
  }
}
