import type { FileDatabase, FileStatement } from "./database.ts";

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
