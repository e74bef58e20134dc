import type { StoreUnavailableError } from "../../core/errors.ts";
import { EMPTY_LOG, type Row, type SqlDriver, type SqlStatement } from "../sql/driver/driver-and-failures.ts";
import { connectionSettings, FILE_MODE, sqliteFailureKind } from "../sql/sqlite/driver/driver-and-failures.ts";
import { SYNCHRONOUS_BUSY_WAIT_MS } from "../sql/sqlite/limits.ts";
import type { FileDatabase, FileStatement, OpenDatabase } from "./database.ts";
import { FileVersion } from "./file-version.ts";

/** The path that stands for a database in memory. */
export const MEMORY_PATH = ":memory:";

/** The SQLite that comes with a runtime, on a file or in memory. The driver keeps its statements prepared. */
export class FileDriver implements SqlDriver {
  readonly isLocal: boolean = true;
  readonly failureKind: SqlDriver["failureKind"] = sqliteFailureKind;
  readonly #openDatabase: OpenDatabase;
  readonly #path: string;
  readonly #settings: readonly string[];
  readonly #version: FileVersion = new FileVersion((statement) => this.execute(statement));
  #database: FileDatabase | null = null;
  #statements: KeptStatements | null = null;

  constructor(openDatabase: OpenDatabase, path: string, durability: "full" | "normal") {
    this.#openDatabase = openDatabase;
    this.#path = path;
    this.#settings = [
      // Longer waits for a lock are made of asynchronous repetitions.
      `PRAGMA busy_timeout = ${SYNCHRONOUS_BUSY_WAIT_MS}`,
      ...(path === MEMORY_PATH ? [] : [FILE_MODE]),
      ...connectionSettings(durability),
    ];
  }

  async open(): Promise<void> {
    if (this.#database === null) {
      this.#database = this.#openDatabase(this.#path);
      this.#statements = new KeptStatements(this.#database);
    }
    for (const sql of this.#settings) this.#run({ sql, args: [] });
    await this.#version.opened();
  }

  async execute(statement: SqlStatement): Promise<Row[]> {
    return this.#run(statement);
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    const [only] = statements;
    // One statement is a transaction by itself, as most single additions are.
    if (only !== undefined && statements.length === 1) return [this.#run(only)];
    this.#run(BEGIN);
    try {
      const answers = statements.map((statement) => this.#run(statement));
      this.#run(COMMIT);
      return answers;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  get loss(): StoreUnavailableError | null {
    return this.#version.loss;
  }

  get logBytes(): number {
    return this.#version.logBytes;
  }

  dataVersion(): Promise<number | null> {
    return this.#version.read();
  }

  close(): void {
    // What is no longer at its path is no place to write to.
    if (this.loss === null) this.#checkpoint();
    this.#version.closed();
    this.#statements?.clear();
    this.#statements = null;
    this.#database?.close();
    this.#database = null;
  }

  #run({ sql, args }: SqlStatement): Row[] {
    if (this.#statements === null) throw new Error("the database is not open");
    return this.#statements.get(sql).all(...args);
  }

  #checkpoint(): void {
    try {
      if (this.#database !== null) this.#run({ sql: EMPTY_LOG, args: [] });
    } catch {
      // The log has all that was written, and whoever opens the file next reads it.
    }
  }

  #rollBack(): void {
    try {
      this.#run(ROLLBACK);
    } catch {
      // After some failures (a full disk) SQLite has rolled back already, and then refuses to roll back again.
    }
  }
}

// IMMEDIATE, because a transaction that begins with a read can no longer write after another transaction's commit.
const BEGIN: SqlStatement = { sql: "BEGIN IMMEDIATE", args: [] };
const COMMIT: SqlStatement = { sql: "COMMIT", args: [] };
const ROLLBACK: SqlStatement = { sql: "ROLLBACK", args: [] };

/** Most statements that a connection keeps prepared. The store itself has fewer texts; migrations add more. */
export const KEPT_STATEMENTS_MAX = 384;

/** Prepared statements by their text, because preparing a statement costs several times as much as running it. */
export class KeptStatements {
  readonly #database: FileDatabase;
  /** In the order of their last use. */
  readonly #bySql = new Map<string, FileStatement>();
  #lastSql = "";
  #last: FileStatement | null = null;

  constructor(database: FileDatabase) {
    this.#database = database;
  }

  get(sql: string): FileStatement {
    // Most statements of single additions are the one before.
    if (this.#last !== null && sql === this.#lastSql) return this.#last;
    const statement = this.#bySql.get(sql) ?? this.#database.prepare(sql);
    this.#bySql.delete(sql);
    this.#bySql.set(sql, statement);
    if (this.#bySql.size > KEPT_STATEMENTS_MAX) this.#forgetOldest();
    this.#lastSql = sql;
    this.#last = statement;
    return statement;
  }

  #forgetOldest(): void {
    const [oldest] = this.#bySql;
    if (oldest === undefined) return;
    this.#bySql.delete(oldest[0]);
    oldest[1].finalize?.();
  }

  /** Frees all statements. A statement that is left would keep the file open. */
  clear(): void {
    for (const statement of this.#bySql.values()) statement.finalize?.();
    this.#bySql.clear();
    this.#last = null;
  }
}
