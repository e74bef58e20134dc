import { StoreUnavailableError } from "../../../../core/errors.ts";
import { JoinedCall } from "../../../../core/joined-call.ts";
import type { Connection } from "../../driver/connection.ts";
import { messageOf, type Row, type SqlStatement } from "../../driver/driver-and-failures.ts";
import type { TableNames } from "../../schema/tables.ts";
import { numberOrNull } from "../../sql-and-json.ts";
import { logTriggers } from "../jobs/logs-of-jobs.ts";
import { labelTriggers } from "../lists/label-index.ts";
import { hasTrigger } from "./late-triggers.ts";
import { createSchemaTable, MIGRATIONS, type Migration, SCHEMA_TABLE_MARK } from "./tables.ts";

/**
 * Brings the schema up to date, one transaction per version, because one may take long where there are many
 * rows. An empty database gets all versions in one. Several processes may do so at once: each version begins
 * with its row, which only one process can insert. The transactions of the other processes are undone, and these
 * look again.
 *
 * @returns whether this call made the tables
 * @throws {StoreUnavailableError} when the schema is newer than this library, or when a table with a name that we need
 *   belongs to someone else
 */
export async function migrate(
  connection: Connection,
  names: TableNames,
  migrations: readonly Migration[],
  now: number,
): Promise<boolean> {
  // Every round either ends, or sees a version that is higher than in the round before.
  for (let round = 0; round <= migrations.length + 1; round++) {
    const version = await readVersion(connection, names);
    refuseNewer(names, version, migrations);
    const next = migrations.find((migration) => migration.version > version);
    if (next === undefined) return false;
    try {
      await connection.write(() =>
        version === 0 ? freshStatements(names, migrations, now) : statementsOf(names, next, now),
      );
      if (version === 0) return true;
    } catch (error) {
      if ((await readVersion(connection, names)) <= version) throw error;
    }
  }
  return false;
}

/**
 * Drops the tables and makes them anew, empty, in one transaction, so that other processes never find them missing.
 * Does nothing where there are none. A table under our names that this library did not make is left alone.
 *
 * @throws {StoreUnavailableError} in the same cases as {@link migrate}
 */
async function reset(
  connection: Connection,
  names: TableNames,
  migrations: readonly Migration[],
  now: number,
): Promise<void> {
  const version = await readVersion(connection, names);
  if (version === 0) return;
  refuseNewer(names, version, migrations);
  const dropped = Object.values(names).map((name) => ({ sql: `DROP TABLE IF EXISTS ${name}`, args: [] }));
  // Other processes know of these triggers, and do not make them once more.
  const triggers: SqlStatement[] = [];
  for (const made of [labelTriggers(names), logTriggers(names)]) {
    const [first] = made;
    if (first !== undefined && (await connection.read(hasTrigger(first))).length > 0) triggers.push(...made);
  }
  await connection.write(() => [...dropped, ...freshStatements(names, migrations, now), ...triggers]);
}

function refuseNewer(names: TableNames, version: number, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0;
  if (version <= newest) return;
  throw new StoreUnavailableError(
    `the schema of the tables ${names.schema} and others has version ${version}, and this library knows ` +
      `${newest}: update the library, or use another database or tablePrefix`,
  );
}

function freshStatements(names: TableNames, migrations: readonly Migration[], now: number): SqlStatement[] {
  const statements = migrations.flatMap((migration) => statementsOf(names, migration, now));
  return [{ sql: createSchemaTable(names), args: [] }, ...statements];
}

function statementsOf(names: TableNames, migration: Migration, now: number): SqlStatement[] {
  return [
    { sql: `INSERT INTO ${names.schema} (version, applied_at) VALUES (?1, ?2)`, args: [migration.version, now] },
    ...migration.statements(names).map((sql) => ({ sql, args: [] })),
  ];
}

/** The statements that make the tables, as a script for a command line. */
export function schemaScript(names: TableNames): string {
  const made = MIGRATIONS.flatMap(({ version, statements }) => [
    `INSERT INTO ${names.schema} (version, applied_at) VALUES (${version}, unixepoch() * 1000)`,
    ...statements(names),
  ]);
  return [createSchemaTable(names), ...made].map((sql) => `${sql};\n`).join("");
}

/** The version of the schema; 0 when there is no schema. */
async function readVersion(connection: Connection, names: TableNames): Promise<number> {
  const tables = Object.values(names).map((name) => name.toLowerCase());
  const found = await connection.read({
    sql: "SELECT name, sql FROM sqlite_master WHERE lower(name) IN (SELECT value FROM json_each(?1))",
    args: [JSON.stringify(tables)],
  });
  const definitions = new Map(found.map((row) => [String(row.name).toLowerCase(), String(row.sql)]));
  if (definitions.size === 0) return 0;
  const ofSchema = definitions.get(names.schema.toLowerCase()) ?? "";
  if (!ofSchema.includes(SCHEMA_TABLE_MARK)) {
    const foreign = [...definitions.keys()].join(", ");
    throw new StoreUnavailableError(
      `the database has a table that this library did not make under a name that it needs (${foreign}): choose ` +
        "another database, or set another tablePrefix",
    );
  }
  const newest = await connection.read({ sql: `SELECT max(version) AS version FROM ${names.schema}`, args: [] });
  return numberOrNull(newest, "version") ?? 0;
}

export const NEWEST: number = MIGRATIONS.at(-1)?.version ?? 0;

/** Finds out, once, whether the schema is the one that this library knows, and brings it up to date. The first look
 *  reads the version on its way, so that it costs no round trip of its own. */
export class SchemaCheck {
  readonly #connection: Connection;
  readonly #names: TableNames;
  readonly #now: number;
  readonly #migration = new JoinedCall(() => this.#migrate());
  #isUpToDate = false;
  /** Whether a read found that there is no table of versions. */
  #isMissing = false;

  /** @param now when migrations are made, in epoch milliseconds */
  constructor(connection: Connection, names: TableNames, now: number) {
    this.#connection = connection;
    this.#names = names;
    this.#now = now;
  }

  get isUpToDate(): boolean {
    return this.#isUpToDate;
  }

  bringUpToDate(): Promise<boolean> {
    return this.#migration.run();
  }

  async readFresh(statement: SqlStatement): Promise<Row[] | null> {
    if (!this.#isUpToDate) {
      const rows = await this.#readWithVersion(statement);
      if (rows !== null) return rows;
      if (await this.bringUpToDate()) return null;
    }
    return this.#connection.readFresh(statement);
  }

  /** The rows of a statement that also reads the schema's version; null when the schema is not up to date. */
  async #readWithVersion({ sql, args }: SqlStatement): Promise<Row[] | null> {
    // It comes first, so that where all tables are missing, the failure names this one.
    const version = `(SELECT max(version) AS schema_version FROM ${this.#names.schema}) v`;
    try {
      const both = { sql: `SELECT v.schema_version, look.* FROM ${version}, (${sql}) look`, args };
      const rows = await this.#connection.readFresh(both);
      if (numberOrNull(rows, "schema_version") !== NEWEST) return null;
      this.#isUpToDate = true;
      return rows;
    } catch (error) {
      const message = messageOf(error);
      if (!/no such (table|column)/i.test(message)) throw error;
      this.#isMissing = message.toLowerCase().includes(`no such table: ${this.#names.schema.toLowerCase()}`);
      return null;
    }
  }

  reset(): Promise<void> {
    return reset(this.#connection, this.#names, MIGRATIONS, this.#now);
  }

  async #migrate(): Promise<boolean> {
    const isNew =
      (this.#isMissing && (await this.#make())) ||
      (await migrate(this.#connection, this.#names, MIGRATIONS, this.#now));
    this.#isUpToDate = true;
    return isNew;
  }

  /** Makes the tables without asking what is there, because nearly always nothing is. Fails as a whole where any of
   *  them exists, so that only then somebody has to ask. */
  async #make(): Promise<boolean> {
    this.#isMissing = false;
    try {
      await this.#connection.write(() => freshStatements(this.#names, MIGRATIONS, this.#now));
      return true;
    } catch {
      return false;
    }
  }
}
