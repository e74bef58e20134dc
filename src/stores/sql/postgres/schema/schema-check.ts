import { StoreUnavailableError } from "../../../../core/errors.ts";
import { JoinedCall } from "../../../../core/joined-call.ts";
import type { Schema } from "../../dialect.ts";
import type { Connection } from "../../driver/connection.ts";
import { codeOf, type Row, type SqlStatement, statement } from "../../driver/driver-and-failures.ts";
import { numberOrNull } from "../../sql-and-json.ts";
import { postgresNames, quoted } from "./names.ts";
import { NEWEST, schemaStatements } from "./tables.ts";

/** Finds out, once, whether the tables are there, and makes them if not. The first look reads the version on its
 *  way. */
export class PostgresSchema implements Schema {
  readonly #connection: Connection;
  readonly #schema: string;
  readonly #now: number;
  readonly #making = new JoinedCall(() => this.#make());
  #isUpToDate = false;

  /** @param schema the name as it is, without quotes */
  constructor(connection: Connection, schema: string, now: number) {
    this.#connection = connection;
    this.#schema = schema;
    this.#now = now;
  }

  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  bringUpToDate(): Promise<boolean> {
    return this.#making.run();
  }

  async readFresh(given: SqlStatement): Promise<Row[] | null> {
    if (!this.#isUpToDate) {
      const rows = await this.#readWithVersion(given);
      if (rows !== null) return rows;
      if (await this.bringUpToDate()) return null;
    }
    return this.#connection.readFresh(given);
  }

  async reset(): Promise<void> {
    if ((await this.#readVersion()) === 0) return;
    const { inSchema: _, ...tables } = postgresNames(this.#schema);
    const dropped = `DROP TABLE IF EXISTS ${Object.values(tables).join(", ")}`;
    await this.#connection.write(() => [statement(dropped), ...this.#statements()]);
  }

  #statements(): SqlStatement[] {
    const names = postgresNames(this.#schema);
    const version = statement(`INSERT INTO ${names.schema} (version, applied_at) VALUES (?1, ?2)`, NEWEST, this.#now);
    return [...schemaScript(this.#schema).map((sql) => statement(sql)), version];
  }

  /** Other processes may do the same: batches that write go one after the other, and those that come later fail. */
  async #make(): Promise<boolean> {
    let isNew = false;
    if ((await this.#readVersion()) === 0) {
      try {
        await this.#connection.write(() => this.#statements());
        isNew = true;
      } catch (error) {
        if ((await this.#readVersion()) === 0) throw error;
      }
    }
    this.#isUpToDate = true;
    return isNew;
  }

  /** 0 where there are no tables. @throws {StoreUnavailableError} for tables of another version */
  async #readVersion(): Promise<number> {
    const { schema } = postgresNames(this.#schema);
    try {
      const rows = await this.#connection.read(statement(`SELECT max(version) AS version FROM ${schema}`));
      return this.#known(numberOrNull(rows, "version") ?? 0);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return 0;
    }
  }

  #known(version: number): number {
    if (version === NEWEST || version === 0) return version;
    throw new StoreUnavailableError(
      `the tables of the schema ${this.#schema} have version ${version}, and this library knows ${NEWEST}: ` +
        (version > NEWEST
          ? "update the library, or use another schema"
          : "export them with the library that made them, drop the schema, and import"),
    );
  }

  /** The rows of a statement that also reads the version; null when there are no tables. */
  async #readWithVersion({ sql, args }: SqlStatement): Promise<Row[] | null> {
    const { schema } = postgresNames(this.#schema);
    const both =
      `SELECT v.schema_version, look.* FROM (SELECT max(version) AS schema_version FROM ${schema}) ` +
      `v, (${sql}) look`;
    try {
      const rows = await this.#connection.readFresh({ sql: both, args });
      if (this.#known(numberOrNull(rows, "schema_version") ?? 0) === 0) return null;
      this.#isUpToDate = true;
      return rows;
    } catch (error) {
      if (!isMissing(error)) throw error;
      return null;
    }
  }
}

/** The statements that make the schema and all that is in it. */
export function schemaScript(schema: string): string[] {
  // Who may not make schemas may use one that is there.
  const makeSchema =
    `DO $$ BEGIN IF to_regnamespace('${quoted(schema)}') IS NULL ` +
    `THEN CREATE SCHEMA ${quoted(schema)}; END IF; END $$`;
  return [makeSchema, ...schemaStatements(postgresNames(schema))];
}

/** Whether a schema, a table, a column or a function is not there. */
function isMissing(error: unknown): boolean {
  return error instanceof StoreUnavailableError && ["3F000", "42P01", "42703", "42883"].includes(codeOf(error.cause));
}
