import type { Statements } from "./all-statements.ts";
import type { Connection } from "./driver/connection.ts";
import type { Row, SqlStatement } from "./driver/driver-and-failures.ts";
import type { LookForm } from "./look/look-for-work.ts";
import type { TableNames } from "./schema/tables.ts";

/** The tables of a store, and how they come into being. */
export interface Schema {
  /** Whether the schema is known to be the one of this library. */
  readonly isUpToDate: boolean;
  /** Checks the schema and brings it up to date. Returns whether the tables were made for it, so that they were empty.
   *  @throws {StoreUnavailableError} the call may be repeated */
  bringUpToDate(): Promise<boolean>;
  /** The answer of {@link Connection.readFresh}, after the schema was brought up to date if need be; null when the
   *  tables were made for it, so that nothing is in them. Throws what {@link bringUpToDate} throws. */
  readFresh(statement: SqlStatement): Promise<Row[] | null>;
  /** Drops the tables and makes them anew, empty, in one transaction. Does nothing where there are none. */
  reset(): Promise<void>;
}

/** The texts of a kind of SQL, for the tables of one prefix. The statements of each kind have the same names, arguments
 *  (`?1` and so on) and columns. */
export interface SqlTexts {
  readonly names: TableNames;
  readonly makeStatements: (keepsLedger: boolean) => Statements;
  readonly lookStatement: (form: LookForm) => string;
  /** Triggers that are made when they have something to do for the first time. */
  readonly labelTriggers: readonly SqlStatement[];
  readonly logTriggers: readonly SqlStatement[];
  /** @param now when migrations are made, in epoch milliseconds */
  readonly schema: (connection: Connection, now: number) => Schema;
}

/** A kind of SQL. */
export interface SqlDialect {
  /** The version of the tables that this library makes and knows. */
  readonly schemaVersion: number;
  forTables(prefix: string): SqlTexts;
}
